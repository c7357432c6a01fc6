"""JavaScript and TypeScript transformers, run for real: twice, confined."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.modules import LIMITS, graph_of, real_runtime, returning, source, transformed
from tests.support.node import node
from tests.support.shared_data import COMMITTED, shared_data
from trunchbuild.core.confinement import Limits
from trunchbuild.core.modules import ModuleBrokenError, ModuleRefusedError
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError, SourceText, TransformDiffersError
from trunchbuild.errors import ExitCode, TrunchbuildError

GSM8K_SHA256 = "c7a5ab65f0e1d78c6e56499488e4fdaac8f9ed6fc9b2e0b19d8b46e02b03dae4"
ARC_MINI_SHA256 = "c7dae6a5bf0022c1808c740e4cba9e5babf4700e389b4eb99de645d35e039690"

GSM8K = """
type Row = { question: string; answer: string }
export default {
  name: "GSM8K",
  transform({ sources }: { sources: Record<string, { content: string }> }) {
    return Object.entries(sources).flatMap(([split, { content }]) =>
      content.split("\\n").filter(Boolean).map((line, index) => {
        const { question, answer } = JSON.parse(line) as Row
        return {
          id: `${split}-row-${index + 1}`,
          prompt: question,
          description: `GSM8K ${split} split mathematics problem.`,
          evaluate: { kind: "gsm8k" as const, expected: answer.split("#### ")[1]!.trim().replaceAll(",", "") },
        }
      }))
  },
}
"""

ARC_MINI = """
export default {
  name: "ARC mini",
  transform({ sources }) {
    return sources.cases.content.split("\\n").filter(Boolean).map((line) => {
      const { id, question, answerKey } = JSON.parse(line)
      const { stem, choices } = question
      return {
        id: id.toLowerCase(),
        prompt: [stem, "", ...choices.label.map((label, at) => `${label}. ${choices.text[at]}`)].join("\\n"),
        description: "ARC-Challenge science reasoning question.",
        evaluate: {
          kind: "answer_bank",
          answers: [`FINAL ANSWER: ${answerKey}`],
          forbiddenAnswers: choices.label.filter((l) => l !== answerKey).map((l) => `FINAL ANSWER: ${l}`),
        },
      }
    })
  },
}
"""


@pytest.fixture(scope="module")
def runtime() -> ModuleRuntime:
    return real_runtime()


def file_source(path: Path) -> SourceText:
    return source(path.name, path.read_text(encoding="utf-8"))


def failure(runtime: ModuleRuntime, files: str | dict[str, str], entry: str = "t.ts") -> TrunchbuildError:
    with pytest.raises(TrunchbuildError) as caught:
        transformed(runtime, files, {"rows": source("rows.txt", "one\n")}, entry)
    return caught.value


def shown(error: TrunchbuildError) -> list[str]:
    return [str(fault) for fault in error.faults]


# ---- known answers ----


def test_gsm8k_gives_the_known_digest(runtime: ModuleRuntime) -> None:
    sources = {split: file_source(shared_data(f"gsm8k/{split}.jsonl")) for split in ("train", "test")}
    done = runtime.transform(graph_of(runtime, GSM8K), sources)
    done.jsonl.close()
    assert (done.name, done.count, done.sha256) == ("GSM8K", 8792, GSM8K_SHA256)


def test_arc_mini_gives_the_known_digest(runtime: ModuleRuntime) -> None:
    sources = {"cases": file_source(shared_data("arc-mini/science-reasoning.jsonl"))}
    done = runtime.transform(graph_of(runtime, ARC_MINI, "t.mjs"), sources)
    done.jsonl.close()
    assert (done.count, done.sha256) == (5, ARC_MINI_SHA256)


def test_output_is_what_plain_node_writes(runtime: ModuleRuntime) -> None:
    """The committed rows, through the transformer in Node without any of ours around it."""
    rows = COMMITTED / "gsm8k" / "test-rows.jsonl"
    script = (
        "import { stripTypeScriptTypes } from 'node:module'; import { readFileSync } from 'node:fs';"
        "const [code, path] = process.argv.slice(1);"
        "const module = await import('data:text/javascript,' + encodeURIComponent(stripTypeScriptTypes(code)));"
        "const cases = module.default.transform({ sources: { test: { content: readFileSync(path, 'utf8') } } });"
        "process.stdout.write(cases.map((one) => JSON.stringify(one) + '\\n').join(''))"
    )
    expected = node(script, GSM8K, str(rows)).encode()
    assert transformed(runtime, GSM8K, {"test": file_source(rows)}) == expected
    assert expected.count(b"\n") > 1


# ---- what authors write ----


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(['a', 'b'] as const)[1]", '"b"'),
        ("({ a: { b: 1 } } as { a?: { b: number } }).a?.b ?? 0", "1"),
        ("1_000_000", "1000000"),
        ("sources.rows!.content satisfies string", '"one\\n"'),
        (
            "[-0, 1e21, 1e-7, 0.1 + 0.2, 123456789012345680000, 5e-324]",
            "[0,1e+21,1e-7,0.30000000000000004,123456789012345680000,5e-324]",
        ),
        ("{ b: 1, 2: 2, a: 3, 1: 4, u: undefined, n: null }", '{"1":4,"2":2,"b":1,"a":3,"n":null}'),
        ("'\\u2028\\u0007\"\\\\é😀'", '"\u2028\\u0007\\"\\\\é😀"'),
        ("Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even'))", '{"odd":[1,3],"even":[2]}'),
        ("new Date('2024-02-29T23:30:00-05:00').toISOString()", '"2024-03-01T04:30:00.000Z"'),
        ("['z', 'ä', 'a', 'Z'].sort((x, y) => x.localeCompare(y)).join('')", '"aäzZ"'),
        ("new Date(0).getTimezoneOffset()", "0"),
        ("Intl.DateTimeFormat().resolvedOptions().locale", '"en-US"'),
        ("Object.keys(sources.rows).join()", '"path,content,sha256"'),
    ],
)
def test_values(runtime: ModuleRuntime, expression: str, expected: str) -> None:
    """Expected texts follow ECMA-262: JSON.stringify, Number::toString, OrdinaryOwnPropertyKeys."""
    data = transformed(runtime, returning(expression), {"rows": source("rows.txt", "one\n")})
    assert data.decode() == f'{{"id":"a","v":{expected}}}\n'


def test_enums_namespaces_and_parameter_properties(runtime: ModuleRuntime) -> None:
    head = "enum Kind { Easy, Hard = 5, Max } namespace F { export const w = (s: string) => `<${s}>` } "
    head += "class Box { constructor(private readonly v: string, public n = 1) {} get() { return this.v + this.n } }"
    data = transformed(runtime, returning("[F.w(Kind[Kind.Max]), Kind.Hard, new Box('x').get()]", head))
    assert json.loads(data)["v"] == ["<Max>", 5, "x1"]


def test_imports_with_and_without_extension_and_json(runtime: ModuleRuntime) -> None:
    files = {
        "a/t.ts": "import { one } from './lib'\nimport two from '../two.ts'\nimport three from './three.js'\n"
        "import data from './data.json' with { type: 'json' }\nimport plain from './data.json'\n"
        "import type { T } from './types'\n"
        "export default { name: 't', transform: () => [{ v: [one, two, three, data.k, plain === data] }] }",
        "a/lib/index.ts": "export { one } from './deep'",
        "a/lib/deep.mts": "export const one: number = 1",
        "two.ts": "export default 2 as number",
        "a/three.ts": "export default 3",
        "a/data.json": '\ufeff{"k": [4]}',
        "a/types.ts": "export type T = 1",
    }
    assert json.loads(transformed(runtime, files, entry="a/t.ts"))["v"] == [1, 2, 3, [4], True]


def test_one_file_under_two_names_is_one_module(runtime: ModuleRuntime) -> None:
    files = {
        "t.ts": "import { count } from './state'\nimport { bump } from './bump'\n"
        "export default { name: 't', transform() { bump(); return [{ v: count.n }] } }",
        "state.ts": "export const count = { n: 0 }",
        "bump.ts": "import { count } from './state.ts'\nexport const bump = () => { count.n++ }",
    }
    assert json.loads(transformed(runtime, files))["v"] == 1


@pytest.mark.parametrize(
    "body",
    [
        "async transform() { await null; return [{ v: 1 }] }",
        "transform() { return Promise.all([1].map(async (v) => ({ v }))) }",
        "transform() { return new Promise((done) => setTimeout(done, 0, [{ v: 1 }])) }",
        "transform() { return new Promise((done) => queueMicrotask(() => done([{ v: 1 }]))) }",
        "transform() { return { then(done) { done([{ v: 1 }]); done([{ v: 2 }]) } } }",
        "transform() { Promise.reject(new Error('nobody waits')); return [{ v: 1 }] }",
        "v: 1, transform() { return [{ v: this.v }] }",
        "transform() { console.log('{\"v\":2}\\n'); return [{ v: 1 }] }",
    ],
)
def test_ways_to_answer(runtime: ModuleRuntime, body: str) -> None:
    assert transformed(runtime, f"export default {{ name: 't', {body} }}", entry="t.js") == b'{"v":1}\n'


def test_timers_keep_order(runtime: ModuleRuntime) -> None:
    """Macrotasks run in the order in which they were asked for, after all microtasks (HTML, event loops)."""
    body = (
        "const seen = []; setTimeout(() => seen.push('b')); setImmediate(() => seen.push('c'));"
        "const id = setTimeout(() => seen.push('x')); clearTimeout(id); queueMicrotask(() => seen.push('a'));"
        "await new Promise((done) => setTimeout(done)); return [{ v: seen.join('') }]"
    )
    text = f"export default {{ name: 't', async transform() {{ {body} }} }}"
    assert json.loads(transformed(runtime, text, entry="t.js"))["v"] == "abc"


def test_sources_come_in_declared_order_with_their_exact_text(runtime: ModuleRuntime) -> None:
    """The digest of the content, computed inside, is the one that the host gives; a BOM belongs to the text."""
    sources = {"zeta": source("d/z.txt", "\ufeffz\r\n"), "alpha": source("d/ä é.txt", "")}
    text = "import { createHash } from 'node:crypto'\n" + (
        "export default { name: 't', transform: ({ sources }) => Object.entries(sources).map(([id, s]) => ("
        "{ id, path: s.path, same: createHash('sha256').update(s.content).digest('hex') === s.sha256 })) }"
    )
    assert [json.loads(line) for line in transformed(runtime, text, sources, "t.js").splitlines()] == [
        {"id": "zeta", "path": "d/z.txt", "same": True},
        {"id": "alpha", "path": "d/ä é.txt", "same": True},
    ]


# ---- what is refused, with file, line and reason ----


@pytest.mark.parametrize(
    ("expression", "place", "reason"),
    [
        ("Math.random()", "t.ts:4:8", "Math.random() is not available"),
        ("Date.now()", "t.ts:4:8", "Date.now() is not available"),
        ("process.env.HOME", "t.ts:4:8", "`process` is not available"),
        ("fetch('http://127.0.0.1:9/')", "t.ts:4:8", "`fetch` is not available"),
        ("new Date().getTime()", "t.ts:4:8", "new Date() without arguments is not available"),
        # Seen only while running: aliases, computed names, hidden clocks. Columns are where V8 sees the call.
        ("[Math].map((m) => m['ran' + 'dom']())[0]", "t.ts:4:42", "Math.random() is not available"),
        ("((D) => D.now())(Date)", "t.ts:4:18", "Date.now() is not available"),
        ("((D) => new D().getTime())(Date)", "t.ts:4:16", "new Date() without arguments is not available"),
        ("((D) => D())(Date)", "t.ts:4:16", "Date() called as a function is not available"),
        ("new Intl.DateTimeFormat('en').format()", "t.ts:4:38", "without a date is not available"),
        ("new Intl.DateTimeFormat('en').formatToParts()", "t.ts:4:38", "without a date is not available"),
        ("(() => {}).constructor('return 1')()", "t.ts:4:19", "code from strings (Function) is not available"),
        ("Object.getPrototypeOf(async () => {}).constructor('1')", "t.ts:4:46", "(AsyncFunction) is not available"),
        ("[globalThis].map((g) => g['ev' + 'al']('1'))", "t.ts:4:46", "eval() is not available"),
        ("setTimeout(() => {}, 5)", "t.ts:4:8", "setTimeout() with a delay of 5 ms is not available"),
    ],
)
def test_refusals(runtime: ModuleRuntime, expression: str, place: str, reason: str) -> None:
    error = failure(runtime, returning(expression))
    assert isinstance(error, ModuleRefusedError)
    assert error.exit_code == ExitCode.BAD_INPUT
    assert error.faults[0].place == place
    assert reason in error.faults[0].message


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import { readFileSync } from 'node:fs'", "file system"),
        ("import net from 'net'", "network"),
        ("import { execSync } from 'node:child_process'", "processes"),
        ("import { z } from 'zod'", "packages are not installed"),
        ("import x from '../outside'", "above the repository's root"),
    ],
)
def test_refused_imports(runtime: ModuleRuntime, line: str, reason: str) -> None:
    error = failure(runtime, f"\n{line}\n{returning('1')}")
    assert isinstance(error, ModuleRefusedError)
    assert error.faults[0].place == f"t.ts:2:{line.index(chr(39)) + 1}"
    assert reason in f"{error.faults[0]} {error.faults[0].hint}"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("import d from './d.json' with { type: 'text' }", 't.ts:1:33: import attribute `type: "text"`'),
        ("import d from './d.json' with { type: 'json', lazy: 'yes' }", 't.ts:1:47: import attribute `lazy: "yes"`'),
        ("export * from './one' with { kind: 'x' }", 't.ts:1:30: import attribute `kind: "x"`'),
        (
            "import d from './one' with { type: 'json' }",
            't.ts:1:15: `./one` is imported with `type: "json"`, but is no JSON file',
        ),
    ],
)
def test_import_attributes(runtime: ModuleRuntime, line: str, reason: str) -> None:
    """Node 24 refuses all of these."""
    files = {"t.ts": f"{line}\n{returning('1')}", "d.json": "1", "one.ts": "export default 1"}
    error = failure(runtime, files)
    assert isinstance(error, ModuleBrokenError)
    assert shown(error) == [reason]


def test_all_modules_are_checked_before_anything_runs(runtime: ModuleRuntime) -> None:
    files = {
        "t.ts": "import './a'\nimport os from 'node:os'\nthrow new Error('ran')\nMath.random()",
        "a.ts": "import './b'\n\nexport const x = Date.now()",
        "b.ts": "import { missing } from './c'\nprocess.env.X",
        "c.ts": "export const here = 1",
    }
    assert [fault.place for fault in failure(runtime, files).faults] == [
        *("a.ts:3:18", "b.ts:1:10", "b.ts:2:1", "t.ts:2:16", "t.ts:4:1"),
    ]


@pytest.mark.parametrize(
    "attempt",
    [
        "const m = Math; try { m.random() } catch {}",
        "try { Reflect.apply(globalThis['Math']['ran' + 'dom'], null, []) } catch {}",
        "const d = Date; Promise.resolve().then(() => d.now()).catch(() => {})",
        "try { (() => {}).constructor('return process')() } catch {}",
        "const u = crypto['random' + 'UUID']; try { u() } catch {}",
    ],
)
def test_a_caught_refusal_stays_a_refusal(runtime: ModuleRuntime, attempt: str) -> None:
    """The output would be the same in both runs: comparing alone would accept it."""
    head = "import crypto from 'node:crypto'\n"
    text = f"{head}export default {{ name: 't', async transform() {{ {attempt}\n return [{{ v: 1 }}] }} }}"
    assert isinstance(failure(runtime, text, "t.js"), ModuleRefusedError)


# ---- what fails ----

UNREADABLE = "a value without a readable message"


def test_a_throw_has_its_line(runtime: ModuleRuntime) -> None:
    text = "const check = (row: string) => {\n  if (row) throw new Error(`row ${row} is malformed`)\n}\n"
    error = failure(runtime, f"{text}export default {{ name: 't', transform() {{ check('3'); return [] }} }}")
    assert isinstance(error, GuestError)
    assert shown(error) == ["t.ts:2:18: Error: row 3 is malformed"]


def test_a_rejection_has_its_line(runtime: ModuleRuntime) -> None:
    text = "export default { name: 't', async transform() {\n  await null\n  null.x\n} }"
    assert shown(failure(runtime, text, "t.js")) == [
        "t.js:3:8: TypeError: Cannot read properties of null (reading 'x')"
    ]


def test_lines_of_transformed_typescript_are_the_authors(runtime: ModuleRuntime) -> None:
    """An enum makes Node print the whole module anew; the source map leads back."""
    text = "enum Kind {\n  Easy,\n  Hard,\n}\n\n\n"
    text += "export default { name: 't', transform() {\n  throw new Error(Kind[1])\n} }\n"
    assert shown(failure(runtime, text)) == ["t.ts:8:9: Error: Hard"]
    assert failure(runtime, text.replace("throw new Error(Kind[1])", "Math.random()")).faults[0].place == "t.ts:8:3"


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("null", "null"),
        ("'text'", 'the string "text"'),
        (
            "Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } })",
            "a value without a readable message",
        ),
        ("new Proxy({}, { get() { throw 1 } })", "a value without a readable message"),
    ],
)
def test_strange_throws(runtime: ModuleRuntime, thrown: str, message: str) -> None:
    error = failure(runtime, f"export default {{ name: 't', transform() {{ throw {thrown} }} }}", "t.js")
    assert error.message == message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("export default { name: 'x', transform() { return [ }", "t.ts:1:52"),
        ("\nlet x: = 3", "t.ts:2:8"),
        ("function d(c, x) {}\n@d class A {}", "t.ts:2:1"),
        ("class A { accessor x = 1 }", "t.ts:1:20"),
        ("let a = 1\nlet a = 2", "t.ts:2:5"),
        ("let x = <div/>", "t.ts:1:14"),
    ],
)
def test_syntax_errors_have_places(runtime: ModuleRuntime, text: str, place: str) -> None:
    """Columns as `node` shows them with a caret; what esprima2 lets pass is caught by V8."""
    error = failure(runtime, text)
    assert isinstance(error, (ModuleBrokenError, GuestError))
    assert error.faults[0].place == place


def test_syntax_that_esprima_does_not_know_is_read_by_node(runtime: ModuleRuntime) -> None:
    text = "const o = { async *m() { yield 1 } }; export default { name: 't', async transform() { const out = [];\n"
    text += "for await (const v of o.m()) out.push({ v }); return out } }"
    assert transformed(runtime, text, entry="t.js") == b'{"v":1}\n'
    assert failure(runtime, text.replace("yield 1", "yield Math.random()"), "t.js").faults[0].place == "t.js:1:32"


def test_a_type_imported_as_a_value_is_explained(runtime: ModuleRuntime) -> None:
    files = {
        "t.ts": "import { Row } from './types'\nexport default { name: 't', transform: () => [{}] }",
        "types.ts": "export interface Row { id: string }",
    }
    error = failure(runtime, files)
    assert shown(error) == ["t.ts:1:10: `./types` does not export `Row`"]
    assert "import type" in str(error.faults[0].hint)


def test_a_name_that_a_built_in_lacks(runtime: ModuleRuntime) -> None:
    error = failure(runtime, f"import {{ join, nothing }} from 'node:path'\n{returning('1')}")
    assert shown(error) == ["t.ts:1:16: `node:path` does not export `nothing`"]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("NaN", "NaN at /0/v"),
        ("[1, { x: Infinity }]", "Infinity at /0/v/1/x"),
        ("10n", "a BigInt at /0/v"),
        ("new Date(0)", "a Date at /0/v"),
        ("new Map()", "a Map at /0/v"),
        ("/x/", "a RegExp at /0/v"),
        ("() => 1", "a function at /0/v (case a), which is no JSON"),
        ("JSON.rawJSON('1')", "text of JSON.rawJSON, which nobody has checked at /0/v"),
        ("[{ n: JSON.rawJSON('123456789012345678901234567890') }]", "text of JSON.rawJSON"),
        ("Symbol()", "a symbol at /0/v"),
        ("[undefined]", "undefined at /0/v/0"),
        ("[1, , 2]", "a hole in an array at /0/v/1"),
        ("Object.assign([1], { extra: 2 })", "a named property of an array at /0/v/extra"),
        ("{ get g() { return 1 } }", "an accessor (getter or setter) at /0/v/g"),
        ("JSON.parse('{\"__proto__\": 1}')", "a key __proto__ at /0/v/__proto__"),
        ("'a\\ud800'", "a string with a lone surrogate"),
        ("{ 'a/b~': NaN }", "NaN at /0/v/a~1b~0"),
        ("new Proxy({}, {})", "a Proxy at /0/v"),
        ("new (class A {})()", "an instance of a class at /0/v"),
        ("new Error('x')", "an Error at /0/v"),
        ("Promise.resolve(1)", "a promise (is an await missing?) at /0/v"),
        ("Buffer.from('x')", "a typed array or Buffer at /0/v"),
        ("{ toJSON() { return 1 } }", "a function at /0/v/toJSON"),
        ("{ [Symbol.iterator]: 1 }", "a symbol as key at /0/v"),
        ("Object.defineProperty({}, 'h', { value: 1 })", "not enumerable at /0/v/h"),
        ("(() => { const o = {}; o.self = o; return o })()", "a cycle (its /self is itself) at /0/v"),
        ("(() => { let o = 1; for (let i = 0; i < 20000; i++) o = [o]; return o })()", "deeper than 64 levels"),
    ],
)
def test_values_that_are_no_json(runtime: ModuleRuntime, expression: str, reason: str) -> None:
    error = failure(runtime, returning(expression), "t.js")
    assert isinstance(error, GuestError)
    assert reason in error.message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("export const name = 'x'", "default export must be an object"),
        ("export default { transform: () => [{}] }", "`name` of the default export"),
        ("export default { name: 't' }", "`transform` of the default export"),
        ("export default { name: 't', transform: () => ({}) }", "must return an array"),
        ("export default { name: 't', transform: () => [] }", "no cases"),
        ("export default { name: 't', transform: () => ['x'] }", "a case must be an object; at /0"),
        ("export default { name: 't', transform: () => [{}, [1]] }", "at /1 of the result stands an array"),
        ("export default { name: 't', transform: () => Array.from({ length: 25001 }, () => ({})) }", "25001 cases"),
        ("export default { name: 't', transform: () => new Promise(() => {}) }", "never settles"),
        ("await new Promise(() => {}); export default {}", "never settles"),
    ],
)
def test_wrong_modules_and_results(runtime: ModuleRuntime, text: str, reason: str) -> None:
    error = failure(runtime, text, "t.mjs")
    assert isinstance(error, GuestError)
    assert reason in error.message


def test_25000_cases_are_fine(runtime: ModuleRuntime) -> None:
    text = "export default { name: 't', transform: () => Array.from({ length: 25000 }, (_, id) => ({ id })) }"
    assert transformed(runtime, text, entry="t.js").count(b"\n") == 25000


# ---- differences ----


def test_the_depth_of_the_stack_differs(runtime: ModuleRuntime) -> None:
    text = "let n = 0; const f = () => { n++; f() }; try { f() } catch {}"
    error = failure(
        runtime, f"export default {{ name: 't', transform() {{ {text}; return [{{ id: 'x', n }}] }} }}", "t.js"
    )
    assert isinstance(error, TransformDiffersError)
    assert error.exit_code == ExitCode.NO
    assert error.faults[0].place == "t.js case x /n"


def test_another_order_is_told_from_other_cases(runtime: ModuleRuntime) -> None:
    """R05: the same cases in another order, and the first position that differs."""
    body = "let n = 0; const f = () => { n++; f() }; try { f() } catch {}; const deep = n > 14000;"
    body += "return ['z', ...(deep ? ['a', 'b'] : ['b', 'a'])].map((id) => ({ id }))"
    text = f"export default {{ name: 't', transform() {{ {body} }} }}"
    error = failure(runtime, text, "t.js")
    assert isinstance(error, TransformDiffersError)
    assert "same cases, different order: position 2" in str(error)


# ---- attacks ----


@pytest.mark.parametrize(
    "attack",
    [
        "JSON.stringify = () => '{}'; String.prototype.isWellFormed = () => true; Array.isArray = () => false",
        "Object.prototype.then = undefined; Array.prototype.push = Array.prototype[Symbol.iterator] = null",
        "Reflect.ownKeys = () => []; Object.getOwnPropertyDescriptor = () => ({}); Object.prototype.value = 7",
        "Object.defineProperty(Object.prototype, 'get', { get() { throw 1 } }); Map.prototype.get = null",
        "Promise.prototype.constructor; try { Promise.prototype.then = (f) => f(1) } catch {}",
        "try { globalThis.Promise = class {} } catch {}; try { globalThis.Error = {} } catch {}",
        "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = null",
    ],
)
def test_patched_intrinsics_do_not_touch_the_result(runtime: ModuleRuntime, attack: str) -> None:
    text = f"export default {{ name: 't', async transform() {{ {attack}; return [{{ id: 'real', n: [1] }}] }} }}"
    assert transformed(runtime, text, entry="t.js") == b'{"id":"real","n":[1]}\n'


def test_to_json_on_a_prototype_is_refused(runtime: ModuleRuntime) -> None:
    text = "export default { name: 't', transform() { Object.prototype.toJSON = () => 'x'; return [{ id: 'real' }] } }"
    assert "toJSON" in failure(runtime, text, "t.js").message


@pytest.mark.parametrize(
    "attack",
    [
        "globalThis.constructor",
        "console.log.constructor",
        "setTimeout.constructor",
        "Buffer.from.constructor",
        "URL.prototype.constructor.constructor",
        "createHash('sha256').constructor.constructor",
        "(() => { try { createHash('nope') } catch (e) { return e.constructor.constructor } })()",
        "(() => { try { Buffer.from({}) } catch (e) { return e.constructor.constructor } })()",
        "(() => { try { new URL('x') } catch (e) { return e.constructor.constructor } })()",
        "(() => { try { null.x } catch (e) { return e.constructor.constructor } })()",
        "(() => { let c; const f = () => { try { f() } catch (e) { c ??= e.constructor } }; f();"
        " return c.constructor })()",
        "(() => { let c; const f = () => { try { f() } catch {} try { createHash('sha256').update('x').digest() }"
        " catch (e) { c ??= e.constructor.constructor } }; f(); return c ?? (() => {}).constructor })()",
        "new Proxy({}, {}).constructor.constructor",
        "(await Promise.resolve()) ?? sources.constructor.constructor",
    ],
)
def test_every_function_constructor_in_reach_is_the_denied_one(runtime: ModuleRuntime, attack: str) -> None:
    """A function of the host's realm would have another constructor, one that could run code from strings there."""
    text = (
        "import { createHash } from 'node:crypto'\n"
        "export default { name: 't', async transform({ sources }) {\n"
        f"  const found = {attack}\n"
        "  const own = (() => {}).constructor\n"
        "  return [{ v: found === own || found === globalThis.Object || found === undefined }] } }"
    )
    assert transformed(runtime, text, entry="t.js") == b'{"v":true}\n'


