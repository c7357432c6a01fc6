"""A benchmark as it was read from one commit: what `flows/load.py` gives and `flows/compile.py` freezes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from trunchbuild.core.case_settings import NO_LIMITS, Limits, Tool

CaseForm = Literal["inline", "file", "transformer"]


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file of the repository by content."""

    path: str
    """Repository path."""
    sha256: str
    """Bare hex, of the raw bytes."""
    bytes: int


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """One named source of a transformer."""

    name: str
    file: FileRecord


@dataclass(frozen=True, slots=True)
class TransformerRecord:
    """The transformer that made an eval's cases."""

    name: str
    """As the module states it."""
    path: str
    """Repository path of its entry module."""
    modules: tuple[FileRecord, ...]
    """Every module it loads, the entry among them, sorted by path."""
    sources: tuple[SourceRecord, ...]
    """Sorted by name."""


@dataclass(frozen=True, slots=True)
class CaseLines:
    """One checked case as its two lines in a release, before sealing."""

    id: str
    public: bytes
    """RFC 8785 line of `cases.jsonl`, without LF; only the case's own values, `eval` and `id` among them."""
    private: bytes
    """RFC 8785 line of `private.jsonl`, without LF; the evaluator is resolved, with its number."""
    kind: str
    """Evaluator kind and number, `exact@1`."""


@dataclass(frozen=True, slots=True)
class BenchmarkFacts:
    """What the config says about the benchmark as a whole."""

    title: str
    version: str
    description: str | None = None
    license: str | None = None
    homepage: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CustomEvaluator:
    """The function of the repository that grades an eval's cases (those without a specification of their own)."""

    module: str
    """Repository path of the module that holds it."""
    member: str
    """Which export: `default`, a name, or `default.evaluate` for the function of an eval module."""


@dataclass(frozen=True, slots=True)
class LoadedEval:
    """One eval module, resolved: the config's defaults are merged in, every path is a repository path."""

    id: str
    title: str
    module: FileRecord
    """The eval module itself."""
    form: CaseForm
    cases: Iterable[CaseLines]
    """In the author's order; may be read only once."""
    description: str | None = None
    system_prompt: str | None = None
    limits: Limits = NO_LIMITS
    tools: Mapping[str, Tool] | None = None
    custom: CustomEvaluator | None = None
    case_file: FileRecord | None = None
    """For the form `file`."""
    transformer: TransformerRecord | None = None
    """For the form `transformer`."""
    run_modules: tuple[str, ...] = ()
    """Repository paths of every module a run loads for this eval: evaluator, tools and all that they import."""


@dataclass(frozen=True, slots=True)
class LoadedBenchmark:
    """A config and its evals, in the config's order."""

    protocol_version: int
    config_path: str
    facts: BenchmarkFacts
    evals: tuple[LoadedEval, ...]
    warnings: tuple[str, ...] = ()
    """Lint, one line each, for people; `--strict` makes them errors before this value exists."""
