"""The runtime of both languages: dispatches by a graph's language."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Self

from trunchbuild.core.confinement import Limits, Sandbox
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.survey import Survey
from trunchbuild.effects.runtime._node import NodeRuntime
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorOutcome,
    LoadedModule,
    Look,
    RuntimeVersions,
    SourceText,
    Transformed,
)
from trunchbuild.errors import BadInputError, Fault


class ModuleRuntime:
    """Implements `Runtime`."""

    def __init__(
        self, sandbox: Sandbox, cache: Path | None, limits: Limits | None = None, *, elsewhere: bool = False
    ) -> None:
        """`cache` is a folder for what reading modules gave; without `limits` each language has its own.

        `elsewhere` runs JavaScript under another locale and time zone; Python's guests see neither.
        """
        self._sandbox = sandbox
        self._limits = limits
        self._node = NodeRuntime(sandbox, cache, limits, elsewhere=elsewhere)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing outlives a call."""

    def strip(self, sources: Mapping[str, str]) -> Mapping[str, str | Fault]:
        """See `Runtime`."""
        return self._node.strip(sources)

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        """See `Runtime`."""
        return self._node.survey(sources)

    def load(self, graphs: Iterable[ModuleGraph]) -> list[LoadedModule]:
        """See `Runtime`."""
        return self._node.load([_javascript(graph) for graph in graphs])

    def transform(self, graph: ModuleGraph, sources: Mapping[str, SourceText], look: Look | None = None) -> Transformed:
        """See `Runtime`."""
        if graph.language == "python":
            from trunchbuild.effects.runtime._python import transform_python  # noqa: PLC0415 - most are JavaScript

            return transform_python(self._sandbox, graph, sources, self._limits, look)
        return self._node.transform(graph, sources, look)

    def evaluate(self, graph: ModuleGraph, member: str, calls: Iterable[EvaluatorCall]) -> Iterator[EvaluatorOutcome]:
        """See `Runtime`."""
        return self._node.evaluate(_javascript(graph), member, calls)

    def versions(self) -> RuntimeVersions:
        """See `Runtime`."""
        from trunchbuild.effects.runtime._python import python_versions  # noqa: PLC0415 - asked once, for a release

        return RuntimeVersions({**self._node.versions().versions, **python_versions()})


def _javascript(graph: ModuleGraph) -> ModuleGraph:
    if graph.language != "javascript":
        raise BadInputError(
            "only transformers may be written in Python",
            place=graph.entry,
            expected="a JavaScript or TypeScript module for a config, an eval, a tool or an evaluator",
        )
    return graph