def test_stacks_show_no_path_of_the_machine(runtime: ModuleRuntime) -> None:
    expression = (
        "(() => { try { null.x } catch (e) { const o = {}; Error.captureStackTrace(o); return e.stack + o.stack } })()"
    )
    text = json.loads(transformed(runtime, returning(expression)))["v"]
    assert "/" not in text
    assert "\n" not in text


def test_nothing_of_the_machine_is_visible(runtime: ModuleRuntime) -> None:
    os.environ.setdefault("TRUNCHBUILD_CANARY", "canary-71")
    expression = "Object.getOwnPropertyNames(globalThis).filter((n) => !/^[A-Z]/.test(n)).sort().join()"
    names = json.loads(transformed(runtime, returning(expression)))["v"].split(",")
    assert names == [
        *("atob", "btoa", "clearImmediate", "clearInterval", "clearTimeout", "console", "decodeURI"),
        *("decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "eval", "globalThis", "isFinite", "isNaN"),
        *("parseFloat", "parseInt", "queueMicrotask", "setImmediate", "setInterval", "setTimeout", "structuredClone"),
        *("undefined", "unescape"),
    ]


# ---- limits ----


@pytest.mark.parametrize(
    "body",
    [
        "for (;;) {}",
        "return (async () => { for (;;) await null })()",
        "return [{ v: /^(a+)+$/.test('a'.repeat(60) + '!') }]",
    ],
)
def test_endless_work_is_stopped(body: str) -> None:
    runtime = real_runtime(limits=Limits(wall_seconds=20.0, cpu_seconds=1))
    error = failure(runtime, f"export default {{ name: 't', transform() {{ {body} }} }}", "t.js")
    assert isinstance(error, GuestLimitError)
    assert shown(error) == ["t.js: the code used more than 1 s of CPU time"]


def test_too_much_output_is_stopped() -> None:
    runtime = real_runtime(limits=Limits(output_bytes=1 << 20))
    body = "const s = 'x'.repeat(1 << 16); return Array.from({ length: 100 }, (_, id) => ({ id, s }))"
    error = failure(runtime, f"export default {{ name: 't', transform() {{ {body} }} }}", "t.js")
    assert isinstance(error, GuestLimitError)


# ---- load, strip, survey ----


def test_load_gives_data_and_the_places_of_functions(runtime: ModuleRuntime) -> None:
    graphs = [
        graph_of(runtime, "export default { id: 'x', n: [1, () => 1], evaluate() {}, u: undefined } as const"),
        graph_of(runtime, "export default () => 1"),
        graph_of(runtime, {"t.json": "[1]"}, "t.json"),
    ]
    loaded = runtime.load(graphs)
    assert [(one.value, sorted(one.functions)) for one in loaded] == [
        ({"id": "x", "n": [1, None], "evaluate": None}, ["/evaluate", "/n/1"]),
        (None, [""]),
        ([1], []),
    ]


def test_loading_isolates_modules(runtime: ModuleRuntime) -> None:
    first = graph_of(runtime, "globalThis.leak = 1; Object.prototype.x = 1; export default 1")
    second = graph_of(runtime, "export default [typeof globalThis.leak, typeof {}.x]")
    assert runtime.load([first, second])[1].value == ["undefined", "undefined"]


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("export const x = 1", GuestError, "t.ts"),
        ("export default { when: new Date(0) }", GuestError, "t.ts"),
        ("const m = Math\nexport default { n: m.random() }", ModuleRefusedError, "t.ts:2:23"),
        ("export default 1\nthrow new Error('x')", GuestError, "t.ts:2:7"),
    ],
)
def test_load_failures(runtime: ModuleRuntime, text: str, kind: type[TrunchbuildError], place: str) -> None:
    with pytest.raises(kind) as caught:
        runtime.load([graph_of(runtime, "export default 1"), graph_of(runtime, text)])
    assert caught.value.faults[0].place == place


