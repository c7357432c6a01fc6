"""What is found in a module's text before it runs. Places are counted by hand; the language rules are ECMA-262's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.javascript_parser import Unreadable, parse_module, tree_of_nodes
from trunchbuild.core.json_types import Json
from trunchbuild.core.policy import survey_module, survey_tree, unreadable
from trunchbuild.core.survey import Import, Survey

NOT_AVAILABLE = " is not available to benchmark modules"


def found(text: str) -> list[str]:
    """`line:column what` of each finding."""
    findings = survey_module("t.js", text).findings
    assert all(finding.refused for finding in findings)
    faults = [finding.fault for finding in findings]
    return [f"{one.place.removeprefix('t.js:')} {one.message.removesuffix(NOT_AVAILABLE)}" for one in faults]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let id = Math.random()", ["1:10 Math.random()"]),
        ("x;\n  Math['random']()", ["2:3 Math.random()"]),
        ("Math[`random`]", ["1:1 Math.random()"]),
        ("const { random } = Math", ["1:9 Math.random()"]),
        ("({ now: x } = Date)", ["1:4 Date.now()"]),
        ("globalThis.Math.random()", ["1:1 Math.random()"]),
        ("const pick = rng ?? Math.random", ["1:21 Math.random()"]),
        ("Date.now()", ["1:1 Date.now()"]),
        ("new Date()", ["1:1 new Date() without arguments"]),
        ("new Date", ["1:1 new Date() without arguments"]),
        ("Date()", ["1:1 Date() called as a function"]),
        ("process.env.HOME", ["1:1 `process`"]),
        ("({ process })", ["1:4 `process`"]),
        ("globalThis.process?.env", ["1:1 `process`"]),
        ("const { fetch } = globalThis", ["1:9 `fetch`"]),
        ("fetch('http://x')", ["1:1 `fetch`"]),
        ("eval('1')", ["1:1 `eval`"]),
        ("\\u0065val('1')", ["1:1 `eval`"]),
        ("new Function('x')", ["1:1 new Function()"]),
        ("Function('x')", ["1:1 Function()"]),
        ("require('fs')", ["1:1 `require`"]),
        ("module.exports = 1", ["1:1 `module`"]),
        ("await import('./x')", ["1:7 import()"]),
        ("import.meta.url", ["1:1 import.meta"]),
        ("new WeakRef({})", ["1:5 `WeakRef`"]),
        ("new FinalizationRegistry(f)", ["1:5 `FinalizationRegistry`"]),
        ("new SharedArrayBuffer(4); Atomics.wait()", ["1:5 `SharedArrayBuffer`", "1:27 `Atomics`"]),
        ("WebAssembly.compile(x)", ["1:1 `WebAssembly`"]),
        ("performance.now()", ["1:1 `performance`"]),
        ("crypto.randomUUID()", ["1:1 `crypto`"]),
        ("setInterval(f)", ["1:1 `setInterval`"]),
        ("import { randomUUID as u } from 'node:crypto'", ["1:10 `randomUUID` of node:crypto"]),
        ("import c from 'crypto'\nc.randomBytes(4)", ["2:1 `randomBytes` of node:crypto"]),
        ("import * as c from 'node:crypto'\nc.randomInt(4)", ["2:1 `randomInt` of node:crypto"]),
        ("if (1) { let fetch = 1 }\nfetch", ["2:1 `fetch`"]),
        ("const f = () => { let process }; process", ["1:34 `process`"]),
        ("class A { static { var fetch } } fetch", ["1:34 `fetch`"]),
        ("`a ${Math.random()} b`", ["1:6 Math.random()"]),
        ("#!/usr/bin/env node\nprocess.argv", ["2:1 `process`"]),
        ("/[[a]/.test(x); Math.random()", ["1:17 Math.random()"]),
        ("const s = '\u2028'; Math.random()", ["1:16 Math.random()"]),
        ("// 😀\nlet x = '😀'; Math.random()", ["2:14 Math.random()"]),
    ],
)
def test_every_use_has_its_place(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "const process = 1; process.x",
        "function f(fetch) { fetch() }",
        "const f = ({ process: { env: fetch } }) => fetch",
        "const f = ([process = 1, ...eval_]) => process",
        "try { f() } catch (process) { process.x }",
        "try { f() } catch { g() }",
        "for (const process of []) process.x",
        "async () => { for await (const process of []) process.x }",
        "for (let fetch = 0; fetch < 1; fetch++);",
        "for (var fetch in {}) ; fetch",
        "if (1) { var fetch = 1 } fetch",
        "switch (1) { case 1: let fetch = 2; fetch }",
        "(function process() { process() })()",
        "class performance { m() { return performance } }",
        "import { fetch } from './x'; fetch()",
        "import process from './x'; process.env",
        "typeof process; typeof globalThis.process; typeof fetch === 'function'",
        "x.process; x?.fetch; ({ process: 1, fetch() {}, get eval() { return 1 } })",
        "class A { process = 1; static fetch() {} #eval = 2 }",
        "process: for (;;) break process",
        "export { x as process }; let x",
        "export { fetch } from './x'",
        "new Date(0); new Date(...parts); Date.UTC(2000); Date.parse('x'); new Dates()",
        "function Date() {} Date(); new Date()",
        "const Math = { random() {} }; Math.random()",
        "import c from 'node:crypto'; c.createHash('sha256'); const f = (c) => c.randomInt()",
        "x instanceof Function; Function.prototype",
        "const p = `import('node:fs') eval(1)`, q = \"new Function('x'), Math.random()\"",
        "// Math.random()\n/* import('x') */",
        "/Math.random()/.test('process.env')",
        "a.random(); random(); now()",
    ],
)
def test_ordinary_names_strings_and_comments_are_fine(text: str) -> None:
    """The twins: the same words where they mean nothing that is refused."""
    assert found(text) == []


def test_all_findings_come_at_once() -> None:
    text = "Math.random()\nDate.now()\nprocess.env\nfetch(1)\n"
    assert [one.split()[0] for one in found(text)] == ["1:1", "2:1", "3:1", "4:1"]


def test_imports_and_exports() -> None:
    text = (
        "import a, { b as c, default as d } from './x'\n"
        'import * as ns from "./y"\n'
        "import './z'\n"
        "import j from './j.json' with { type: 'json' }\n"
        "export { e as f, default } from './w'\n"
        "export * from './v'\n"
        "export * as g from './u'\n"
        "export const { h, i: [k = 1, ...l] } = c, m = 2\n"
        "export function n() {}\nexport class o {}\n"
        "export { c as p }\nexport default 1\n"
    )
    survey = survey_module("t.js", text)
    assert survey.imports == (
        Import("./x", "1:41", (("default", "1:8"), ("b", "1:13"), ("default", "1:21"))),
        Import("./y", "2:21", ()),
        Import("./z", "3:8", ()),
        Import("./j.json", "4:15", (("default", "4:8"),), as_json=True),
        Import("./w", "5:33", (("e", "5:10"), ("default", "5:18"))),
        Import("./v", "6:15", ()),
        Import("./u", "7:20", ()),
    )
    assert survey.exports == {"f", "default", "g", "h", "k", "l", "m", "n", "o", "p"}
    assert survey.star_exports == ("./v",)


@pytest.mark.parametrize(
    "text",
    [
        "a?.b ?? c; x ??= 1; y ||= 2; z &&= 3",
        "1_000n; 0b1; 0o7; 0xF_F; .5e3",
        "class A extends B { #p = 1; static { this.x = 1 } static async *m() { yield 1 } }",
        "class A { #p; get v() { return #p in this } }",
        "/(?<year>\\d{4})/v; /[\\p{L}--a]/v; a / b / c; if (x) /re/.test(y)",
        "for await (const x of y); await z",
        "label: while (1) { continue label }",
        "const { a, ...rest } = b; f(...rest); [...c]",
        "'\\u{1F600} \\x41 \\0'; `\\u0041 ${`nested ${1}`}`; tag`\\unicode`",
        "let async; async(); let of, get, set, from, as",
        "export default async function* () { yield* x }",
        "x = a ? (b) : c => d; y = async a => await a",
        "x = '" + "long " * 100 + "\\n';",
        "x = `" + "long ${y} " * 100 + "`;",
        "x = `" + "long \\` \\${ $ \n" * 100 + "${1}`;",
    ],
)
def test_modern_syntax_is_read(text: str) -> None:
    assert survey_module("t.js", text).findings == ()


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_long_literals_keep_the_places_behind_them(quote: str) -> None:
    """The quick way over literals and esprima's own give the same places."""
    literal = quote + "word \\n " * 200 + quote
    assert found(f"f({literal})\n;Math.random()") == ["2:2 Math.random()"]
    assert found(f"f({literal}, Math.random())") == [f"1:{len(literal) + 5} Math.random()"]


