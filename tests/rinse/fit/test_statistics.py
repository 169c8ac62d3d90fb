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
from rinse.fit.conditional import fit_conditional_head
from rinse.fit.direction import fit_direction
from rinse.fit.errors import FitError


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=30))
def test_every_family_weighs_the_same_and_in_it_every_group(rows: list[tuple[str, str]]) -> None:
    """A dataset with many pairs, or a question with many variants, must not decide for the others."""
    families, groups = [row[0] for row in rows], [row[1] for row in rows]
    weights = pair_weights(groups, families)
    assert weights.sum() == pytest.approx(1.0)
    for family in set(families):
        inside = {g: sum(w for w, r in zip(weights, rows, strict=True) if r == (family, g)) for g in "xyz"}
        shares = [share for share in inside.values() if share]
        assert sum(shares) == pytest.approx(1 / len(set(families)))
        assert max(shares) == pytest.approx(min(shares))


def test_one_feature_solves_the_equation_worked_by_hand() -> None:
    """Differences +1 three times, -1 once, no penalty: sigmoid(w) = 3/4, so w = ln 3."""
    good = np.array([[1.0], [1.0], [1.0], [0.0]])
    bad = 1.0 - good
    weights = fit_conditional_head(good, bad, groups=list("abcd"), families=["f"] * 4, penalty=0.0)
    assert weights == pytest.approx([math.log(3)], abs=1e-5)


def test_two_features_find_the_lowest_point_of_a_grid() -> None:
    """The optimiser's minimum is the one that trying everything finds."""
    random = np.random.default_rng(3)
    good, bad = random.normal(0.4, 1.0, (40, 2)), random.normal(0.0, [1.0, 3.0], (40, 2))
    groups, families = [str(i // 2) for i in range(40)], ["f" if i < 30 else "g" for i in range(40)]
    found = fit_conditional_head(good, bad, groups=groups, families=families, penalty=0.5)
    scale = np.concatenate([good, bad]).std(axis=0)
    weights = pair_weights(groups, families) * 20

    axis = np.linspace(-1.5, 1.5, 301)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    margins = ((good - bad) / scale) @ grid.T
    losses = weights @ np.log1p(np.exp(-margins)) + 0.25 * (grid**2).sum(axis=1)
    assert found * scale == pytest.approx(grid[losses.argmin()], abs=0.006)


def test_the_unit_of_a_feature_does_not_matter() -> None:
    """Features are standardised inside: metres or millimetres give the same margins."""
    random = np.random.default_rng(4)
    good, bad = random.normal(0.5, 1.0, (30, 3)), random.normal(0.0, 1.0, (30, 3))
    unit = np.array([1.0, 1000.0, 1e-3])
    groups, families = [str(i) for i in range(30)], ["f"] * 30
    plain = fit_conditional_head(good, bad, groups=groups, families=families)
    scaled = fit_conditional_head(good * unit, bad * unit, groups=groups, families=families)
    assert scaled * unit == pytest.approx(plain, rel=1e-4)


def test_a_constant_feature_weighs_nothing_and_a_perfect_one_stays_finite() -> None:
    """Neither may end in NaN: a rank that all sets share is common in small fits."""
    good = np.array([[7.0, 1.0], [7.0, 2.0]])
    bad = np.array([[7.0, 0.0], [7.0, 1.0]])
    weights = fit_conditional_head(good, bad, groups=["a", "b"], families=["f", "f"])
    assert weights[0] == 0.0
    assert 0.0 < weights[1] < math.inf


def test_the_direction_averages_families_not_pairs() -> None:
    """Three pairs of one family point along x, one of another along y: the mean lies between."""
    zero = np.zeros((4, 2))
    good = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    direction = fit_direction(good, zero, groups=list("abcd"), families=list("fffg"))
    assert direction == pytest.approx([math.sqrt(0.5)] * 2)


def test_what_has_no_direction_is_refused() -> None:
    """A direction of length zero would make every score NaN."""
    same = np.ones((2, 3))
    with pytest.raises(FitError, match="do not differ"):
        fit_direction(same, same, groups=["a", "b"], families=["f", "f"])


@pytest.mark.parametrize("bad", [np.array([[math.nan]]), np.array([[1.0, 2.0]])])
def test_nan_and_wrong_shapes_are_refused(bad: np.ndarray) -> None:
    """NaN never decides."""
    with pytest.raises(FitError, match=r"NaN|shape"):
        fit_conditional_head(np.array([[1.0]]), bad, groups=["a"], families=["f"])
    with pytest.raises(FitError, match=r"NaN|shape"):
        fit_direction(np.array([[1.0]]), bad, groups=["a"], families=["f"])


@pytest.mark.parametrize("name", ["answers", "balance", "span_training"])
def test_examples_in_docstrings_are_true(name: str) -> None:
    """An example that is wrong teaches the wrong thing."""
    result = doctest.testmod(importlib.import_module(f"rinse.fit.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
