"""The Wilson interval against published figures and against its own defining equation."""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trunchbuild.core.statistics import Z_95, wilson_interval

# R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
# table I, method 3: successes, trials, low, high.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("successes", "trials", "low", "high"), NEWCOMBE)
def test_published_intervals(successes: int, trials: int, low: float, high: float) -> None:
    """Newcombe's four examples, to the four digits he prints; the mirrored example has the mirrored interval."""
    interval = wilson_interval(successes, trials)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)
    mirrored = wilson_interval(trials - successes, trials)
    assert mirrored is not None
    assert (round(1 - mirrored.high, 4), round(1 - mirrored.low, 4)) == (low, high)


@given(st.integers(1, 100_000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_bounds_solve_the_score_equation(case: tuple[int, int]) -> None:
    """A bound p is where the observed rate lies z standard errors away: (rate - p)^2 = z^2 p (1 - p) / n."""
    successes, trials = case
    interval = wilson_interval(successes, trials)
    assert interval is not None
    assert 0 <= interval.low <= successes / trials <= interval.high <= 1
    rate, square = Fraction(successes, trials), Fraction(Z_95) ** 2
    for bound in (Fraction(interval.low), Fraction(interval.high)):
        assert abs((rate - bound) ** 2 - square * bound * (1 - bound) / trials) < Fraction(1, 10**12)


def test_the_quantile() -> None:
    """The constant is the normal distribution's quantile at 0.975, whose first digits every table prints."""
    assert pytest.approx(NormalDist().inv_cdf(0.975), abs=1e-15) == Z_95
    assert f"{Z_95:.5f}" == "1.95996"


def test_ends_are_exact_and_nothing_has_no_interval() -> None:
    """R95: none of n has the low bound 0, all of n the high bound 1, and 0 of 0 no interval at all, never NaN."""
    none, every = wilson_interval(0, 3), wilson_interval(3, 3)
    assert none is not None and every is not None  # noqa: PT018
    assert (none.low, every.high) == (0.0, 1.0)
    assert wilson_interval(0, 0) is None


@pytest.mark.parametrize(("successes", "trials"), [(2, 1), (-1, 3), (0, -1)])
def test_impossible_counts(successes: int, trials: int) -> None:
    """Counts that cannot be are refused."""
    with pytest.raises(ValueError, match="successes in"):
        wilson_interval(successes, trials)