def test_load_differs(runtime: ModuleRuntime) -> None:
    text = "let n = 0; const f = () => { n++; f() }; try { f() } catch {}; export default { a: { n } }"
    with pytest.raises(TransformDiffersError) as caught:
        runtime.load([graph_of(runtime, text)])
    assert caught.value.faults[0].place == "t.ts /a/n"


def test_strip_keeps_positions(runtime: ModuleRuntime) -> None:
    """Types become blanks (Node documents this of `mode: "strip"`), so every column stays."""
    answers = runtime.strip({"a.ts": "let x: number = 1", "b.ts": "let y: = 1"})
    assert answers["a.ts"] == "let x         = 1"
    assert str(answers["b.ts"]).startswith("b.ts:1:8: syntax error")


def test_surveys_are_kept_by_content(tmp_path: Path) -> None:
    """The second time nothing runs: a runtime without a sandbox answers from the cache."""
    text = "export const x: number = Math.random()"
    first = real_runtime(tmp_path).survey({"t.ts": text})
    kept = ModuleRuntime(None, tmp_path, LIMITS).survey({"t.ts": text})  # type: ignore[arg-type]
    assert kept == first
    assert first["t.ts"].findings[0].fault.place == "t.ts:1:26"


def test_a_damaged_cache_is_ignored(tmp_path: Path) -> None:
    text = "export const x: number = 1"
    runtime = real_runtime(tmp_path)
    expected = runtime.survey({"t.ts": text})
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes().replace(b"export const", b"export begun"))
    assert runtime.survey({"t.ts": text}) == expected


def test_versions_are_those_of_the_pinned_node(runtime: ModuleRuntime) -> None:
    versions = json.loads(node("console.log(JSON.stringify(process.versions))"))
    answered = runtime.versions().versions
    assert {name: answered[name] for name in ("node", "v8", "icu", "unicode")} == {
        name: versions[name] for name in ("node", "v8", "icu", "unicode")
    }
