"""Exports of files on disk, the transformer run by a fake runtime."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakes.runtime import FakeRuntime
from trunchbuild.core.cases import InvalidCasesError
from trunchbuild.core.json_types import Json
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.effects.runtime.api import SourceText
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import BadInputError, UsageError
from trunchbuild.flows.transform_files import (
    ExpectationError,
    Expectations,
    NotAsOnDiskError,
    TransformRequest,
    TransformTools,
    exported,
    root_of,
    write_or_compare,
)

ROWS = '{"id":"é","n":1}\n{"id":"b","n":2}\n'


def cases(sources: Mapping[str, SourceText]) -> list[Json]:
    return [{"id": json.loads(line)["id"], "prompt": "p"} for line in sources["rows"].content.split("\n") if line]


@pytest.fixture
def tools() -> TransformTools:
    runtime = FakeRuntime(transforms={"t.mjs": cases, "sub/t.mjs": cases})
    return TransformTools(LocalFiles(), PlainFolders(), runtime, PackageSchemas())


@pytest.fixture
def request_(tmp_path: Path) -> TransformRequest:
    (tmp_path / "t.mjs").write_text("export default 1\n")
    (tmp_path / "rows.jsonl").write_text(ROWS)
    return TransformRequest(
        root=tmp_path,
        base=tmp_path,
        transformer=tmp_path / "t.mjs",
        sources={"rows": tmp_path / "rows.jsonl"},
        output=tmp_path / "out" / "cases.jsonl",
        form="jsonl",
    )


def run(request: TransformRequest, tools: TransformTools, *, check: bool = False) -> None:
    with exported(request, tools) as export:
        write_or_compare(export.files, tools.files, request.base, check=check)


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_jsonl_and_receipt(request_: TransformRequest, tools: TransformTools, tmp_path: Path) -> None:
    run(request_, tools)
    jsonl = '{"id":"é","prompt":"p"}\n{"id":"b","prompt":"p"}\n'
    assert (tmp_path / "out/cases.jsonl").read_text() == jsonl
    receipt = {
        "protocolVersion": 1,
        "transformer": {"name": "fake t.mjs", "path": "t.mjs", "sha256": _sha256(tmp_path / "t.mjs")},
        "sources": {"rows": {"path": "rows.jsonl", "sha256": _sha256(tmp_path / "rows.jsonl"), "bytes": 35}},
        "caseCount": 2,
        "output": {"path": "out/cases.jsonl", "format": "jsonl", "sha256": _sha256(tmp_path / "out/cases.jsonl")},
    }
    assert (tmp_path / "out/cases.jsonl.manifest.json").read_text() == json.dumps(receipt, indent=2) + "\n"


def test_sources_come_in_the_declared_order_and_are_listed_by_name(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path
) -> None:
    for name in ("zeta", "alpha", "mu"):
        (tmp_path / name).write_text(name)
    declared = {name: tmp_path / name for name in ("zeta", "alpha", "mu")}
    tools.runtime.transforms = {"t.mjs": lambda sources: [{"id": name, "prompt": "p"} for name in sources]}  # type: ignore[attr-defined]
    run(replace(request_, sources=declared), tools)
    lines = request_.output.read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["zeta", "alpha", "mu"]
    receipt = json.loads((tmp_path / "out" / "cases.jsonl.manifest.json").read_text())
    assert list(receipt["sources"]) == ["alpha", "mu", "zeta"]
    run(replace(request_, sources=dict(reversed(declared.items()))), tools)
    assert json.loads(request_.output.read_text().splitlines()[0])["id"] == "mu"


def _sha256(path: Path) -> str:
    """By the standard tool."""
    return subprocess.run(["sha256sum", path], capture_output=True, check=True, text=True).stdout.split()[0]


def test_json_is_an_indented_array(request_: TransformRequest, tools: TransformTools, tmp_path: Path) -> None:
    run(replace(request_, form="json", with_receipt=False), tools)
    array = [{"id": "é", "prompt": "p"}, {"id": "b", "prompt": "p"}]
    assert (tmp_path / "out/cases.jsonl").read_text() == json.dumps(array, ensure_ascii=False, indent=2) + "\n"
    assert left(tmp_path) == ["out/cases.jsonl", "rows.jsonl", "t.mjs"]


def test_paths_are_relative_to_the_current_folder(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path
) -> None:
    run(replace(request_, base=tmp_path / "sub"), tools)
    receipt = json.loads((tmp_path / "out/cases.jsonl.manifest.json").read_text())
    assert (receipt["transformer"]["path"], receipt["sources"]["rows"]["path"], receipt["output"]["path"]) == (
        "../t.mjs",
        "../rows.jsonl",
        "../out/cases.jsonl",
    )


def test_check_compares_and_writes_nothing(request_: TransformRequest, tools: TransformTools, tmp_path: Path) -> None:
    with pytest.raises(NotAsOnDiskError) as raised:
        run(request_, tools, check=True)
    assert [fault.place for fault in raised.value.faults] == ["out/cases.jsonl", "out/cases.jsonl.manifest.json"]
    assert left(tmp_path) == ["rows.jsonl", "t.mjs"]
    run(request_, tools)
    run(request_, tools, check=True)
    (tmp_path / "out/cases.jsonl").write_text('{"id":"é","prompt":"p"}\n{"id":"c","prompt":"p"}\n')
    with pytest.raises(NotAsOnDiskError) as raised:
        run(request_, tools, check=True)
    assert [fault.place for fault in raised.value.faults] == ["out/cases.jsonl:2"]


def test_invalid_cases_write_nothing_unless_unchecked(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path
) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id":"a"}\n{"id":"a"}\n{"id":" b"}\n')
    with pytest.raises(InvalidCasesError) as raised:
        run(request_, tools)
    assert [fault.place for fault in raised.value.faults] == ["t.mjs /1 case a /id", "t.mjs /2 case  b /id"]
    assert left(tmp_path) == ["rows.jsonl", "t.mjs"]
    run(replace(request_, checked=False), tools)
    assert (tmp_path / "out/cases.jsonl").read_text().count('"id":"a"') == 2


def test_a_source_outside_the_repository_may_be_named(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "t.mjs").write_text("")
    inner = replace(request_, root=tmp_path / "sub", base=tmp_path / "sub", transformer=tmp_path / "sub" / "t.mjs")
    tools.runtime.transforms = {"t.mjs": lambda sources: [{"id": sources["rows"].path, "prompt": "p"}]}  # type: ignore[attr-defined]
    run(inner, tools)
    assert '"id":"../rows.jsonl"' in (tmp_path / "out/cases.jsonl").read_text()


@pytest.mark.parametrize("output", ["t.mjs", "rows.jsonl"])
def test_an_export_never_replaces_what_it_is_made_from(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path, output: str
) -> None:
    with pytest.raises(UsageError, match="would replace"):
        run(replace(request_, output=tmp_path / output), tools)
    assert left(tmp_path) == ["rows.jsonl", "t.mjs"]


def test_a_receipt_never_replaces_a_source(request_: TransformRequest, tools: TransformTools, tmp_path: Path) -> None:
    source = tmp_path / "x.manifest.json"
    source.write_text(ROWS)
    request = replace(request_, sources={"rows": source}, output=tmp_path / "x")
    with pytest.raises(UsageError, match="would replace"):
        run(request, tools)
    run(replace(request, with_receipt=False), tools)
    assert source.read_text() == ROWS


def test_expectations(request_: TransformRequest, tools: TransformTools, tmp_path: Path) -> None:
    right = hashlib.sha256(ROWS.encode()).hexdigest()
    run(replace(request_, expected=Expectations(2, {"rows": right})), tools)
    (tmp_path / "out/cases.jsonl").unlink()
    with pytest.raises(ExpectationError) as raised:
        run(replace(request_, expected=Expectations(3)), tools)
    assert (raised.value.faults[0].expected, raised.value.faults[0].got) == ("3", "2")
    with pytest.raises(ExpectationError) as raised:
        run(replace(request_, expected=Expectations(2, {"rows": "0" * 64})), tools)
    assert (raised.value.faults[0].expected, raised.value.faults[0].got) == (f"SHA-256 {'0' * 64}", right)
    assert not (tmp_path / "out/cases.jsonl").exists()


def test_links_and_missing_sources_are_all_named(
    request_: TransformRequest, tools: TransformTools, tmp_path: Path
) -> None:
    """R110: links do not lead out of the tree."""
    (tmp_path / "link").symlink_to("/etc/hostname")
    (tmp_path / "folder").symlink_to("/etc")
    sources = {"a": tmp_path / "link", "b": tmp_path / "nowhere", "c": tmp_path / "folder" / "hostname"}
    with pytest.raises(BadInputError) as raised:
        run(replace(request_, sources=sources), tools)
    assert [fault.place for fault in raised.value.faults] == ["link", "nowhere", "folder/hostname"]
    assert not (tmp_path / "out").exists()


def test_the_root_is_the_repository_of_the_transformer(tmp_path: Path) -> None:
    files = LocalFiles()
    module = tmp_path / "a" / "b" / "t.mjs"
    module.parent.mkdir(parents=True)
    assert root_of(module, tmp_path, files) == tmp_path
    assert root_of(module, tmp_path / "elsewhere", files) == module.parent
    (tmp_path / "a" / "benchmark.config.ts").touch()
    assert root_of(module, tmp_path, files) == tmp_path / "a"
