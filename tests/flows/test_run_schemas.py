"""The files of runs follow their published schemas, by the jsonschema library; and readers refuse what those refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.fakes.endpoints import FakeEndpoints
from tests.flows.test_evaluate import STATUS_TABLE, prompt
from tests.support.runs import bench, doors, grade_doors, jsonl, one_eval, sum_case
from trunchbuild.core.ids import CaseId
from trunchbuild.core.replies import Failure, Reply, Step, ToolCall
from trunchbuild.core.results import read_results
from trunchbuild.core.run_spec import RequestSettings, read_run_spec
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import BadInputError
from trunchbuild.flows.evaluate import evaluate
from trunchbuild.flows.import_replies import ImportOrder, import_replies

ODD: Mapping[int, Step] = {
    10: Reply(None, tool_calls=(ToolCall("f", "{}", "c1"), ToolCall("g", "")), finish_reason="tool_calls"),
    11: Failure("transport", "timed out"),
}


def valid(name: str, document: object) -> bool:
    schema = PackageSchemas().read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema).is_valid(document)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Everything that two runs write: one with every status and every setting, one of imported replies."""
    folder = tmp_path_factory.mktemp("schemas")
    cases = [sum_case(number) for number in range(12)] + [sum_case(12, sandbox={"required": True})]
    b = bench(folder, one_eval(cases))
    request = RequestSettings(0.5, 0.9, 7, 100, "max_completion_tokens", "low")
    ids = tuple(CaseId("sums", f"q{number}") for number in range(13))
    spec = b.spec(cases=ids, limit=13, model_sha256="ab" * 32, request=request)
    answer = FakeEndpoints(lambda body: {**{n: s for n, (s, _) in STATUS_TABLE.items()}, **ODD}[prompt(body)])
    made = evaluate(b.release, b.options(spec, min_coverage=0.3), doors(answer)).folder
    source = folder / "r.jsonl"
    source.write_text('{"id": "q0", "response": "1"}\n')
    order = ImportOrder(source, folder / "imported", (), None, None, 0.8, {})
    import_replies(b.release, order, grade_doors())
    found: dict[str, list[dict[str, Any]]] = {"run": [], "summary": [], "results-line": [], "replies-line": []}
    for run in (made, folder / "imported"):
        found["run"].append(json.loads((run / "run.json").read_text()))
        found["summary"].append(json.loads((run / "summary.json").read_text()))
        found["results-line"] += jsonl(run / "results.jsonl")
        found["replies-line"] += jsonl(run / "replies.jsonl")
    return found


@pytest.mark.parametrize("name", ["run", "summary", "results-line", "replies-line"])
def test_written_files_are_valid(files: dict[str, list[dict[str, Any]]], name: str) -> None:
    assert files[name]
    for document in files[name]:
        assert valid(name, document), document


@pytest.mark.parametrize("name", ["run", "summary", "results-line", "replies-line"])
def test_nothing_unknown_and_nothing_missing(files: dict[str, list[dict[str, Any]]], name: str) -> None:
    """The twin: one member more, or any required one less."""
    document = files[name][0]
    assert not valid(name, {**document, "surplus": 1})
    for member in PackageSchemas().read(name)["required"]:  # type: ignore[union-attr]
        assert not valid(name, {key: value for key, value in document.items() if key != member})


@pytest.mark.parametrize(
    "change",
    [{"status": "fine"}, {"repeat": -1}, {"reply_digest": "ab"}, {"passed": 1}, {"score": "1"}, {"status": "failed"}],
)
def test_strange_rows(files: dict[str, list[dict[str, Any]]], change: dict[str, Any]) -> None:
    """An unscored trial has no verdict."""
    assert not valid("results-line", {**files["results-line"][0], **change})


def test_reader_and_schema_refuse_alike(files: dict[str, list[dict[str, Any]]]) -> None:
    row = {**files["results-line"][0], "surplus": 1}
    with pytest.raises(BadInputError):
        list(read_results([json.dumps(row).encode()], "r"))
    spec = files["run"][0]["spec"]
    for change in ({"harness": 2}, {"replies": "imported", "extra": 1}, {"request": {}}):
        assert not valid("run", {**files["run"][0], "spec": {**spec, **change}})
        with pytest.raises(BadInputError):
            read_run_spec({**spec, **change}, "run.json")


def test_strict_json_everywhere(tmp_path: Path, files: dict[str, list[dict[str, Any]]]) -> None:
    """R21, R95: no NaN, no Infinity in any of them."""
    for documents in files.values():
        json.dumps(documents, allow_nan=False)
