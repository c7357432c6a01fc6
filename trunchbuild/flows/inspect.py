"""`trunchbuild inspect`: what would be compiled, with lint; nothing is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.loaded import BenchmarkFacts, FileRecord, LoadedEval
from trunchbuild.core.tree import SourceTree
from trunchbuild.effects.runtime.api import Runtime
from trunchbuild.effects.schemas.api import Schemas
from trunchbuild.errors import Fault
from trunchbuild.flows.load import LintError, load_benchmark
from trunchbuild.flows.portability import portability_faults


@dataclass(frozen=True, slots=True)
class InspectedEval:
    """One eval, and what its cases are."""

    eval: LoadedEval
    kinds: Mapping[str, int]
    """Evaluator kind and number -> how many cases it grades."""

    @property
    def case_count(self) -> int:
        """How many cases there are."""
        return sum(self.kinds.values())

    def json(self) -> JsonObject:
        """For `--json`."""
        loaded = self.eval
        value: dict[str, Json] = {
            "id": loaded.id,
            "title": loaded.title,
            "module": _file(loaded.module),
            "cases": loaded.form,
            "caseCount": self.case_count,
            "evaluators": dict(self.kinds),
            "tools": sorted(loaded.tools or {}),
            "runModules": list(loaded.run_modules),
        }
        if loaded.case_file is not None:
            value["caseFile"] = _file(loaded.case_file)
        if loaded.transformer is not None:
            made = loaded.transformer
            value["transformer"] = {
                "name": made.name,
                "path": made.path,
                "modules": [_file(module) for module in made.modules],
                "sources": {source.name: _file(source.file) for source in made.sources},
            }
        return value


@dataclass(frozen=True, slots=True)
class Inspection:
    """A benchmark as it would be compiled."""

    config_path: str
    facts: BenchmarkFacts
    evals: tuple[InspectedEval, ...]
    warnings: tuple[str, ...]

    @property
    def case_count(self) -> int:
        """Cases over all evals."""
        return sum(inspected.case_count for inspected in self.evals)

    def json(self) -> JsonObject:
        """For `--json`."""
        return {
            "config": self.config_path,
            "title": self.facts.title,
            "version": self.facts.version,
            "license": self.facts.license,
            "caseCount": self.case_count,
            "evals": [inspected.json() for inspected in self.evals],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True)
class InspectOrder:
    """How to look."""

    config: str | None
    today: date
    strict: bool = False
    """Lint is an error."""
    elsewhere: Runtime | None = None
    """A runtime under another locale and time zone, to look whether anything depends on them."""


def inspect_benchmark(tree: SourceTree, order: InspectOrder, runtime: Runtime, schemas: Schemas) -> Inspection:
    """Load everything, check everything, and say what is there.

    Raises:
        TrunchbuildError: Whatever loading refuses; with `strict` also what lint and the runtime elsewhere find.
    """
    with load_benchmark(tree, order.config, runtime, schemas, today=order.today, strict=order.strict) as loaded:
        faults: list[Fault] = []
        if order.elsewhere is not None:
            faults = portability_faults(loaded, tree, order.elsewhere, schemas)
        if faults and order.strict:
            raise LintError(f"portability: {len(faults)} findings", faults=faults)
        return Inspection(
            loaded.config_path,
            loaded.facts,
            tuple(InspectedEval(item, _kinds(item)) for item in loaded.evals),
            (*loaded.warnings, *map(str, faults)),
        )


def _kinds(item: LoadedEval) -> Mapping[str, int]:
    return dict(sorted(Counter(case.kind for case in item.cases).items()))


def _file(record: FileRecord) -> JsonObject:
    return {"path": record.path, "sha256": record.sha256, "bytes": record.bytes}
