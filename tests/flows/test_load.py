"""Loading a benchmark, its modules run by a fake runtime."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date

import pytest

from tests.fakes.runtime import FakeRuntime
from tests.fakes.trees import MemoryTree
from trunchbuild.core.benchmark import InvalidBenchmarkError
from trunchbuild.core.case_settings import Limits
from trunchbuild.core.cases import InvalidCasesError
from trunchbuild.core.config_choice import ConfigNotChosenError
from trunchbuild.core.json_types import Json
from trunchbuild.core.loaded import LoadedBenchmark
from trunchbuild.effects.runtime.api import SourceText, TransformDiffersError
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import BadInputError
from trunchbuild.flows.load import LintError, load_benchmark

SCHEMAS = PackageSchemas()
NON_EMPTY = {"kind": "non_empty"}
CONFIG = {"protocolVersion": 1, "title": "T", "version": "1.0.0", "license": "CC0-1.0", "evals": ["evals/a.mjs"]}
EVAL = {"id": "a", "title": "A", "cases": [{"id": "x", "prompt": "p"}], "evaluate": NON_EMPTY}


def rows(sources: Mapping[str, SourceText]) -> list[Json]:
    return [json.loads(line) for line in sources["rows"].content.split("\n") if line]


class Repo:
    """A repository whose modules' exports are given; their texts are empty."""

    def __init__(self, files: Mapping[str, str | bytes] | None = None, **modules: Json) -> None:
        self.exports: dict[str, Json] = {"benchmark.config.mjs": CONFIG, "evals/a.mjs": EVAL}
        self.functions: dict[str, frozenset[str]] = {}
        self.tree = MemoryTree({"benchmark.config.mjs": "", "evals/a.mjs": "", **(files or {})})
        self.runtime = FakeRuntime(exports=self.exports, functions=self.functions, transforms={"t.mjs": rows})

    def load(self, config: str | None = None, **options: object) -> LoadedBenchmark:
        with load_benchmark(self.tree, config, self.runtime, SCHEMAS, **options) as loaded:  # type: ignore[arg-type]
            self.lines = {item.id: list(item.cases) for item in loaded.evals}
            return loaded


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_inline_cases_become_two_lines_each() -> None:
    repo = Repo()
    loaded = repo.load()
    assert (loaded.config_path, loaded.facts.title, [item.form for item in loaded.evals]) == (
        "benchmark.config.mjs",
        "T",
        ["inline"],
    )
    [case] = repo.lines["a"]
    assert case.public == b'{"eval":"a","id":"x","prompt":"p"}'
    assert case.private == b'{"eval":"a","evaluate":{"kind":"non_empty@1"},"id":"x"}'
    assert case.kind == "non_empty@1"


def test_evals_are_loaded_in_one_run() -> None:
    repo = Repo({"evals/b.mjs": ""})
    repo.exports["benchmark.config.mjs"] = {**CONFIG, "evals": ["evals/a.mjs", "evals/b.mjs"]}
    repo.exports["evals/b.mjs"] = {**EVAL, "id": "b"}
    repo.load()
    assert repo.runtime.loads == [["benchmark.config.mjs"], ["evals/a.mjs", "evals/b.mjs"]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data/c.jsonl", '\ufeff{"id":"x","prompt":"p\u2028q"}\r\n\n{"id":"y","prompt":"r"}'),
        ("data/c.json", '\ufeff[{"id":"x","prompt":"p\u2028q"},{"id":"y","prompt":"r"}]'),
    ],
)
def test_cases_of_a_file(name: str, content: str) -> None:
    """R11, R13: records end at LF only; one leading BOM is dropped."""
    repo = Repo({name: content})
    repo.exports["evals/a.mjs"] = {**EVAL, "cases": f"../{name}"}
    [item] = repo.load().evals
    assert item.case_file is not None
    assert (item.form, item.case_file.path, item.case_file.sha256) == ("file", name, sha256(content))
    assert item.case_file.bytes == len(content.encode())
    assert [json.loads(case.public)["prompt"] for case in repo.lines["a"]] == ["p\u2028q", "r"]


def test_a_broken_second_line_is_named_and_nothing_else_is_tried() -> None:
    """R27."""
    repo = Repo({"data/c.jsonl": '{"id":"a","prompt":"p"}\n{\'id\':\'b\'}\n'})
    repo.exports["evals/a.mjs"] = {**EVAL, "cases": "../data/c.jsonl"}
    with pytest.raises(BadInputError) as raised:
        repo.load()
    assert raised.value.faults[0].place.startswith("data/c.jsonl:2:")


