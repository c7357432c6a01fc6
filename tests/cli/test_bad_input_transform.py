"""Bad input of `transform` and `transform-batch`: each is told plainly, and nothing is written."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.support.bad_input import ROWS, Bad

ARGUMENTS = ("transform", "--transformer", "t.mjs", "--source", "rows=rows.jsonl", "--output", "out/cases.jsonl")
PYTHON = ("transform", "--transformer", "t.py", "--source", "rows=rows.jsonl", "--output", "out/cases.jsonl")
GOOD = "export default { name: 't', transform: () => [{ id: 'a', prompt: 'p' }] }\n"


def module(name: str, body: str, code: int, *says: str) -> Bad:
    """A whole JavaScript module."""
    return Bad(name, ARGUMENTS, code, says, {"t.mjs": body, "rows.jsonl": ROWS})


def returns(name: str, value: str, *says: str, code: int = 3) -> Bad:
    """A transformer that returns this expression, which stands in line 4 at column 12."""
    return module(
        name,
        f"export default {{\n  name: 't',\n  transform({{ sources }}) {{\n    return {value}\n  }},\n}}\n",
        code,
        *says,
    )


def python(name: str, body: str, code: int, *says: str) -> Bad:
    """A Python transformer whose function begins in line 4."""
    text = f"import json\nname = 't'\ndef transform(sources):\n    {body}\n"
    return Bad(name, PYTHON, code, says, {"t.py": text, "rows.jsonl": ROWS})


def source(name: str, content: bytes, *says: str) -> Bad:
    """A source with these bytes."""
    return Bad(name, ARGUMENTS, 3, says, {"t.mjs": GOOD, "rows.jsonl": content})


def options(name: str, arguments: tuple[str, ...], code: int, *says: str) -> Bad:
    """A good transformer, run with other arguments."""
    return Bad(name, ("transform", *arguments), code, says, {"t.mjs": GOOD, "rows.jsonl": ROWS})


CASE = "id: 'a', prompt: 'p'"

MODULES = [
    module("syntax-error", "export default {\n  name: 't'\n  transform() {},\n}\n", 3, "t.mjs:3:3"),
    module("no-default", "export const x = 1\n", 3, "t.mjs", "default"),
    module("no-name", "export default { transform: () => [] }\n", 3, "t.mjs", "name"),
    module("no-transform", "export default { name: 't' }\n", 3, "t.mjs", "transform"),
    module(
        "throws",
        "export default { name: 't', transform() {\n  throw new Error('row 7 has no label')\n} }\n",
        3,
        "t.mjs:2",
        "row 7 has no label",
    ),
    module("missing-import", "import { x } from './lib.mjs'\nexport default x\n", 3, "t.mjs:1", "./lib.mjs"),
    module(
        "node-fs", "import fs from 'node:fs'\nexport default { name: 't', transform: () => [] }\n", 3, "t.mjs:1", "fs"
    ),
    module("bare-package", "import x from 'lodash'\nexport default x\n", 3, "t.mjs:1", "lodash"),
    module("not-utf8", b"export default '\xe9'\n".decode("latin-1"), 3, "t.mjs"),
    returns("source-misnamed", "sources.row.content.split()", "t.mjs:4", "TypeError", "the sources' names are `rows`"),
    python("source-misnamed-python", "return sources['row']", 3, "t.py:4", "KeyError", "the sources' names are `rows`"),
    returns("math-random", "[{ id: 'a', prompt: String(Math.random()) }]", "t.mjs:4", "Math.random"),
    returns("date-now", "[{ id: 'a', prompt: String(Date.now()) }]", "t.mjs:4", "Date.now"),
    returns("process-env", "[{ id: 'a', prompt: process.env.HOME }]", "t.mjs:4", "process"),
    returns("fetch", "fetch('http://127.0.0.1:9/')", "t.mjs:4", "fetch"),
    returns("not-a-list", "{ id: 'a' }", "t.mjs"),
    returns("no-cases", "[]", "t.mjs"),
    returns("case-is-a-string", "['a']", "t.mjs"),
    returns("nan", f"[{{ {CASE}, data: {{ x: [0, NaN] }} }}]", "/0/data/x/1", "NaN"),
    returns("lone-surrogate", "[{ id: 'a', prompt: '\\ud83d' }]", "/0/prompt"),
    returns("too-many", "Array.from({ length: 25001 }, (_, n) => ({ id: 'c' + n, prompt: 'p' }))", "25000"),
    returns(
        "misspelt-key",
        f"[{{ {CASE}, evalaute: {{ kind: 'non_empty' }} }}]",
        "case a",
        "evalaute",
        "did you mean `evaluate`?",
    ),
    returns(
        "unknown-kind",
        f"[{{ {CASE}, evaluate: {{ kind: 'exakt', expected: '1' }} }}]",
        "case a /evaluate/kind",
        "did you mean `exact`?",
    ),
    returns("missing-parameter", f"[{{ {CASE}, evaluate: {{ kind: 'exact' }} }}]", "case a /evaluate/expected"),
    returns("empty-prompt", "[{ id: 'a', prompt: '' }]", "case a /prompt"),
    returns("id-with-space", "[{ id: ' a', prompt: 'p' }]", "/id"),
    returns("number-as-id", "[{ id: 7, prompt: 'p' }]", "/id"),
    returns("duplicate-id", f"[{{ {CASE} }}, {{ {CASE} }}]", "t.mjs /1 case a /id", "t.mjs /0"),
    returns(
        "ids-alike-under-nfc",
        "[{ id: 'caf\\u00e9', prompt: 'p' }, { id: 'CAFE\\u0301', prompt: 'q' }]",
        "t.mjs /1",
        "t.mjs /0",
    ),
    returns(
        "many-faults",
        "Array.from({ length: 80 }, (_, n) => ({ id: 'c' + n, prompt: 1 }))",
        "error: t.mjs: 80 faults",
        "and 30 more",
    ),
    python(
        "python-random",
        "import random\n    return [{'id': 'a', 'prompt': str(random.random())}]",
        3,
        "t.py:4",
        "random",
    ),
    python("python-open", "return [{'id': 'a', 'prompt': open('/etc/hostname').read()}]", 3, "t.py:4", "open"),
    python("python-raises", "raise ValueError('row 7 has no label')", 3, "t.py:4", "row 7 has no label"),
    python(
        "python-set-order",
        "return [{'id': x, 'prompt': 'p'} for x in {'a', 'b', 'c', 'd', 'e', 'f', 'g'}]",
        1,
        "t.py",
        "order",
    ),
    python(
        "python-hash",
        "return [{'id': x, 'prompt': 'p'} for x in sorted(['a', 'b', 'c', 'd', 'e'], key=hash)[:3]]",
        3,
        "t.py:4",
        "hash",
    ),
]

SOURCES = [
    source("not-utf8", b'{"id":"a"}\n{"id":"\xe9"}\n', "rows.jsonl", "byte offset 18", "byte 0xe9 in line 2"),
    source(
        "lfs-pointer",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 9\n",
        "rows.jsonl",
        "Git LFS",
    ),
    Bad(
        "missing",
        ARGUMENTS,
        3,
        ("rows.jsonl: no such file", "did you mean `row.jsonl`?"),
        {"t.mjs": GOOD, "row.jsonl": ROWS},
    ),
    Bad(
        "wrong-letter-case",
        ARGUMENTS,
        3,
        ("rows.jsonl: no such file", "letter case"),
        {"t.mjs": GOOD, "Rows.jsonl": ROWS},
    ),
    Bad("folder", ARGUMENTS, 3, ("rows.jsonl", "a folder"), {"t.mjs": GOOD}, folders=["rows.jsonl"]),
    Bad(
        "link",
        ARGUMENTS,
        3,
        ("rows.jsonl", "symbolic link"),
        {"t.mjs": GOOD, "real": ROWS},
        links={"rows.jsonl": "real"},
    ),
    Bad(
        "transformer-link",
        ARGUMENTS,
        3,
        ("t.mjs", "symbolic link"),
        {"real.mjs": GOOD, "rows.jsonl": ROWS},
        links={"t.mjs": "real.mjs"},
    ),
    Bad("no-transformer", ARGUMENTS, 3, ("t.mjs: no such file",), {"rows.jsonl": ROWS}),
]

T, S, O = ("--transformer=t.mjs",), ("--source=rows=rows.jsonl",), ("--output=out.jsonl",)  # noqa: E741
OPTIONS = [
    options("no-transformer", (*S, *O), 2, "'--transformer'", "trunchbuild transform --help"),
    options("no-source", (*T, *O), 2, "'--source'"),
    options("no-output", (*T, *S), 2, "'--output'"),
    options("unknown-option", (*T, *S, *O, "--ouput=x"), 2, "--ouput", "--output"),
    options("unknown-format", (*T, *S, *O, "--format=csv"), 2, "csv", "jsonl"),
    options("source-without-name", (*T, *O, "--source=rows.jsonl"), 2, "NAME=PATH", "rows.jsonl"),
    options("source-without-path", (*T, *O, "--source=rows="), 2, "NAME=PATH"),
    options("source-twice", (*T, *O, *S, "--source=rows=t.mjs"), 2, "`rows` is given twice"),
    options("too-many-sources", (*T, *O, *(f"--source=s{n}=rows.jsonl" for n in range(17))), 2, "1 to 16", "17"),
    options("not-a-module", ("--transformer=rows.jsonl", *S, *O), 3, "rows.jsonl", ".mjs"),
    options("replaces-its-source", (*T, *S, "--output=rows.jsonl"), 2, "would replace source `rows`"),
    options("replaces-itself", (*T, *S, "--output=./x/../t.mjs"), 2, "would replace the transformer"),
    options("output-is-not-unicode", (*T, *S, "--output=o\udcff"), 2, "o\\udcff", "UTF-8"),
    options("output-below-a-file", (*T, *S, "--output=rows.jsonl/x"), 4, "rows.jsonl/x", "cannot be written"),
    options("check-of-nothing", (*T, *S, *O, "--check"), 1, "out.jsonl: is missing", "run without --check"),
    Bad(
        "output-is-a-folder",
        ("transform", *T, *S, "--output=out"),
        4,
        ("out", "a folder"),
        {"t.mjs": GOOD, "rows.jsonl": ROWS},
        folders=["out"],
    ),
    Bad(
        "output-is-a-link",
        ("transform", *T, *S, "--output=out"),
        4,
        ("out", "a symbolic link"),
        {"t.mjs": GOOD, "rows.jsonl": ROWS},
        links={"out": "x"},
    ),
]

JOB = {"id": "a", "transformer": "t.mjs", "sources": {"rows": "rows.jsonl"}, "output": "out/a.jsonl"}


def manifest(name: str, value: object, code: int, *says: str) -> Bad:
    """A batch manifest, as JSON or as text."""
    text = value if isinstance(value, str) else json.dumps(value)
    files = {"t.mjs": GOOD, "rows.jsonl": ROWS, "b.json": text}
    return Bad(name, ("transform-batch", "b.json"), code, says, files)


def jobs(name: str, code: int, *listed: dict[str, object], says: tuple[str, ...]) -> Bad:
    return manifest(name, {"protocolVersion": 1, "jobs": listed}, code, *says)


BATCHES = [
    Bad("no-manifest-named", ("transform-batch",), 2, ("MANIFEST or --manifest=PATH",)),
    Bad("two-named", ("transform-batch", "a", "--manifest=b"), 2, ("MANIFEST or --manifest=PATH",)),
    Bad("missing", ("transform-batch", "b.json"), 3, ("b.json: no such file",)),
    Bad("folder", ("transform-batch", "b.json"), 3, ("b.json", "a folder"), folders=["b.json"]),
    Bad("no-jobs-at-a-time", ("transform-batch", "b.json", "--jobs=0"), 2, ("--jobs",)),
    manifest("not-json", '{"protocolVersion": 1,\n"jobs": [,]}', 3, "b.json:2:10"),
    manifest("duplicate-key", '{"protocolVersion": 1, "jobs": [], "jobs": []}', 3, "b.json:1", "jobs"),
    manifest("a-list", [], 3, "b.json", "an object", "an array"),
    manifest("version-2", {"protocolVersion": 2, "jobs": [JOB]}, 3, "b.json /protocolVersion", "expected 1, got 2"),
    manifest("no-jobs", {"protocolVersion": 1, "jobs": []}, 3, "b.json /jobs", "at least one job"),
    manifest("misspelt-key", {"protocolVersion": 1, "job": [JOB]}, 3, "unknown key `job`", "did you mean `jobs`?"),
    jobs(
        "misspelt-job-key",
        3,
        {**JOB, "expectedCasesCount": 1},
        says=("b.json /jobs/0/expectedCasesCount", "`expectedCaseCount`"),
    ),
    jobs("no-output", 3, {k: v for k, v in JOB.items() if k != "output"}, says=("b.json /jobs/0/output",)),
    jobs("same-id", 3, JOB, {**JOB, "output": "b"}, says=("b.json /jobs/1/id", "`a` occurs twice")),
    jobs("same-output", 3, JOB, {**JOB, "id": "b"}, says=("b.json /jobs/1/output", "what job `a` writes")),
    jobs("output-is-a-source", 3, {**JOB, "output": "rows.jsonl"}, says=("b.json /jobs/0/output", "reads")),
    jobs("output-is-the-manifest", 3, {**JOB, "output": "b.json"}, says=("would replace the manifest itself",)),
    jobs("absolute-path", 3, {**JOB, "output": "/tmp/x"}, says=("b.json /jobs/0/output", "a relative path")),
    jobs(
        "leaves-the-repository", 3, {**JOB, "output": "../x"}, says=("b.json /jobs/0/output", "leaves the repository")
    ),
    jobs("bad-digest", 3, {**JOB, "expectedSourceSha256": {"rows": "abc"}}, says=("/expectedSourceSha256/rows", "64")),
    jobs(
        "wrong-digest",
        1,
        {**JOB, "expectedSourceSha256": {"rows": "0" * 64}},
        says=("rows.jsonl", "0" * 64, "1 of 1 jobs failed"),
    ),
    jobs("wrong-count", 1, {**JOB, "expectedCaseCount": 2}, says=("expected 2, got 1",)),
    jobs("missing-source", 3, {**JOB, "sources": {"rows": "nowhere"}}, says=("a: failed", "nowhere: no such file")),
]


@pytest.mark.parametrize("bad", [*MODULES, *SOURCES, *OPTIONS], ids=lambda bad: bad.name)
def test_transform(bad: Bad, see_refused: Callable[[Bad], None]) -> None:
    see_refused(bad)


@pytest.mark.parametrize("bad", BATCHES, ids=lambda bad: bad.name)
def test_transform_batch(bad: Bad, see_refused: Callable[[Bad], None]) -> None:
    see_refused(bad)
