"""Folders of transformers with what must come of each, run as `trunchbuild transform --unchecked` runs them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.effects.files._local import LocalFiles
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime.api import GuestLimitError, TransformDiffersError
from trunchbuild.effects.schemas._package import PackageSchemas
from trunchbuild.errors import TrunchbuildError
from trunchbuild.flows.transform_files import TransformRequest, TransformTools, exported, write_or_compare


def corpus_entries(index: Path, runtime: str) -> list[Any]:
    """The entries of an index for one runtime, as parameters of a test."""
    if not index.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="data not here"), id="corpus")]
    return [
        pytest.param(entry, id=entry["name"], marks=[pytest.mark.slow] if entry.get("heavy") else [])
        for entry in json.loads(index.read_text(encoding="utf-8"))["transformers"]
        if entry["runtime"] == runtime
    ]


def check_twins(entries: list[dict[str, Any]], corpus: Path) -> None:
    """Every folder has an entry, every name one; what is refused names an accepted one that is like it."""
    classes = {entry["name"]: entry["expect"]["class"] for entry in entries}
    assert len(classes) == len(entries)
    assert {path.name for path in corpus.iterdir() if path.is_dir()} == {entry["dir"] for entry in entries}
    for entry in entries:
        if entry["expect"]["class"] != "accepted":
            assert classes[entry["twin"]] == "accepted", entry["name"]


def check_corpus_entry(entry: dict[str, Any], corpus: Path, folder: Path, runtime: ModuleRuntime) -> None:
    """What is never right: accepted where it is not listed, or a crash."""
    expected = entry["expect"]
    root = _copied(entry, corpus, folder)
    output, error = _tried(entry, root, runtime)
    if error is not None:
        found = _class(error)
        told = " ".join([str(error), *(f"{fault} {fault.hint}" for fault in error.faults)])
        assert expected.get("detail", "") in told
        assert error.faults
        assert all(fault.place for fault in error.faults)
        assert not (root / "out.jsonl").exists()
    else:
        found = "accepted"
        cases = [json.loads(line) for line in output.removesuffix("\n").split("\n")]
        assert cases == expected.get("output", cases)
        assert output == expected.get("output_text", output)
        assert len(cases) == expected.get("count", len(cases))
    assert found in {expected["class"], *(expected.get("also") or ())}


def _tried(entry: dict[str, Any], root: Path, runtime: ModuleRuntime) -> tuple[str, TrunchbuildError | None]:
    try:
        return _exported(entry, root, runtime), None
    except TrunchbuildError as error:
        return "", error


def _copied(entry: dict[str, Any], corpus: Path, folder: Path) -> Path:
    root = folder / "outer" / "repository"
    shutil.copytree(corpus / entry["dir"], root)
    for link, target in entry.get("symlinks", {}).items():
        path = root / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    for outside, text in entry.get("outside", {}).items():
        (root / outside).resolve().write_text(text, encoding="utf-8")
    return root


def _exported(entry: dict[str, Any], root: Path, runtime: ModuleRuntime) -> str:
    files = LocalFiles()
    request = TransformRequest(
        root=root,
        base=root,
        transformer=root / entry["entry"],
        sources={name: root / path for name, path in entry["sources"].items()},
        output=root / "out.jsonl",
        form="jsonl",
        with_receipt=False,
        checked=False,
    )
    with exported(request, TransformTools(files, PlainFolders(), runtime, PackageSchemas())) as export:
        write_or_compare(export.files, files, root, check=False)
    return (root / "out.jsonl").read_bytes().decode("utf-8")


def _class(error: TrunchbuildError) -> str:
    kinds = [(TransformDiffersError, "nondeterministic"), (ModuleRefusedError, "policy"), (GuestLimitError, "limit")]
    return next((name for kind, name in kinds if isinstance(error, kind)), "invalid")
