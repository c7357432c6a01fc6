"""JavaScript modules run for real: confined, twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.trees import MemoryTree
from trunchbuild.core.confinement import Limits, Sandbox
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.effects.runtime._modules import ModuleRuntime
from trunchbuild.effects.runtime._python_layout import probe_request
from trunchbuild.effects.runtime.api import SourceText
from trunchbuild.effects.sandbox._bubblewrap import wheel_bubblewrap
from trunchbuild.effects.sandbox._confined import ConfinedSandbox
from trunchbuild.flows.modules import load_graph

LIMITS = Limits(wall_seconds=30.0, cpu_seconds=20)


def real_sandbox() -> Sandbox:
    """The sandbox that every machine with trunchbuild has."""
    return ConfinedSandbox([wheel_bubblewrap()], probe_request())


def real_runtime(cache: Path | None = None, limits: Limits = LIMITS) -> ModuleRuntime:
    """Node and Python in the real sandbox."""
    return ModuleRuntime(real_sandbox(), cache, limits)


def graph_of(runtime: ModuleRuntime, files: str | Mapping[str, str], entry: str = "t.ts") -> ModuleGraph:
    """The checked graph of modules given as text; a single text is the entry."""
    return load_graph(MemoryTree({entry: files} if isinstance(files, str) else files), entry, runtime)


def source(path: str, text: str) -> SourceText:
    """A source as a transformer gets it."""
    return SourceText(path, text, hashlib.sha256(text.encode()).hexdigest())


def transformed(
    runtime: ModuleRuntime,
    files: str | Mapping[str, str],
    sources: Mapping[str, SourceText] | None = None,
    entry: str = "t.ts",
) -> bytes:
    """The JSON lines that a transformer gives."""
    done = runtime.transform(graph_of(runtime, files, entry), sources or {})
    with done.jsonl as file:
        data = file.read()
    assert done.sha256 == hashlib.sha256(data).hexdigest()
    assert done.count == data.count(b"\n")
    return data


def returning(expression: str, head: str = "") -> str:
    """A transformer of one case whose member `v` is the expression; it stands in line 4 of the module."""
    lines = [
        "export default { name: 't', transform({ sources }) {",
        "  return [{ id: 'a',",
        f"    v: {expression} }}] }} }}",
    ]
    return "\n".join([head, *lines, ""])
