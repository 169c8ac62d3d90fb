"""What calibration sees of recorded searches."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.calibration.cases import by_group, divided, looks, one_of_each, spread
from policies.calibration.feasible import Feasible, feasible
from policies.errors import CalibrationDataError
from policies.replay import Recorded
from tests.policies.calibration.world import case, pairs


def test_a_label_is_needed_for_each_state() -> None:
    """Labels that are shifted by one turn would certify nonsense."""
    good = case("g", [0.0, 1.0], 2)
    with pytest.raises(CalibrationDataError, match="2 recorded states and 1 labels"):
        type(good)(group="g", recorded=good.recorded, complete=(True,))
    with pytest.raises(CalibrationDataError, match="0 recorded states"):
        type(good)(group="g", recorded=Recorded([]), complete=())


def test_scores_that_are_nan_or_missing_are_left_out() -> None:
    """Case S04: nothing is fitted to them."""
    assert case("g", [math.nan, None, 1.0, math.inf], 1).scores == (1.0,)
    with pytest.raises(CalibrationDataError, match="No recorded search has a valid score"):
        looks([case("g", [math.nan, None], 1)])


def test_each_group_weighs_one() -> None:
    """A question with many variants must not outvote the others."""
    found = looks([case("a", [0.0, 1.0, 2.0], 1), case("a", [3.0], None), case("b", [4.0], None)])
    weights = {group: sum(look.weight for look in found if (look.score < 4) == (group == "a")) for group in "ab"}
    assert weights == pytest.approx({"a": 1.0, "b": 1.0})


def test_the_order_of_a_file_changes_nothing() -> None:
    """Groups are taken by name, then drawn by seed."""
    cases = pairs(20, seed=1)
    assert list(by_group(cases)) == list(by_group(reversed(cases)))


@given(groups=st.integers(0, 200), share=st.floats(0, 1), seed=st.integers(0, 2**32 - 1))
def test_a_division_loses_and_repeats_nothing(groups: int, share: float, seed: int) -> None:
    """A group on both sides would test on what was learned from."""
    learn, test = divided(groups, share, seed)
    assert sorted([*learn, *test]) == list(range(groups))
    assert len(learn) == round(groups * share)


@given(scores=st.lists(st.floats(-1e6, 1e6), max_size=80), most=st.integers(1, 60))
def test_candidates_rise_and_are_scores(scores: list[float], most: int) -> None:
    """A candidate that is no score seen may decide nothing."""
    found = spread(scores, most)
    assert len(found) <= most
    assert set(found) <= set(scores)
    assert all(low < high for low, high in pairwise(found))
    if scores and most > 1:
        assert (found[0], found[-1]) == (min(scores), max(scores))


def test_one_search_of_each_group_is_drawn() -> None:
    """Both sides of a pair get their turn, and the seed decides."""
    groups = list(by_group(pairs(60, seed=2)).values())
    drawn = [one_of_each(groups, seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert [one.group for one in drawn[0]] == [members[0].group for members in groups]
    assert 0 < sum(one is members[0] for one, members in zip(drawn[0], groups, strict=True)) < 60


def test_what_is_feasible_is_counted_by_group() -> None:
    """The mu of a pair with one hopeless twin is a half; the bound is that of the issue."""
    possible = feasible([case("a", [0.0], 1), case("a", [0.0], None), case("b", [0.0], 1)], 0.2)
    assert possible.mu == 0.25
    assert possible.coverage == pytest.approx(0.75 / 0.8)
    assert possible.abstention == pytest.approx(0.05 / 0.8)
    with pytest.raises(CalibrationDataError, match="no recorded search"):
        feasible([], 0.1)


@given(mu=st.floats(0, 1), alpha=st.floats(0.01, 0.99))
def test_coverage_and_abstention_are_shares_that_add_up(mu: float, alpha: float) -> None:
    """Case E02: everything hopeless, or nothing."""
    possible = Feasible(mu=mu, alpha=alpha)
    assert 0 <= possible.coverage <= 1
    assert np.isclose(possible.coverage + possible.abstention, 1)