def test_templates_over_lines_keep_places() -> None:
    body = "line\n" * 100
    assert found(f"f(`{body}${{x}}{body}`, Math.random())") == ["201:4 Math.random()"]


@pytest.mark.parametrize("text", ["let x = ;", "export default {", "@d class A {}", "let x: number = 1", "'open"])
def test_broken_text_is_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        parse_module(text)


def test_deep_nesting_is_unreadable_not_fatal() -> None:
    with pytest.raises(Unreadable):
        parse_module("x = " + "[" * 5000 + "]" * 5000)


def test_unreadable_modules_say_where() -> None:
    survey = unreadable("t.ts", "let a\n@d class A {}", "Unexpected character '@'", 2, 1)
    fault = survey.findings[0].fault
    assert (fault.place, fault.message, fault.code) == ("t.ts:2:1", "syntax error: Unexpected character '@'", "syntax")
    assert (fault.expected, fault.got) == ("TypeScript", "`@d class A {}`")
    assert survey.findings[0].fault.hint is not None
    assert "decorators" in survey.findings[0].fault.hint
    assert not survey.findings[0].refused


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("class A { accessor x = 1 }", "accessor"),
        ("const x = <b>bold</b>", "JSX"),
        ("const x = <Row id={1} />", "JSX"),
        ("import d from './d.json' assert { type: 'json' }", "with { type"),
        ("const accessor = = 1", ""),
        ("if (a < b || c > d {", ""),
    ],
)
def test_hints_on_what_is_not_javascript(line: str, word: str) -> None:
    (finding,) = unreadable("t.ts", line, "Unexpected token", 1, 12).findings
    assert (finding.fault.hint or "") == "" if not word else word in str(finding.fault.hint)


