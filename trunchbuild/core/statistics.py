"""Intervals for rates."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

Z_95 = 1.959963984540054
"""The normal distribution's quantile at 0.975: two-sided 95 %."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % confidence interval; `0 <= low <= high <= 1`."""

    low: float
    high: float


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """The 95 % Wilson score interval of a rate of single, independent trials, without continuity correction.

    None where there was no trial: a rate of nothing has no interval. E. B. Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927).

    Raises:
        ValueError: More successes than trials, or a negative number of either.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return None
    rate = successes / trials
    square = Z_95 * Z_95
    denominator = 1 + square / trials
    centre = (rate + square / (2 * trials)) / denominator
    half = Z_95 * sqrt(rate * (1 - rate) / trials + square / (4 * trials * trials)) / denominator
    # At either end the bound is 0 or 1 exactly; rounding would leave it an ulp away.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == trials else centre + half
    return Interval(low, high)
