"""Runs the author's modules: twice where a result must reproduce, always inside the sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import IO, Protocol

from trunchbuild.core.json_types import Json
from trunchbuild.core.modules import ModuleGraph
from trunchbuild.core.survey import Survey
from trunchbuild.errors import BadInputError, CheckedNoError, Fault


class GuestError(BadInputError):
    """The author's code threw, or returned what is no JSON; its place is the author's file, line and column."""

    slug = "guest-failed"


class GuestLimitError(GuestError):
    """The author's code was stopped at a limit: time, CPU, memory, output, or values in its result."""

    slug = "guest-limit"


class TransformDiffersError(CheckedNoError):
    """Two confined runs of one module gave different output; the faults say where and hint at causes."""

    slug = "transform-differs"


@dataclass(frozen=True, slots=True)
class SourceText:
    """One declared source as the transformer receives it."""

    path: str
    content: str
    sha256: str


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A module's default export as data."""

    value: Json
    """Functions stand as None."""
    functions: frozenset[str]
    """JSON pointers of the members that are functions (`/evaluate`)."""


@dataclass(frozen=True, slots=True)
class Transformed:
    """What both runs of a transformer gave, equal byte for byte."""

    name: str
    count: int
    sha256: str
    """Of the JSONL bytes: per case `JSON.stringify(case)` and LF."""
    jsonl: IO[bytes]
    """An unlinked temporary file with those bytes, positioned at its start. The receiver closes it."""


@dataclass(frozen=True, slots=True)
class EvaluatorCall:
    """One call of a custom evaluator."""

    case_id: str
    output: str
    case_data: Json
    tool_calls: Json = ()


@dataclass(frozen=True, slots=True)
class EvaluatorVerdict:
    """What a custom evaluator said, both times alike."""

    passed: bool
    score: float
    message: str | None
    details: Json = None


@dataclass(frozen=True, slots=True)
class EvaluatorFailure:
    """The evaluator threw, timed out, answered in a wrong shape or differed between its calls; never a score."""

    reason: str


EvaluatorOutcome = EvaluatorVerdict | EvaluatorFailure


@dataclass(frozen=True, slots=True)
class RuntimeVersions:
    """Recorded in provenance: Node, V8, ICU, Unicode and the guest Python; name -> version."""

    versions: Mapping[str, str] = field(default_factory=dict)


Look = Callable[[IO[bytes]], None]
"""Looks at JSON lines that one run gave, from their start, while another run is still at work."""


class Runtime(Protocol):
    """Untrusted modules, run. Use as a context manager: helpers start when first needed and die on exit."""

    def strip(self, sources: Mapping[str, str]) -> Mapping[str, str | Fault]:
        """Turn TypeScript into JavaScript with the same positions; path -> text, or the fault with its place."""
        ...

    def survey(self, sources: Mapping[str, str]) -> Mapping[str, Survey]:
        """Read JavaScript and TypeScript modules without running them; path -> what runs, imports, exports, findings.

        Cached by content: an unchanged module costs nothing the second time.
        """
        ...

    def load(self, graphs: Iterable[ModuleGraph]) -> list[LoadedModule]:
        """Evaluate each entry and return its default export; run twice and compared, like a transformer."""
        ...

    def transform(self, graph: ModuleGraph, sources: Mapping[str, SourceText], look: Look | None = None) -> Transformed:
        """Run the transformer in two processes under varied conditions.

        `look` is called with the first output before it is known whether the second equals it; what it raises is raised
        once both are known to be equal.

        Raises:
            TransformDiffersError: The runs gave different output; says which cases, fields, position, likely causes.
            GuestError: It threw, returned what is no JSON, or hit a limit; with file:line:column.
            ModuleRefusedError: It used what is refused; also where it caught the error.
        """
        ...

    def evaluate(self, graph: ModuleGraph, member: str, calls: Iterable[EvaluatorCall]) -> Iterator[EvaluatorOutcome]:
        """Grade in order. `member` names the export: `default`, `named`, or `default.evaluate` of an eval module.

        Each call is made twice (second pass in another process, in reverse order); no state passes between calls.
        """
        ...

    def versions(self) -> RuntimeVersions:
        """Versions of what runs the author's code."""
        ...


RuntimeContext = AbstractContextManager[Runtime]
