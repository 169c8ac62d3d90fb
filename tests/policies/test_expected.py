"""Utility, calibrated probabilities, and the policy that weighs them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import SearchState, TierInfo, Widen
from policies.calibrated import Calibration
from policies.errors import PolicyContractError
from policies.expected import ExpectedUtility
from policies.utility import Utility
from retrieval import Allowance
from tests.policies.looks import after, says
from tests.policies.strategies import calibrations, utilities

AS_IT_IS = Calibration(kind="isotonic", scores=(0.0, 1.0), probabilities=(0.0, 1.0))
"""The score is the probability."""
EVEN = Utility(wrong=1.0)
"""A wrong answer costs what a right one is worth."""


@given(utilities(), st.booleans(), st.booleans(), st.integers(min_value=0, max_value=9))
def test_utility_prices_the_three_ends(utility: Utility, answered: bool, complete: bool, calls: int) -> None:
    """An abstention is worth nothing but its calls, and a probability of 0 or 1 is the end itself."""
    price = utility.call_price * calls
    assert utility.of(answered=False, complete=complete, calls=calls) == -price
    assert utility.of(answered=True, complete=True, calls=calls) == utility.right - price
    assert utility.of(answered=True, complete=False, calls=calls) == -utility.wrong - price
    assert utility.of_answer(1.0) == utility.right
    assert utility.of_answer(0.0) == -utility.wrong


def test_platt_and_isotonic_by_hand() -> None:
    """Values that a person can check."""
    platt = Calibration(kind="platt", slope=2.0, intercept=-1.0, offsets=(0.0, math.log(3)))
    assert platt.probability(0.5, turn=1) == 0.5
    assert platt.probability(0.5, turn=2) == pytest.approx(0.75)
    assert platt.probability(0.5, turn=9) == platt.probability(0.5, turn=2)
    assert platt.probability(0.5, turn=0) == platt.probability(0.5, turn=1)
    assert (platt.probability(1e300, turn=1), platt.probability(-1e300, turn=1)) == (1.0, 0.0)
    steps = Calibration(kind="isotonic", scores=(0.0, 1.0, 3.0), probabilities=(0.2, 0.2, 0.6))
    asked = (-5.0, 0.0, 0.5, 1.0, 2.0, 3.0, 9.0)
    assert [steps.probability(score, turn=1) for score in asked] == pytest.approx(
        [0.2, 0.2, 0.2, 0.2, 0.4, 0.6, 0.6]
    )


_finite = st.floats(allow_nan=False, allow_infinity=False)


@given(calibrations(), _finite, _finite, st.integers(min_value=0, max_value=9))
def test_a_higher_score_never_means_less(calibration: Calibration, one: float, other: float, turn: int) -> None:
    """Monotone, and a probability."""
    low, high = sorted((one, other))
    assert 0 <= calibration.probability(low, turn) <= calibration.probability(high, turn) <= 1


@given(calibrations(), st.sampled_from([math.nan, math.inf, -math.inf]))
def test_no_probability_rests_on_nan(calibration: Calibration, score: float) -> None:
    """S04: refused with a typed error."""
    with pytest.raises(PolicyContractError, match="must be a finite number"):
        calibration.probability(score, turn=1)


def _weighing(*hazard: float, **others: object) -> ExpectedUtility:
    return ExpectedUtility(calibration=AS_IT_IS, hazard=hazard, utility=EVEN, **others)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("score", "hazard", "expected"),
    [
        # nothing to gain: answer from 1/2 on, else abstain
        (0.5, (0.0,), "answer worth_answering"),
        (0.49, (0.0,), "abstain not_worth_it"),
        # 0.5 -> 0.75 with one call: worth 0.5 - 0.05 against 0
        (0.5, (0.0, 0.5), "search worth_searching"),
        # 0.9 -> 0.95: worth 0.9 - 0.05 against 0.8
        (0.9, (0.0, 0.5), "search worth_searching"),
        # 0.96 -> 0.98: worth 0.96 - 0.05 against 0.92
        (0.96, (0.0, 0.5), "answer worth_answering"),
        # 0.1 -> 0.55: worth 0.1 - 0.05 against nothing
        (0.1, (0.0, 0.5), "search worth_searching"),
        (0.0, (0.0, 0.5), "abstain not_worth_it"),
    ],
)
def test_the_best_of_three(score: float, hazard: tuple[float, ...], expected: str) -> None:
    """After one turn, at the declared prices: +1, -1, 0.05 a call."""
    assert says(_weighing(*hazard).decide(after([score], calls=1))) == expected


def test_a_longer_look_ahead_sees_support_that_takes_two_calls() -> None:
    """From 0, 0.4 -> 0.64 with two calls is worth 0.28 - 0.1; one call alone is worth nothing."""
    assert says(_weighing(0.0, 0.4).decide(after([0.0]))) == "abstain not_worth_it"
    assert says(_weighing(0.0, 0.4, look_ahead=2).decide(after([0.0]))) == "search worth_searching"
    assert says(_weighing(0.0, 0.4, look_ahead=2).decide(after([0.0], calls_left=1))) == "abstain not_worth_it"


def test_trust_in_the_scores_to_come_makes_going_on_worth_more() -> None:
    """If a wrong answer will not be given, 0.2 for 0.05 is a bargain."""
    assert says(_weighing(0.0, 0.2).decide(after([0.0]))) == "abstain not_worth_it"
    decision = _weighing(0.0, 0.2, informed=1.0).decide(after([0.0]))
    assert says(decision) == "search worth_searching"
    assert decision.reason.values["search_worth"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        # no call is left, or nothing to ask: the evidence at hand is judged
        (after([0.6], calls_left=0), "answer worth_answering"),
        (after([0.4], calls_left=0), "abstain not_worth_it"),
        (after([0.6], nothing_to_ask=True), "answer worth_answering"),
        (after([0.4], nothing_to_ask=True), "abstain not_worth_it"),
        # S04, E06
        (after([math.nan]), "search score_invalid"),
        (after([0.9], score_invalid=True), "search score_invalid"),
        (after([None], new=[0]), "search no_evidence"),
    ],
)
def test_where_nothing_can_be_weighed(state: SearchState, expected: str) -> None:
    """L02, S04: no call left, or no valid score."""
    assert says(_weighing(0.9).decide(state)) == expected


def _tiers(*prices: float) -> tuple[TierInfo, ...]:
    return tuple(TierInfo(name=f"at {price}", price=price) for price in prices)


@pytest.mark.parametrize(
    ("tiers", "price_left", "expected"),
    [
        ((), None, "abstain not_worth_it"),
        ((0.1,), None, "widen at 0.1"),
        ((0.9,), None, "abstain not_worth_it"),
        ((0.2, 0.1, 0.1), None, "widen at 0.1"),
        # what is left of the price pays for the dear one no more
        ((0.3, 0.1), 0.2, "widen at 0.1"),
        ((0.3,), 0.2, "abstain not_worth_it"),
    ],
)
def test_widening_is_weighed_at_the_price_of_the_tier(
    tiers: tuple[float, ...], price_left: float | None, expected: str
) -> None:
    """Which tier next, at what price: after three turns nothing more comes here, a new tier brings 0.7."""
    policy = _weighing(0.7, 0.5, 0.2, 0.0)
    state = replace(after([0.0] * 3), tiers_left=_tiers(*tiers), left=Allowance(price=price_left))
    decision = policy.decide(state)
    assert (f"widen {decision.tier}" if isinstance(decision, Widen) else says(decision)) == expected


def test_an_answer_is_better_than_widening() -> None:
    """It widens instead of abstaining, never instead of an answer that is worth something."""
    policy = _weighing(0.9, 0.0)
    assert says(policy.decide(after([0.6], tiers_left=_tiers(0.0)))) == "answer worth_answering"


def test_the_numbers_are_in_the_reason() -> None:
    """A trace shows what was weighed."""
    values = _weighing(0.0, 0.5).decide(after([0.1])).reason.values
    assert {name: round(value, 6) for name, value in values.items()} == {
        "score": 0.1, "probability": 0.1, "answer_worth": -0.8, "search_worth": 0.05,
    }  # fmt: skip
