"""The figures of a run. They stand together always: a pass rate without its coverage says little."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from trunchbuild.core.json_types import Json, JsonObject
from trunchbuild.core.results import STATUSES, Row
from trunchbuild.core.statistics import Z_95, Interval, wilson_interval

LEFT_OUT = ("unsupported", "needs_environment")
"""Statuses that no denominator counts; the trials are listed by name."""
SCORED = ("scored", "refused")


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate or mean and its 95 % interval; None is unknown, never NaN."""

    value: float | None
    interval: Interval | None

    def json(self) -> JsonObject:
        """As `summary.json` holds it."""
        return {
            "value": self.value,
            "low": None if self.interval is None else self.interval.low,
            "high": None if self.interval is None else self.interval.high,
        }


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some trials."""

    statuses: dict[str, int]
    """Every status, with its number of trials."""
    passed: int
    accuracy: Figure
    """passed / scored"""
    accuracy_all: Figure
    """passed / all"""
    coverage: Figure
    """scored / all"""
    mean_score: Figure
    standard_error: float | None
    """Of the mean score, by the sample's deviation (n - 1); None below two scores."""

    @property
    def scored(self) -> int:
        """Trials with a verdict or measurement; refusals are among them."""
        return sum(self.statuses[status] for status in SCORED)

    @property
    def all(self) -> int:
        """All trials but those that could not be run here."""
        return sum(self.statuses.values()) - sum(self.statuses[status] for status in LEFT_OUT)

    @property
    def all_failed(self) -> bool:
        """Whether every call failed."""
        return self.all > 0 and self.statuses["failed"] == self.all

    def withheld(self, min_coverage: float) -> str | None:
        """Why no summary score may be given; None where it may."""
        if self.scored == 0 or self.coverage.value is None:
            return "no trial was scored"
        if self.coverage.value < min_coverage:
            return f"coverage {self.coverage.value:.4f} is below {min_coverage}"
        return None

    def json(self, *, withheld: bool) -> JsonObject:
        """As `summary.json` holds them; scores are null where they are withheld."""
        none = Figure(None, None)
        statuses: dict[str, Json] = dict(self.statuses)
        return {
            "all": self.all,
            "scored": self.scored,
            "passed": None if withheld else self.passed,
            "statuses": statuses,
            "accuracy": (none if withheld else self.accuracy).json(),
            "accuracy_all": (none if withheld else self.accuracy_all).json(),
            "coverage": self.coverage.json(),
            "mean_score": {
                **(none if withheld else self.mean_score).json(),
                "standard_error": None if withheld else self.standard_error,
            },
        }


def figures_of(rows: Iterable[Row], *, repeats: int) -> Figures:
    """Count rows. With repeats the trials of one case are not independent: there are no intervals then."""
    statuses: dict[str, int] = dict.fromkeys(STATUSES, 0)
    passed = judged = 0
    scores: list[float] = []
    for row in rows:
        statuses[row.status] += 1
        judged += row.passed is not None
        passed += row.passed is True
        if row.score is not None:
            scores.append(row.score)
    scored = sum(statuses[status] for status in SCORED)
    everything = sum(statuses.values()) - sum(statuses[status] for status in LEFT_OUT)
    single = repeats == 1
    mean, error = _mean(scores)
    return Figures(
        statuses=statuses,
        passed=passed,
        accuracy=_rate(passed, judged, single),
        accuracy_all=_rate(passed, everything, single),
        coverage=_rate(scored, everything, single),
        mean_score=Figure(mean, _mean_interval(scores, mean, error) if single else None),
        standard_error=error if single else None,
    )


def _rate(successes: int, trials: int, single: bool) -> Figure:
    if trials == 0:
        return Figure(None, None)
    return Figure(successes / trials, wilson_interval(successes, trials) if single else None)


def _mean(scores: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and its standard error; None where there are too few scores."""
    count = len(scores)
    if count == 0:
        return None, None
    mean = fsum(scores) / count
    if count == 1:
        return mean, None
    return mean, sqrt(fsum((score - mean) ** 2 for score in scores) / (count - 1) / count)


def _mean_interval(scores: Sequence[float], mean: float | None, error: float | None) -> Interval | None:
    """Wilson's where every score is 0 or 1, so that it is the interval of a rate; else by the standard error."""
    if mean is None:
        return None
    if all(score in (0.0, 1.0) for score in scores):
        return wilson_interval(round(sum(scores)), len(scores))
    if error is None:
        return None
    return Interval(max(0.0, mean - Z_95 * error), min(1.0, mean + Z_95 * error))
