"""Bad benchmarks, told by `inspect`: what `compile` refuses for the same reasons."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from tests.support.bad_input import CONFIG, EVAL, Bad


def config(name: str, value: object, *says: str, code: int = 3) -> Bad:
    """A JSON config, as a value or as text, beside a good eval."""
    text = value if isinstance(value, str) else json.dumps(value)
    files = {"benchmark.config.json": text, "evals/a.mjs": EVAL}
    return Bad(name, ("inspect",), code, says, files)


def module(name: str, path: str, text: str, *says: str, code: int = 3, more: Mapping[str, str] | None = None) -> Bad:
    """A good benchmark with one module replaced."""
    files = {"benchmark.config.mjs": CONFIG, "evals/a.mjs": EVAL, path: text, **(more or {})}
    return Bad(name, ("inspect",), code, says, files)


def evaluation(name: str, members: str, *says: str, code: int = 3, more: Mapping[str, str] | None = None) -> Bad:
    """A benchmark whose eval has these members; a later one wins."""
    text = (
        "export default { id: 'a', title: 'A', cases: [{ id: 'x', prompt: 'p' }],"
        f" evaluate: {{ kind: 'non_empty' }},\n  {members} }}\n"
    )
    return module(name, "evals/a.mjs", text, *says, code=code, more=more)


VALUE = {"protocolVersion": 1, "title": "T", "version": "1", "license": "CC0-1.0", "evals": ["evals/a.mjs"]}
CUSTOM = "evaluate: { kind: 'custom', evaluatorKey: 'e/x.mjs#default', sourcePath: 'e/x.mjs' }"

CONFIGS = [
    Bad("no-such-folder", ("inspect", "nowhere"), 3, ("nowhere: no such folder", "REPO@REV")),
    Bad("no-config", ("inspect",), 3, ("no benchmark config", "benchmark.config.ts"), {"README.md": ""}),
    Bad(
        "two-configs",
        ("inspect",),
        2,
        ("several configs", "benchmark.config.mjs, benchmark.config.json", "--config benchmark.config.mjs"),
        {"benchmark.config.mjs": CONFIG, "benchmark.config.json": "{}"},
    ),
    Bad(
        "configs-in-folders",
        ("inspect", "."),
        2,
        ("b/x/benchmark.config.ts, b/y/benchmark.config.json", "--config b/x/benchmark.config.ts"),
        {"b/x/benchmark.config.ts": CONFIG, "b/y/benchmark.config.json": "{}"},
    ),
    Bad(
        "no-such-config",
        ("inspect", "--config", "b/benchmark.config.ts"),
        3,
        ("b/benchmark.config.ts: no such config", "benchmark.config.mjs"),
        {"benchmark.config.mjs": CONFIG},
    ),
    Bad("config-outside", ("inspect", "--config=../x.json"), 3, ("../x.json", "leaves the repository"), {"a": ""}),
    Bad("unknown-option", ("inspect", "--stric"), 2, ("--stric", "--strict")),
    Bad(
        "config-is-a-link",
        ("inspect",),
        3,
        ("no benchmark config",),
        {"real.json": json.dumps(VALUE)},
        links={"benchmark.config.json": "real.json"},
    ),
    config("not-json", '{\n  "title": T\n}', "benchmark.config.json:2:12"),
    config("duplicate-key", '{"title": "a",\n "title": "b"}', "benchmark.config.json:2", "title"),
    config("a-list", [], "benchmark.config.json", "expected an object, got an array"),
    config("version-2", {**VALUE, "protocolVersion": 2}, "/protocolVersion", "expected 1, got 2"),
    config("no-version", {k: v for k, v in VALUE.items() if k != "protocolVersion"}, "/protocolVersion", "got nothing"),
    config("no-title", {k: v for k, v in VALUE.items() if k != "title"}, "/title", "missing"),
    config("misspelt-key", {**VALUE, "licence": "MIT"}, "/licence", "did you mean `license`?"),
    config("no-evals", {**VALUE, "evals": []}, "/evals", "at least one"),
    config("eval-missing", {**VALUE, "evals": ["evals/b.mjs"]}, "evals/b.mjs: no such file", "`a.mjs`"),
    config("eval-outside", {**VALUE, "evals": ["../a.mjs"]}, "/evals/0", "inside the repository"),
    config("eval-absolute", {**VALUE, "evals": ["/etc/a.mjs"]}, "/evals/0", "a relative path"),
    config("eval-twice", {**VALUE, "evals": ["evals/a.mjs", "./evals/a.mjs"]}, "/evals/1", "each eval once"),
    config("negative-limit", {**VALUE, "defaults": {"limits": {"maxSteps": 0}}}, "/defaults/limits/maxSteps", "got 0"),
    config("every-fault-at-once", {**VALUE, "title": 1, "tags": "x", "foo": 1}, "3 faults", "/title", "/tags", "/foo"),
    module("config-throws", "benchmark.config.mjs", "throw new Error('no')\n", "benchmark.config.mjs:1", "no"),
    module("config-reads-env", "benchmark.config.mjs", "export default process.env\n", "benchmark.config.mjs:1:16"),
    module(
        "config-holds-a-function",
        "benchmark.config.mjs",
        CONFIG.replace("title: 'T'", "title: () => 'T'"),
        "benchmark.config.mjs /title",
        "a function",
    ),
    module("config-without-default", "benchmark.config.mjs", "export const a = 1\n", "benchmark.config.mjs", "default"),
]

EVALS = [
    module("eval-is-a-list", "evals/a.mjs", "export default []\n", "evals/a.mjs", "expected an object"),
    module("eval-syntax", "evals/a.mjs", "export default {\n  id: 'a',,\n}\n", "evals/a.mjs:2:11"),
    module("eval-uses-the-clock", "evals/a.mjs", "export default { id: `a${Date.now()}` }\n", "evals/a.mjs:1"),
    module(
        "eval-imports-nothing", "evals/a.mjs", "import './b.mjs'\nexport default {}\n", "evals/a.mjs:1:8", "./b.mjs"
    ),
    evaluation("bad-id", "id: 'A b'", "evals/a.mjs /id", "'A b'"),
    evaluation("unknown-key", "casess: []", "evals/a.mjs /casess", "did you mean `cases`?"),
    evaluation("unknown-evaluator", "evaluate: { kind: 'gsm' }", "/evaluate/kind", "did you mean `gsm8k`?"),
    evaluation("bad-regex", "evaluate: { kind: 'regex', pattern: '(' }", "/evaluate/pattern"),
    evaluation("cases-missing", "cases: '../data/c.jsonl'", "data/c.jsonl: no such file"),
    evaluation("cases-of-another-kind", "cases: '../data/c.csv'", "/cases", ".jsonl or .json"),
    evaluation("cases-outside", "cases: '../../c.jsonl'", "/cases", "inside the repository"),
    evaluation(
        "cases-broken-at-line-2",
        "cases: '../data/c.jsonl'",
        "data/c.jsonl:2:2",
        more={"data/c.jsonl": '{"id":"a","prompt":"p"}\n{\'id\':\'b\'}\n'},
    ),
    evaluation(
        "integer-beyond-doubles",
        "cases: '../data/c.jsonl'",
        "data/c.jsonl:1",
        "9007199254740993",
        more={"data/c.jsonl": '{"id":"a","prompt":"p","data":9007199254740993}\n'},
    ),
    evaluation(
        "duplicate-ids-by-line",
        "cases: '../data/c.jsonl'",
        "data/c.jsonl:3 case q1 /id",
        "the first stands at data/c.jsonl:1",
        more={"data/c.jsonl": '{"id":"q1","prompt":"p"}\n\n{"id":"q1","prompt":"q"}\n'},
    ),
    evaluation(
        "cases-are-an-object",
        "cases: '../data/c.json'",
        "data/c.json: not a list of cases",
        more={"data/c.json": '{"cases": []}'},
    ),
    evaluation("cases-empty-file", "cases: '../data/c.jsonl'", "data/c.jsonl: no cases", more={"data/c.jsonl": "\n\n"}),
    evaluation("cases-empty", "cases: []", "no cases"),
    evaluation("case-tool-unknown", "cases: [{ id: 'x', prompt: 'p', tools: ['t'] }]", "case x /tools/0", "no tools"),
    evaluation("case-custom", f"cases: [{{ id: 'x', prompt: 'p', {CUSTOM} }}]", "case x /evaluate/kind", "declare"),
    evaluation("case-function", "cases: [{ id: 'x', prompt: () => 'p' }]", "evals/a.mjs /cases/0/prompt", "a function"),
    evaluation("tool-missing", "tools: { t: './t.mjs' }", "evals/t.mjs: no such file"),
    evaluation(
        "tool-without-execute",
        "tools: { t: './t.mjs' }",
        "evals/t.mjs /execute",
        more={"evals/t.mjs": "export default { description: 'd', inputSchema: {} }\n"},
    ),
    evaluation("evaluator-missing", CUSTOM, "e/x.mjs: no such file"),
    evaluation(
        "evaluator-without-function",
        CUSTOM,
        "e/x.mjs",
        "a function `evaluate`",
        "evals/a.mjs names it",
        more={"e/x.mjs": "export default { grade: () => 1 }\n"},
    ),
    evaluation(
        "evaluator-export-misspelt",
        CUSTOM.replace("#default", "#grad"),
        "e/x.mjs",
        "export `grad`: a function",
        "got `default`, `grade`",
        "evals/a.mjs names it",
        more={"e/x.mjs": "export default () => 1\nexport const grade = () => 1\n"},
    ),
    evaluation(
        "evaluator-key-of-another-file",
        CUSTOM.replace("'e/x.mjs#", "'e/y.mjs#"),
        "/evaluate/evaluatorKey",
        more={"e/x.mjs": "export default () => 1\n"},
    ),
    evaluation(
        "too-many-sources",
        f"cases: {{ transformer: './t.mjs', sources: {json.dumps({f's{n}': './t.mjs' for n in range(17)})} }}",
        "/cases/sources",
        "1 to 16",
        "17",
    ),
    evaluation(
        "source-missing",
        "cases: { transformer: './t.mjs', sources: { rows: '../r.txt' } }",
        "r.txt: no such file",
        more={"evals/t.mjs": ""},
    ),
    evaluation(
        "transformer-random",
        "cases: { transformer: './t.mjs', sources: { rows: '../r.txt' } }",
        "evals/t.mjs:2:26",
        "Math.random",
        more={
            "r.txt": "",
            "evals/t.mjs": "export default { name: 't',\n transform: () => [{ id: Math.random() }] }\n",
        },
    ),
    Bad(
        "two-evals-of-one-id",
        ("inspect",),
        3,
        ("b.mjs /id", "eval id `a` occurs twice", "first in evals/a.mjs"),
        {
            "benchmark.config.json": json.dumps({**VALUE, "evals": ["evals/a.mjs", "b.mjs"]}),
            "evals/a.mjs": EVAL,
            "b.mjs": EVAL,
        },
    ),
    Bad(
        "lint-with-strict",
        ("inspect", "--strict"),
        3,
        ("error: lint", "no license", "stands in the prompt", "case x"),
        {
            "benchmark.config.mjs": CONFIG.replace("license: 'CC0-1.0', ", ""),
            "evals/a.mjs": EVAL.replace("prompt: 'p'", "prompt: 'Say yes.'").replace(
                "{ kind: 'non_empty' }", "{ kind: 'exact', expected: 'yes' }"
            ),
        },
    ),
]


@pytest.mark.parametrize("bad", [*CONFIGS, *EVALS], ids=lambda bad: bad.name)
def test_inspect(bad: Bad, see_refused: Callable[[Bad], None]) -> None:
    see_refused(bad)
