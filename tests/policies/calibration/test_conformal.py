"""Thresholds that refuse few of the searches with support."""

from __future__ import annotations

import math

import numpy as np
import pytest

from policies import AnswerNow
from policies.calibration import control_refusals
from policies.errors import PolicyParameterError
from policies.replay import Stop
from tests.policies.calibration.world import case, pairs, threshold


def test_the_finite_sample_correction_by_hand() -> None:
    """Nine bars: 10 % allows the lowest, 20 % the second lowest; 9 % would need ten or more."""
    cases = [case(str(bar), [0.0, float(bar)], 2) for bar in range(1, 10)]
    assert control_refusals(cases, threshold, at_most=0.1).parameter == 1.0
    assert control_refusals(cases, threshold, at_most=0.2).parameter == 2.0
    strict = control_refusals(cases, threshold, at_most=0.09)
    assert (strict.parameter, strict.groups, strict.groups_needed) == (None, 9, 11)


def test_it_refuses_at_most_the_share_on_new_searches() -> None:
    """On average over calibration sets: 80 of them, ten new searches each."""
    refused = []
    for seed in range(80):
        found = control_refusals(pairs(30, seed=seed, never=0.0), threshold, at_most=0.2, seed=seed)
        assert found.parameter is not None
        for new in pairs(10, seed=10_000 + seed, never=0.0)[::2]:
            end = new.recorded.play(threshold(found.parameter))
            assert isinstance(end, Stop)
            refused.append(not isinstance(end.decision, AnswerNow))
    assert np.mean(refused) <= 0.2 + 3 * math.sqrt(0.2 * 0.8 / len(refused))


def test_searches_that_nobody_can_answer_are_said_so() -> None:
    """No score is valid in half of them (case S04): more groups would not help."""
    cases = [case(str(i), [None if i % 2 else 1.0], 1) for i in range(40)]
    found = control_refusals(cases, threshold, at_most=0.1)
    assert (found.parameter, found.refused, found.groups_needed) == (None, None, None)


def test_no_search_with_support() -> None:
    """Case E02: nothing is there to be refused."""
    found = control_refusals([case("a", [1.0], None)], threshold, at_most=0.1)
    assert (found.parameter, found.groups, found.groups_needed) == (None, 0, 9)


@pytest.mark.parametrize("share", [0.0, 1.0, math.nan])
def test_a_share_that_means_nothing_is_refused(share: float) -> None:
    with pytest.raises(PolicyParameterError, match="between 0 and 1"):
        control_refusals([], threshold, at_most=share)
