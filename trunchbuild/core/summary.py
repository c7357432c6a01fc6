"""The summary of a run: what `summary.json` holds. Everything but the cost follows from spec and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trunchbuild.core.figures import LEFT_OUT, Figures, figures_of
from trunchbuild.core.ids import Digest
from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.results import Row, results_digest
from trunchbuild.core.run_spec import RunSpec
from trunchbuild.errors import ExitCode

SUMMARY_TYPE = "trunchbuild.summary/v1"
DEFAULT_MIN_COVERAGE = 0.8


@dataclass(frozen=True, slots=True)
class Summary:
    """A run's figures and digest."""

    spec: RunSpec
    partial: bool
    rows: tuple[Row, ...]
    min_coverage: float
    total: Figures
    evals: dict[str, Figures]
    digest: Digest
    """The results digest."""

    @property
    def withheld(self) -> str | None:
        """Why there is no summary score; None where there is one."""
        return self.total.withheld(self.min_coverage)

    @property
    def exit_code(self) -> ExitCode:
        """0 with a score, 1 below the declared coverage, 4 when every call failed."""
        if self.total.all_failed:
            return ExitCode.MACHINE
        return ExitCode.YES if self.withheld is None else ExitCode.NO

    def json(self) -> JsonObject:
        """What follows from spec and rows; a run adds its cost."""
        withheld = self.withheld
        hidden = withheld is not None
        evals: dict[str, Json] = {name: figures.json(withheld=hidden) for name, figures in self.evals.items()}
        left_out: list[Json] = [
            {"eval": row.trial.eval, "id": row.trial.id, "repeat": row.trial.repeat, "status": row.status}
            for row in self.rows
            if row.status in LEFT_OUT
        ]
        return {
            "type": SUMMARY_TYPE,
            "run": str(self.spec.run_id),
            "release": str(self.spec.release),
            "model": self.spec.model,
            "label": self.spec.label,
            "imported": self.spec.imported,
            "partial": self.partial,
            "repeat": self.spec.repeat,
            "results_digest": str(self.digest),
            "min_coverage": self.min_coverage,
            "withheld": withheld,
            "figures": self.total.json(withheld=hidden),
            "evals": evals,
            "left_out": left_out,
        }


def summarize(spec: RunSpec, rows: Sequence[Row], *, partial: bool, min_coverage: float) -> Summary:
    """Count the rows of a run, all together and by eval."""
    by_eval: dict[str, list[Row]] = {name: [] for name in spec.evals}
    for row in rows:
        by_eval.setdefault(row.trial.eval, []).append(row)
    return Summary(
        spec=spec,
        partial=partial,
        rows=tuple(rows),
        min_coverage=min_coverage,
        total=figures_of(rows, repeats=spec.repeat),
        evals={name: figures_of(group, repeats=spec.repeat) for name, group in by_eval.items()},
        digest=results_digest(spec, rows),
    )
