"""The JavaScript half of the transformer corpus: every folder gets the class that its index expects."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.modules import real_runtime
from tests.support.shared_data import CHECKOUT
from trunchbuild.core.confinement import Limits
from trunchbuild.core.modules import ModuleRefusedError
from trunchbuild.effects.folder._plain import PlainFolders
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime.api import GuestLimitError, SourceText, TransformDiffersError
from trunchbuild.errors import BadInputError, TrunchbuildError
from trunchbuild.flows.modules import load_graph

CORPUS = Path(os.environ.get("TRUNCHBUILD_TEST_DATA") or CHECKOUT.parent / "shared" / "data").parent / "corpus"
INDEX = CORPUS / "transformers" / "index.json"
LIMITS = Limits(wall_seconds=20.0, cpu_seconds=2, output_bytes=16 << 20)


def _entries() -> list[Any]:
    if not INDEX.is_file():
        return [pytest.param(None, marks=pytest.mark.skip(reason="data not here"), id="corpus")]
    entries = json.loads(INDEX.read_text(encoding="utf-8"))["transformers"]
    return [
        pytest.param(entry, id=entry["name"], marks=[pytest.mark.slow] if entry.get("heavy") else [])
        for entry in entries
        if entry["runtime"] == "js"
    ]


@pytest.fixture(scope="module")
def runtime() -> ModuleRuntime:
    return real_runtime(limits=LIMITS)


def _copied(entry: dict[str, Any], folder: Path) -> Path:
    root = folder / "outer" / "repository"
    shutil.copytree(INDEX.parent / entry["dir"], root)
    for link, target in entry.get("symlinks", {}).items():
        path = root / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
    for outside, text in entry.get("outside", {}).items():
        (root / outside).resolve().write_text(text, encoding="utf-8")
    return root


def _run(entry: dict[str, Any], root: Path, runtime: ModuleRuntime) -> bytes:
    tree = PlainFolders().open(root)
    sources = {}
    for name, path in entry["sources"].items():
        data = tree.read(path)
        try:
            sources[name] = SourceText(path, data.decode("utf-8"), hashlib.sha256(data).hexdigest())
        except UnicodeDecodeError as error:
            raise BadInputError(f"not UTF-8 at byte {error.start}", place=path) from None
    done = runtime.transform(load_graph(tree, entry["entry"], runtime), sources)
    with done.jsonl as file:
        return file.read()


def _class(error: TrunchbuildError) -> str:
    kinds = [(TransformDiffersError, "nondeterministic"), (ModuleRefusedError, "policy"), (GuestLimitError, "limit")]
    return next((name for kind, name in kinds if isinstance(error, kind)), "invalid")


@pytest.mark.parametrize("entry", _entries())
def test_every_folder_gets_its_class(entry: dict[str, Any], runtime: ModuleRuntime, tmp_path: Path) -> None:
    """R01, R03 among them. What is never right: accepted where it is not listed, or a crash."""
    expected = entry["expect"]
    root = _copied(entry, tmp_path)
    output, error = _tried(entry, root, runtime)
    if error is None:
        cases = [json.loads(line) for line in output.splitlines()]
        assert cases == expected.get("output", cases)
        assert output.decode() == expected.get("output_text", output.decode())
        assert len(cases) == expected.get("count", len(cases))
    else:
        assert expected.get("detail", "") in " ".join([str(error), *map(str, error.faults)])
    found = "accepted" if error is None else _class(error)
    assert found in {expected["class"], *(expected.get("also") or ())}


def _tried(entry: dict[str, Any], root: Path, runtime: ModuleRuntime) -> tuple[bytes, TrunchbuildError | None]:
    try:
        return _run(entry, root, runtime), None
    except TrunchbuildError as error:
        return b"", error