def test_cases_of_a_transformer_with_its_record() -> None:
    text = '{"id":"b","prompt":"p","evaluate":{"kind":"exact","expected":"1"}}\n{"id":"a","prompt":"q"}\n'
    repo = Repo({"t.mjs": "export default 1\n", "data/rows.jsonl": text})
    repo.exports["evals/a.mjs"] = {
        **EVAL,
        "cases": {"transformer": "../t.mjs", "sources": {"rows": "../data/rows.jsonl"}},
    }
    [item] = repo.load().evals
    made = item.transformer
    assert made is not None
    assert (made.name, made.path) == ("fake t.mjs", "t.mjs")
    assert [(m.path, m.sha256, m.bytes) for m in made.modules] == [("t.mjs", sha256("export default 1\n"), 17)]
    assert [(s.name, s.file.path, s.file.sha256, s.file.bytes) for s in made.sources] == [
        ("rows", "data/rows.jsonl", sha256(text), len(text))
    ]
    assert [case.kind for case in repo.lines["a"]] == ["exact@1", "non_empty@1"]
    assert {"t.mjs", "data/rows.jsonl"} <= set(repo.tree.prefetched)


def test_output_files_are_closed_whatever_happens() -> None:
    repo = Repo({"t.mjs": "", "data/rows.jsonl": '{"id":"a"}\n'})
    repo.exports["evals/a.mjs"] = {
        **EVAL,
        "cases": {"transformer": "../t.mjs", "sources": {"rows": "../data/rows.jsonl"}},
    }
    with pytest.raises(InvalidCasesError):
        repo.load()
    assert [output.jsonl.closed for output in repo.runtime.outputs] == [True]


def test_faults_of_all_evals_are_listed_with_their_places() -> None:
    repo = Repo({"evals/b.mjs": "", "data/c.jsonl": '{"id":"ok","prompt":"p"}\n{"id":"y","prompt":"","evalaute":1}\n'})
    repo.exports["benchmark.config.mjs"] = {**CONFIG, "evals": ["evals/a.mjs", "evals/b.mjs"]}
    repo.exports["evals/a.mjs"] = {**EVAL, "cases": [{"id": "x", "prompt": 1}]}
    repo.exports["evals/b.mjs"] = {**EVAL, "id": "b", "cases": "../data/c.jsonl"}
    with pytest.raises(BadInputError) as raised:
        repo.load()
    places = [fault.place for fault in raised.value.faults]
    assert places[0] == "evals/a.mjs /cases/0 case x /prompt"
    assert {place.split(" ")[0] for place in places[1:]} == {"data/c.jsonl:2"}
    assert "did you mean `evaluate`?" in [fault.hint for fault in raised.value.faults]


def test_limits_and_prompts_of_the_config_fill_what_an_eval_leaves_open() -> None:
    repo = Repo()
    defaults = {"limits": {"maxSteps": 4, "maxOutputTokens": 64}, "systemPrompt": "Be brief."}
    repo.exports["benchmark.config.mjs"] = {**CONFIG, "defaults": defaults}
    repo.exports["evals/a.mjs"] = {**EVAL, "limits": {"maxSteps": 1}}
    [item] = repo.load().evals
    assert (item.limits, item.system_prompt) == (Limits(1, None, 64), "Be brief.")


@pytest.mark.parametrize(
    ("functions", "member"), [({""}, "default"), ({"/evaluate"}, "default.evaluate"), ({"/other"}, None)]
)
def test_the_function_behind_a_custom_evaluator(functions: set[str], member: str | None) -> None:
    repo = Repo({"evaluators/x.mjs": ""})
    custom = {"kind": "custom", "evaluatorKey": "evaluators/x.mjs#default", "sourcePath": "evaluators/x.mjs"}
    repo.exports["evals/a.mjs"] = {**EVAL, "evaluate": custom}
    repo.exports["evaluators/x.mjs"] = {}
    repo.functions["evaluators/x.mjs"] = frozenset(functions)
    if member is None:
        with pytest.raises(InvalidBenchmarkError, match="no evaluator by that name"):
            repo.load()
        return
    [item] = repo.load().evals
    assert item.custom is not None
    assert (item.custom.module, item.custom.member, item.run_modules) == (
        "evaluators/x.mjs",
        member,
        ("evaluators/x.mjs",),
    )
    assert [case.kind for case in repo.lines["a"]] == ["custom"]


def test_a_function_of_the_eval_module_takes_that_module_along() -> None:
    repo = Repo()
    repo.functions["evals/a.mjs"] = frozenset({"/evaluate"})
    repo.exports["evals/a.mjs"] = {**EVAL, "evaluate": None}
    [item] = repo.load().evals
    assert item.custom is not None
    assert (item.custom.member, item.run_modules) == ("default.evaluate", ("evals/a.mjs",))


