"""Probabilities and hazards that are fitted to recorded searches."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.calibrated import Calibration
from policies.calibration import Case, fit_isotonic, fit_platt, hazards
from tests.policies.calibration.world import case, pairs


def _logistic_world(number: int, *, slope: float, intercept: float, seed: int = 0) -> list[Case]:
    """One look a search, complete with the probability of a known curve."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=number)
    chances = 1 / (1 + np.exp(-(slope * scores + intercept)))
    complete = rng.random(number) < chances
    return [
        case(str(place), [float(score)], 1 if yes else None)
        for place, (score, yes) in enumerate(zip(scores, complete, strict=True))
    ]


def test_both_find_a_known_curve() -> None:
    """Within what 3,000 searches can tell."""
    cases = _logistic_world(3_000, slope=1.5, intercept=-0.5)
    for fitted in (fit_platt(cases), fit_isotonic(cases)):
        for score in (-1.0, 0.0, 1.0):
            truth = 1 / (1 + math.exp(-(1.5 * score - 0.5)))
            assert fitted.probability(score, 1) == pytest.approx(truth, abs=0.06)


def test_the_scale_of_a_scorer_does_not_matter() -> None:
    """A scorer with logits in the hundreds is penalised no more than one with scores near 1."""
    small = [case(str(i), [float(i % 7)], 1 if i % 7 > 2 or i % 5 == 0 else None) for i in range(70)]
    large = [case(str(i), [1000.0 * (i % 7) - 50], 1 if i % 7 > 2 or i % 5 == 0 else None) for i in range(70)]
    one, other = fit_platt(small), fit_platt(large)
    for score in range(7):
        assert other.probability(1000.0 * score - 50, 1) == pytest.approx(one.probability(score, 1), abs=1e-4)


def test_a_scorer_that_is_upside_down_gets_a_flat_curve() -> None:
    """A higher score must never mean less; then the score says nothing."""
    cases = [case(str(i), [float(i)], 1 if i < 10 else None) for i in range(30)]
    fitted = fit_platt(cases)
    assert fitted.slope == 0
    assert fitted.probability(0.0, 1) == fitted.probability(29.0, 1) == pytest.approx(1 / 3, abs=0.05)


@pytest.mark.parametrize("complete", [1, None])
def test_one_label_only_is_no_certainty(complete: int | None) -> None:
    """Three searches that all went well do not make a probability of 1."""
    fitted = fit_platt([case(str(i), [float(i)], complete) for i in range(3)])
    assert fitted.probability(1.0, 1) == pytest.approx(0.8 if complete else 0.2)


_looks = st.lists(st.one_of(st.none(), st.floats(-1e3, 1e3)), min_size=1, max_size=6)
_cases = st.lists(
    st.builds(case, st.sampled_from("abc"), _looks, st.one_of(st.none(), st.integers(1, 6))),
    min_size=1,
    max_size=12,
).filter(lambda cases: any(one.scores for one in cases))


@settings(max_examples=40)
@given(cases=_cases, scores=st.lists(st.floats(-2e3, 2e3), min_size=2, max_size=5), turn=st.integers(0, 8))
def test_probabilities_never_fall_as_the_score_rises(cases: list[Case], scores: list[float], turn: int) -> None:
    """Whatever the data, invalid scores among them (case S04)."""
    for fit in (fit_platt, fit_isotonic):
        fitted: Calibration = fit(cases)
        found = [fitted.probability(score, turn) for score in sorted(scores)]
        assert all(0 <= probability <= 1 for probability in found)
        assert all(low <= high for low, high in pairwise(found))


def test_hazards_are_counted_on_incomplete_searches() -> None:
    """By hand: of four searches one is complete after a turn, of three left two after the second."""
    cases = [
        case("a", [0.0, 0.0, 0.0], 1),
        case("b", [0.0, 0.0, 0.0], 2),
        case("c", [0.0, 0.0, 0.0], 2),
        case("d", [0.0, 0.0], None),
    ]
    assert hazards(cases) == pytest.approx((0.25, 2 / 3))
    assert hazards([]) == ()


def test_hazards_are_probabilities() -> None:
    """Also by group, with twins that never gain anything."""
    found = hazards(pairs(50, seed=3))
    assert len(found) == 6
    assert all(0 <= hazard <= 1 for hazard in found)