def test_a_tree_of_another_parser_counts_utf16_units() -> None:
    """Acorn's offsets are UTF-16 units: two for an emoji. `Math` begins at unit 6 and at code point 5."""
    text = "'😀'; Math.random()"
    nodes: list[Json] = [
        {"type": "Program", "body": {"at": 1}},
        [{"at": 2}],
        {"type": "ExpressionStatement", "start": 6, "expression": {"at": 3}},
        {"type": "CallExpression", "start": 6, "callee": {"at": 4}, "arguments": {"at": 7}},
        {"type": "MemberExpression", "start": 6, "computed": False, "object": {"at": 5}, "property": {"at": 6}},
        {"type": "Identifier", "start": 6, "name": "Math"},
        {"type": "Identifier", "start": 11, "name": "random"},
        [],
    ]
    survey = survey_tree("t.js", tree_of_nodes(text, nodes))
    assert [finding.fault.place for finding in survey.findings] == ["t.js:1:6"]


names = st.text(min_size=1, max_size=8)
imports = st.builds(
    Import, st.text(), st.text(), st.lists(st.tuples(names, names), max_size=3).map(tuple), st.booleans()
)


@given(
    st.builds(
        Survey,
        st.text(),
        st.lists(
            imports,
            max_size=3,
        ).map(tuple),
        st.frozensets(names, max_size=4),
        st.lists(names, max_size=3).map(tuple),
    )
)
def test_surveys_survive_the_cache(survey: Survey) -> None:
    assert Survey.from_json(survey.to_json()) == survey


BROKEN = {"text": "x", "imports": [1], "exports": [], "star_exports": [], "findings": [], "asked": []}


@pytest.mark.parametrize("value", [None, [], {}, {"text": 1}, BROKEN])
def test_what_is_no_survey_is_refused(value: Json) -> None:
    with pytest.raises(ValueError, match="not a survey"):
        Survey.from_json(value)


@pytest.mark.parametrize(("member", "findings"), [("globalThis", 1), ("other", 0)])
def test_a_chain_of_members_longer_than_the_stack_is_deep(member: str, findings: int) -> None:
    """`globalThis.globalThis` is the global object again (ECMA-262, 19.1.1), however often."""
    text = f"export const f = () => globalThis{f'.{member}' * 3000}.Math.random()"
    assert len(survey_module("t.js", text).findings) == findings