def test_tools_are_described_by_their_modules() -> None:
    repo = Repo({"tools/add.mjs": ""})
    inline = {"description": "Looks up.", "inputSchema": {"type": "object"}}
    repo.exports["evals/a.mjs"] = {**EVAL, "tools": {"add": "../tools/add.mjs", "look": inline}}
    repo.exports["tools/add.mjs"] = {"description": "Adds.", "inputSchema": {"type": "object"}, "execute": None}
    repo.functions["tools/add.mjs"] = frozenset({"/execute"})
    [item] = repo.load().evals
    assert item.tools is not None
    assert {name: (tool.description, tool.module) for name, tool in item.tools.items()} == {
        "add": ("Adds.", "tools/add.mjs"),
        "look": ("Looks up.", None),
    }
    assert item.run_modules == ("tools/add.mjs",)
    repo.functions["tools/add.mjs"] = frozenset()
    with pytest.raises(InvalidBenchmarkError, match="execute"):
        repo.load()


@pytest.mark.parametrize(
    ("files", "named", "words"),
    [
        ({"benchmark.config.ts": ""}, None, "benchmark.config.ts, benchmark.config.mjs"),
        ({}, "other/benchmark.config.ts", "no such config"),
        ({}, "../benchmark.config.ts", "leaves the repository"),
        ({}, "evals/a.txt", "a config is a module or a JSON file"),
    ],
)
def test_which_config(files: dict[str, str], named: str | None, words: str) -> None:
    with pytest.raises(BadInputError if named else ConfigNotChosenError, match=words):
        Repo(files).load(named)


def test_configs_below_the_root_are_listed() -> None:
    tree = MemoryTree({"benchmarks/x/benchmark.config.ts": "", "benchmarks/y/benchmark.config.json": ""})
    with (
        pytest.raises(
            ConfigNotChosenError,
            match=re.escape("benchmarks/x/benchmark.config.ts, benchmarks/y/benchmark.config.json"),
        ),
        load_benchmark(tree, None, FakeRuntime(), SCHEMAS),
    ):
        pass
    with (
        pytest.raises(BadInputError, match="no benchmark config"),
        load_benchmark(MemoryTree({"README.md": ""}), None, FakeRuntime(), SCHEMAS),
    ):
        pass


def test_a_json_config_is_read_strictly_and_runs_nothing() -> None:
    repo = Repo({"b/benchmark.config.json": json.dumps({**CONFIG, "evals": ["../evals/a.mjs"]})})
    assert repo.load("b/benchmark.config.json").config_path == "b/benchmark.config.json"
    assert repo.runtime.loads == [["evals/a.mjs"]]
    repo.tree.files["b/benchmark.config.json"] = b'{"protocolVersion":1,"protocolVersion":1}'
    with pytest.raises(BadInputError, match="protocolVersion"):
        repo.load("b/benchmark.config.json")


def test_lint_warns_and_strict_refuses() -> None:
    repo = Repo()
    repo.exports["benchmark.config.mjs"] = {**CONFIG, "license": "CC0-1.0"}
    repo.exports["evals/a.mjs"] = {
        **EVAL,
        "cases": [{"id": "x", "prompt": "Say 42.", "evaluate": {"kind": "exact", "expected": "42"}}],
    }
    assert repo.load().warnings == ()
    [warning] = repo.load(today=date(2020, 1, 1)).warnings
    assert "an expected answer stands in the prompt" in warning
    with pytest.raises(LintError, match="expected answer"):
        repo.load(today=date(2020, 1, 1), strict=True)


def test_a_difference_between_runs_is_not_held_back() -> None:
    repo = Repo({"t.mjs": "", "evals/b.mjs": "", "data/rows.jsonl": ""})
    repo.runtime.transforms = {"t.mjs": TransformDiffersError("differs")}
    repo.exports["benchmark.config.mjs"] = {**CONFIG, "evals": ["evals/b.mjs", "evals/a.mjs"]}
    repo.exports["evals/b.mjs"] = {**EVAL, "id": "b", "cases": [{"id": "x"}]}
    repo.exports["evals/a.mjs"] = {
        **EVAL,
        "cases": {"transformer": "../t.mjs", "sources": {"rows": "../data/rows.jsonl"}},
    }
    with pytest.raises(TransformDiffersError):
        repo.load()


def test_a_source_that_is_not_utf8_is_named_by_its_byte_offset() -> None:
    repo = Repo({"t.mjs": "", "data/rows.jsonl": b'{"id":"a"}\n{"id":"\xe9"}\n'})
    repo.exports["evals/a.mjs"] = {
        **EVAL,
        "cases": {"transformer": "../t.mjs", "sources": {"rows": "../data/rows.jsonl"}},
    }
    with pytest.raises(BadInputError) as raised:
        repo.load()
    [fault] = raised.value.faults
    assert (fault.place, fault.message) == ("data/rows.jsonl", "source `rows` is not UTF-8 at byte offset 18")
    assert fault.got == "byte 0xe9 in line 2"
