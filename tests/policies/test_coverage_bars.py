"""Bars that know what going on costs: which of them speaks, and what a cache that falls short is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import Abstain, AnswerNow, SearchOn, SearchState, TierInfo, Widen
from policies.bars import Bars
from policies.coverage_bars import CoverageBars
from policies.errors import PolicyParameterError
from policies.shipped import shipped, shipped_scorers
from tests.policies.looks import after, says
from tests.policies.strategies import coverage_bars, states

COVERAGE = CoverageBars(
    ahead=Bars(answer_at=(None, 1.0), abstain_below=(-1.0, 1.0)),
    fetching=Bars(answer_at=(2.0, 0.0), abstain_below=(None, 0.0)),
    otherwise=Bars(answer_at=(3.0,), abstain_below=(-3.0,)),
    partial_from=-0.5,
)
WEB = (TierInfo(name="web", fetches=True),)
MIRROR = (TierInfo(name="mirror"),)


def on_the_web(scores: list[float]) -> SearchState:
    """After calls to a tier that fetches."""
    return replace(after(scores), tier_fetches=True)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([9.0], tiers_left=WEB), "search in_band"),
        (after([9.0, 1.0], tiers_left=WEB), "answer threshold_met"),
        (after([9.0, 0.9], tiers_left=WEB), "widen below_band"),
        (after([-1.1], tiers_left=WEB), "widen below_band"),
        (on_the_web([1.9]), "search in_band"),
        (on_the_web([2.0]), "answer threshold_met"),
        (on_the_web([1.9, -0.1]), "abstain below_band"),
        (after([2.9]), "search in_band"),
        (after([3.0]), "answer threshold_met"),
        (after([-3.1], tiers_left=MIRROR), "widen below_band"),
    ],
)
def test_the_bars_of_the_place_count(state: SearchState, expected: str) -> None:
    """In a cache with the web behind it, on the web, and where no origin is in reach."""
    assert says(COVERAGE.decide(state)) == expected


def test_a_web_that_the_budget_does_not_pay_is_not_ahead() -> None:
    """To leave the cache for it would lead nowhere, so the bars of a search without origins count."""
    state = after([1.0], tiers_left=WEB)
    broke = replace(state, left=replace(state.left, fetches=0))
    assert says(COVERAGE.decide(replace(state, scores=(1.0,)))) == "search in_band"
    assert COVERAGE.decide(broke).reason.by == "coverage/bars"
    assert COVERAGE.decide(broke).reason.values["answer_at"] == 3.0


def test_what_leaves_the_cache_says_from_where_on_it_would_be_partial() -> None:
    """The loop holds the score against it: gaps become queries only for evidence that is worth adding to."""
    assert COVERAGE.decide(after([0.0, 0.9], tiers_left=WEB)).reason.values["partial_from"] == -0.5
    unmarked = replace(COVERAGE, partial_from=None)
    assert "partial_from" not in unmarked.decide(after([0.0, 0.9], tiers_left=WEB)).reason.values


@given(coverage_bars(), states(), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_a_higher_score_never_moves_the_decision_back(
    bars: CoverageBars, state: SearchState, one: float, other: float
) -> None:
    """Monotone from giving up over going on to answering, wherever the search is."""
    order = {Abstain: 0, Widen: 0, SearchOn: 1, AnswerNow: 2}
    low, high = (
        bars.decide(replace(state, scores=(score,), score_invalid=False)) for score in sorted((one, other))
    )
    assert order[type(low)] <= order[type(high)]


def test_a_mark_that_is_no_number_is_refused() -> None:
    with pytest.raises(PolicyParameterError, match="partial_from must be a finite number"):
        replace(COVERAGE, partial_from=float("nan"))


def test_what_is_shipped_for_the_web_keeps_the_bars_of_other_searches() -> None:
    """Without an origin in reach the default policy decides as it does everywhere else."""
    for scorer in shipped_scorers():
        found = shipped(scorer)
        assert found is not None
        assert found.coverage is not None
        assert found.coverage.otherwise == found.bars
