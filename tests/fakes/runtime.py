"""A runtime that runs Python functions in the place of authors' modules."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.survey import Survey
from trunchbuild.effects.runtime.api import (
    EvaluatorCall,
    EvaluatorOutcome,
    LoadedModule,
    Look,
    RuntimeVersions,
    SourceText,
    Transformed,
)
from trunchbuild.errors import Fault

Transform = Callable[[Mapping[str, SourceText]], list[Json]]


@dataclass
class FakeRuntime:
    """`exports` and `transforms` by entry path; a value may be an exception, which is then raised."""

    exports: Mapping[str, Json] = field(default_factory=dict)
    functions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    transforms: Mapping[str, Transform | Exception] = field(default_factory=dict)
    loads: list[list[str]] = field(default_factory=list)
    """The entries of each call of `load`."""
    outputs: list[Transformed] = field(default_factory=list)

    def strip(self, sources: Mapping[str, str]) -> Mapping[str, str | Fault]:
        return dict(sources)

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        return {path: Survey(text, exports=frozenset({"default"})) for path, text in sources.items()}

    def load(self, graphs: Iterable[ModuleGraph]) -> list[LoadedModule]:
        entries = [graph.entry for graph in graphs]
        self.loads.append(entries)
        return [LoadedModule(self.exports[entry], self.functions.get(entry, frozenset())) for entry in entries]

    def transform(self, graph: ModuleGraph, sources: Mapping[str, SourceText], look: Look | None = None) -> Transformed:
        made = self.transforms[graph.entry]
        if isinstance(made, Exception):
            raise made
        cases = made(sources)
        lines = b"".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for case in cases)
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the receiver closes it
        file.write(lines)
        file.seek(0)
        output = Transformed(f"fake {graph.entry}", len(cases), hashlib.sha256(lines).hexdigest(), file)
        self.outputs.append(output)
        if look is not None:
            try:
                look(file)
            except Exception:
                file.close()
                raise
            file.seek(0)
        return output

    def evaluate(self, graph: ModuleGraph, member: str, calls: Iterable[EvaluatorCall]) -> Iterator[EvaluatorOutcome]:
        raise NotImplementedError

    def versions(self) -> RuntimeVersions:
        return RuntimeVersions({"fake": "1"})
