"""Bars for each turn: what a score means depends on how much was asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from policies import Abstain, AnswerNow, SearchOn, SearchState, Widen
from policies.bars import Bars
from policies.errors import PolicyParameterError
from tests.policies.looks import WEB, after, given, says
from tests.policies.strategies import bars_by_turn, states

BARS = Bars(answer_at=(None, 2.0, 0.0), abstain_below=(-1.0, 0.5, 0.0))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([9.0], "search in_band"),
        ([-1.1], "abstain below_band"),
        ([-1.0], "search in_band"),
        ([-1.0, 2.0], "answer threshold_met"),
        ([9.0, 1.9], "search in_band"),
        ([9.0, 0.4], "abstain below_band"),
        ([0.0, 0.6, 0.0], "answer threshold_met"),
        ([0.0, 0.6, -0.1], "abstain below_band"),
        ([0.0, 0.6, 0.6, 0.6, 0.6, -0.1], "abstain below_band"),
    ],
)
def test_the_bars_of_the_turn_count(scores: list[float], expected: str) -> None:
    """After the first turn no score answers, after the second only a high one, from the third on it is decided."""
    assert says(BARS.decide(after(scores))) == expected


def test_low_scores_widen_first_and_the_next_tier_begins_anew() -> None:
    """L10: a tier is left before the search is; there the first bars hold again."""
    assert says(BARS.decide(after([0.0, 0.4], tiers_left=WEB))) == "widen below_band"
    assert says(BARS.decide(after([0.0, 0.4, 0.4], tier_turns=1))) == "search in_band"


@pytest.mark.parametrize(("score", "expected"), [(0.5, "answer threshold_met"), (0.4, "search in_band")])
def test_what_cannot_go_on_must_pass_all_bars_to_come(score: float, expected: str) -> None:
    """L06: a budget that ends after one call is no way around the bar of the second turn; `enforce` ends it."""
    assert says(BARS.decide(after([score], calls_left=0))) == expected
    assert says(BARS.decide(after([score], nothing_to_ask=True))) == expected
    assert says(BARS.decide(given(score))) == expected


def test_late_bars_bind_early_ends_only() -> None:
    """After the third turn the bar of the second one lies behind."""
    assert says(BARS.decide(after([0.0, 0.6, 0.1], calls_left=0))) == "answer threshold_met"


@given_by(bars_by_turn(), states(), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_a_higher_score_never_moves_the_decision_back(
    bars: Bars, state: SearchState, one: float, other: float
) -> None:
    """Monotone from giving up over going on to answering."""
    order = {Abstain: 0, Widen: 0, SearchOn: 1, AnswerNow: 2}
    low, high = (
        bars.decide(replace(state, scores=(score,), score_invalid=False)) for score in sorted((one, other))
    )
    assert order[type(low)] <= order[type(high)]


@pytest.mark.parametrize(
    ("upper", "lower", "message"),
    [
        ((), (), "at least 1"),
        ((1.0,), (0.0, 0.0), "one bar for each turn"),
        ((1.0, None), (0.0, 0.0), "the last of answer_at a number"),
        ((float("nan"),), (0.0,), "answer_at must be a finite number"),
        ((1.0,), (float("-inf"),), "abstain_below must be a finite number"),
        ((1.0,), (1.1,), r"at most answer_at \(1.0\), it is 1.1"),
    ],
)
def test_bars_that_mean_nothing_are_refused(
    upper: tuple[float | None, ...], lower: tuple[float | None, ...], message: str
) -> None:
    """E05, L07: at construction, with what to do."""
    with pytest.raises(PolicyParameterError, match=message):
        Bars(answer_at=upper, abstain_below=lower)
