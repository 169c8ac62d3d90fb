"""Ratios of sums, areas under curves and several comparisons at once, on the draws of the bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.errors import StatisticsError
from benchmarks.stats import Interval, bootstrap, holm, ratios, weighted

NAMES = [f"q{at // 2}" for at in range(40)]


def numbers(seed: int, systems: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(len(NAMES), systems))


def test_wins_are_a_case_of_ratios() -> None:
    """Halves are means like any other: the same draws, the same digits."""
    wins = np.round(np.random.default_rng(1).random((len(NAMES), 2)) * 2) / 2
    assert ratios(NAMES, wins).interval(1) == bootstrap(NAMES, wins).interval(1)


def test_a_rate_is_taken_over_the_records_that_count() -> None:
    """Worked by hand: 1 of 2 that count; two of four records have the whole 0."""
    found = ratios(["a", "a", "b", "b"], [[1.0], [0.0], [0.0], [0.0]], [[1.0], [1.0], [0.0], [0.0]])
    assert found.interval(0).estimate == 0.5
    assert (
        found.interval(0).lo == found.interval(0).hi == 0.5
    )  # draws of "b" alone define nothing and are left out


@settings(max_examples=20)
@given(seed=st.integers(0, 1000))
def test_order_of_records_does_not_matter(seed: int) -> None:
    """Not a digit, though sums of floats depend on their order."""
    parts = numbers(seed)
    order = np.random.default_rng(seed).permutation(len(NAMES))
    one = ratios(NAMES, parts, np.abs(parts), draws=30)
    other = ratios([NAMES[at] for at in order], parts[order], np.abs(parts)[order], draws=30)
    assert one.interval(0) == other.interval(0)


@settings(max_examples=20)
@given(seed=st.integers(0, 1000), systems=st.integers(2, 40))
def test_equal_systems_differ_by_exactly_zero(seed: int, systems: int) -> None:
    """Case E03 with any numbers, wherever the columns stand."""
    table = np.hstack([numbers(seed, systems), numbers(seed, systems)[:, :1]])
    found = ratios(NAMES, table, draws=50)
    assert found.difference(0, systems) == Interval(estimate=0.0, lo=0.0, hi=0.0)
    assert found.p_value(0, systems) == 1.0
    assert found.at_least(0, systems) == 0.0


def test_undefined_is_none() -> None:
    """Case E02: nothing counts, no record, one cluster."""
    nothing = ratios(NAMES, np.zeros((40, 1)), np.zeros((40, 1)))
    assert nothing.interval(0) == Interval(estimate=None, lo=None, hi=None)
    assert nothing.at_least(0, 0) is None
    assert nothing.p_value(0, 0) is None
    assert ratios([], np.zeros((0, 1))).p_value(0, 0) is None
    alone = ratios(["a"], [[2.5]])
    assert alone.interval(0) == Interval(estimate=2.5, lo=None, hi=None)
    assert alone.at_least(0, 0) is None
    assert weighted([], lambda weights: weights).interval(0).estimate is None


def test_weights_count_records_as_often_as_their_cluster_is_drawn() -> None:
    """A mean by weights equals the same mean as a ratio of sums, on the same draws."""
    values = numbers(3, 1)[:, 0]
    found = weighted(NAMES, lambda weights: (weights @ values / weights.sum(axis=1))[:, None])
    same = ratios(NAMES, values[:, None]).interval(0)
    own = found.interval(0)
    assert (own.estimate, own.lo, own.hi) == pytest.approx((same.estimate, same.lo, same.hi))
    assert weighted(["a"], lambda weights: weights * 3).interval(0) == Interval(estimate=3.0, lo=None, hi=None)


def test_a_clear_difference_is_told_from_none() -> None:
    """The one-sided bound lies above the lower end of the interval; a shift by 3 has the smallest p-value."""
    base = numbers(5, 1)
    found = ratios(NAMES, np.hstack([base + 3, base, numbers(7, 1)]))
    assert found.p_value(0, 1) == pytest.approx(2 / 2001)
    assert (found.p_value(1, 2) or 0) > 0.05
    lower = found.at_least(2, 1)
    assert lower is not None
    assert (found.difference(2, 1).lo or 0) < lower < (found.difference(2, 1).hi or 0)


def test_holm_equals_the_textbook() -> None:
    """Holm's example of four: multiplied by 4, 3, 2, 1 in ascending order, never falling, never above 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.7, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_what_does_not_fit_is_refused() -> None:
    """One row a record, finite numbers, wholes of at least 0."""
    with pytest.raises(StatisticsError, match="shape"):
        ratios(["a", "b"], [[1.0]])
    with pytest.raises(StatisticsError, match="one whole a part"):
        ratios(["a"], [[1.0]], [[1.0, 1.0]])
    for parts, wholes in (([[np.nan]], [[1.0]]), ([[1.0]], [[-1.0]]), ([[1.0]], [[np.inf]])):
        with pytest.raises(StatisticsError, match="finite"):
            ratios(["a"], parts, wholes)
