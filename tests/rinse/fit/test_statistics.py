"""The head and the direction: against solutions found in another way."""

from __future__ import annotations

import doctest
import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinse.fit.balance import pair_weights
from rinse.fit.conditional import deviation_of_sides, fit_conditional_head, size_of_differences
from rinse.fit.direction import fit_direction
from rinse.fit.errors import FitError


def _equal(count: int) -> np.ndarray:
    return np.full(count, 1 / count)


@given(
    st.lists(
        st.tuples(st.sampled_from("xyz"), st.sampled_from("mn"), st.sampled_from("abcd")), min_size=1, max_size=30
    )
)
def test_every_family_weighs_the_same_and_in_it_every_construction_and_in_that_every_group(
    keys: list[tuple[str, str, str]],
) -> None:
    """A dataset with many pairs, or a question with many variants, must not decide for the others."""
    weights = pair_weights(keys)
    assert weights.sum() == pytest.approx(1.0)
    for depth in range(3):
        shares: dict[tuple[str, ...], dict[str, float]] = {}
        for weight, key in zip(weights, keys, strict=True):
            inside = shares.setdefault(key[:depth], {})
            inside[key[depth]] = inside.get(key[depth], 0.0) + weight
        for inside in shares.values():
            assert max(inside.values()) == pytest.approx(min(inside.values()))


def test_one_feature_solves_the_equation_worked_by_hand() -> None:
    """Differences +1 three times, -1 once, no penalty: sigmoid(w) = 3/4, so w = ln 3; the unit is of no matter."""
    good = np.array([[1.0], [1.0], [1.0], [0.0]])
    for unit in (1.0, 7.0):
        weights = fit_conditional_head(good, 1.0 - good, weights=_equal(4), scale=np.array([unit]), penalty=0.0)
        assert weights == pytest.approx([math.log(3)], abs=1e-5)


def _grid() -> np.ndarray:
    axis = np.linspace(-1.5, 1.5, 301)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("bound", [None, 0.0])
def test_two_features_find_the_lowest_point_of_a_grid(bound: float | None) -> None:
    """The optimiser finds what trying everything finds, also where one weight stands at its bound."""
    random = np.random.default_rng(3)
    good, bad = random.normal([0.4, -0.9], 1.0, (40, 2)), random.normal(0.0, [1.0, 3.0], (40, 2))
    weights = pair_weights([("f" if i < 30 else "g", "", str(i // 2)) for i in range(40)])
    scale = deviation_of_sides(good, bad)
    found = fit_conditional_head(good, bad, weights=weights, scale=scale, penalty=0.02, lower_bound=bound)

    grid = _grid()
    margins = ((good - bad) / scale) @ grid.T
    losses = weights @ np.log1p(np.exp(-margins)) + 0.01 * (grid**2).sum(axis=1)
    allowed = grid.min(axis=1) >= (-math.inf if bound is None else bound - 1e-9)
    best = grid[np.where(allowed, losses, math.inf).argmin()]
    assert found * scale == pytest.approx(best, abs=0.006)
    assert (best[1] == pytest.approx(0.0, abs=1e-9)) == (bound is not None)


@pytest.mark.parametrize("unit", ["sides", "differences"])
def test_the_unit_of_a_feature_does_not_matter(unit: str) -> None:
    """Features are put on one scale inside: metres or millimetres give the same margins."""
    random = np.random.default_rng(4)
    good, bad, weights = random.normal(0.5, 1.0, (30, 3)), random.normal(0.0, 1.0, (30, 3)), _equal(30)

    def fit(factor: np.ndarray) -> np.ndarray:
        left, right = good * factor, bad * factor
        scale = deviation_of_sides(left, right) if unit == "sides" else size_of_differences(left, right, weights)
        return fit_conditional_head(left, right, weights=weights, scale=scale, penalty=0.01)

    factor = np.array([1.0, 1000.0, 1e-3])
    assert fit(factor) * factor == pytest.approx(fit(np.ones(3)), rel=1e-4)


def test_the_size_of_differences_counts_pairs_by_weight() -> None:
    """Differences 1 and 3 with the weights 3/4 and 1/4: the mean square is 3."""
    good, bad = np.array([[1.0], [3.0]]), np.zeros((2, 1))
    assert size_of_differences(good, bad, np.array([0.75, 0.25])) == pytest.approx([math.sqrt(3)])


def test_a_constant_feature_weighs_nothing_and_a_perfect_one_stays_finite() -> None:
    """Neither may end in NaN: a rank that all sets share is common in small fits."""
    good = np.array([[7.0, 1.0], [7.0, 2.0]])
    bad = np.array([[7.0, 0.0], [7.0, 1.0]])
    scale = deviation_of_sides(good, bad)
    weights = fit_conditional_head(good, bad, weights=_equal(2), scale=scale, penalty=0.5)
    assert weights[0] == 0.0
    assert 0.0 < weights[1] < math.inf


def test_the_direction_averages_families_not_pairs() -> None:
    """Three pairs of one family point along x, one of another along y: the mean lies between."""
    zero = np.zeros((4, 2))
    good = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    direction = fit_direction(
        good, zero, weights=pair_weights([(f, "", g) for f, g in zip("fffg", "abcd", strict=True)])
    )
    assert direction == pytest.approx([math.sqrt(0.5)] * 2)


def test_what_has_no_direction_is_refused() -> None:
    """A direction of length zero would make every score NaN."""
    same = np.ones((2, 3))
    with pytest.raises(FitError, match="do not differ"):
        fit_direction(same, same, weights=_equal(2))


@pytest.mark.parametrize("bad", [np.array([[math.nan]]), np.array([[1.0, 2.0]])])
def test_nan_and_wrong_shapes_are_refused(bad: np.ndarray) -> None:
    """NaN never decides."""
    with pytest.raises(FitError, match=r"NaN|shape"):
        fit_conditional_head(np.array([[1.0]]), bad, weights=_equal(1), scale=np.ones(1), penalty=0.1)
    with pytest.raises(FitError, match=r"NaN|shape"):
        fit_direction(np.array([[1.0]]), bad, weights=_equal(1))


@pytest.mark.parametrize("name", ["answers", "balance", "span_training"])
def test_examples_in_docstrings_are_true(name: str) -> None:
    """An example that is wrong teaches the wrong thing."""
    result = doctest.testmod(importlib.import_module(f"rinse.fit.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
