"""The shared corpus of small repositories, its Python half: each ends in the class that its index names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.trees import MemoryTree
from tests.support.shared_data import CHECKOUT
from trunchbuild.core.confinement import Limits, Sandbox
from trunchbuild.core.modules import ModuleBrokenError, ModuleRefusedError
from trunchbuild.core.resolve_python import load_python_graph
from trunchbuild.effects.runtime._python import transform_python
from trunchbuild.effects.runtime._python_layout import probe_request
from trunchbuild.effects.runtime.api import GuestError, GuestLimitError, SourceText, TransformDiffersError
from trunchbuild.effects.sandbox._bubblewrap import wheel_bubblewrap
from trunchbuild.effects.sandbox._confined import ConfinedSandbox
from trunchbuild.errors import TrunchbuildError

FOLDER = CHECKOUT.parent / "shared" / "corpus" / "transformers"

# The index allows more; less ends the endless ones sooner.
LIMITS = Limits(wall_seconds=2.5, cpu_seconds=2, address_space_bytes=512 << 20, output_bytes=16 << 20)

CLASSES: list[tuple[type[TrunchbuildError], str]] = [
    (ModuleRefusedError, "policy"),
    (TransformDiffersError, "nondeterministic"),
    (GuestLimitError, "limit"),
    (GuestError, "invalid"),
    (ModuleBrokenError, "invalid"),
]


def python_entries() -> list[dict[str, Any]]:
    index = FOLDER / "index.json"
    if not index.exists():
        return []
    lists = [part for part in json.loads(index.read_text(encoding="utf-8")).values() if isinstance(part, list)]
    return [entry for part in lists for entry in part if entry["runtime"] == "py"]


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    return ConfinedSandbox([wheel_bubblewrap()], probe_request())


def tree_of(folder: Path) -> MemoryTree:
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return MemoryTree(files)


def run(entry: dict[str, Any], sandbox: Sandbox) -> tuple[str, bytes, str]:
    """Class, output and message."""
    tree = tree_of(FOLDER / entry["dir"])
    sources = {}
    for name, path in entry["sources"].items():
        data = tree.read(path)
        sources[name] = SourceText(path, data.decode(), hashlib.sha256(data).hexdigest())
    try:
        done = transform_python(sandbox, load_python_graph(tree, entry["entry"]), sources, LIMITS)
    except TrunchbuildError as error:
        return next(name for kind, name in CLASSES if isinstance(error, kind)), b"", str(error)
    with done.jsonl as file:
        return "accepted", file.read(), ""


@pytest.mark.skipif(not python_entries(), reason="corpus not here")
@pytest.mark.parametrize("entry", python_entries(), ids=lambda entry: str(entry["name"]))
def test_corpus(entry: dict[str, Any], sandbox: Sandbox) -> None:
    expected = entry["expect"]
    kind, output, message = run(entry, sandbox)
    assert kind in (expected["class"], *expected.get("also", ())), message
    assert expected.get("detail", "") in message
    if kind == "accepted":
        if "output" in expected:
            assert [json.loads(line) for line in output.splitlines()] == expected["output"]
        assert output.decode() == expected.get("output_text", output.decode())
