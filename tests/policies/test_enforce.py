"""Budgets, failures and a lack of queries overrule a policy's wish; nothing here ever answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

from policies import Abstain, AnswerNow, Budget, Decision, Reason, SearchOn, SearchState, TierInfo, Widen, enforce
from policies.budget import can_go_on
from policies.errors import PolicyContractError
from retrieval import Allowance, Spend

WHY = Reason(code="in_band", by="band", values={"score": 0.5})
ANSWER, SEARCH, WIDEN, ABSTAIN = (kind(reason=WHY) for kind in (AnswerNow, SearchOn, Widen, Abstain))
WEB = (TierInfo(name="web"),)
OUT = Allowance(calls=0)


def state(**changes: Any) -> SearchState:
    """After one good turn in the only tier, with these changes."""
    usual: dict[str, Any] = {"turn": 1, "tier": "local", "scores": (0.5,), "passages": 5, "tier_turns": 1}
    return SearchState(**(usual | changes))


@pytest.mark.parametrize(
    ("wish", "seen", "action", "codes"),
    [
        # what the policy wants is done where it can be
        (SEARCH, state(), "search", "in_band"),
        (WIDEN, state(tiers_left=WEB), "widen", "in_band"),
        (ANSWER, state(left=OUT), "answer", "in_band"),
        (ABSTAIN, state(left=OUT, tiers_left=WEB), "abstain", "in_band"),
        # E06: an answer needs evidence
        (ANSWER, state(passages=0, scores=(None,)), "abstain", "no_evidence in_band"),
        # L05, L06: a budget ends the search without an answer; the reason keeps where the score stood
        (SEARCH, state(left=Allowance(turns=0)), "abstain", "budget_turns in_band"),
        (SEARCH, state(left=OUT), "abstain", "budget_calls in_band"),
        (SEARCH, state(left=Allowance(seconds=-0.2)), "abstain", "budget_seconds in_band"),
        (SEARCH, state(left=Allowance(tokens=-7)), "abstain", "budget_tokens in_band"),
        (SEARCH, state(left=Allowance(price=math.nan)), "abstain", "budget_price in_band"),
        # L09: widening does not bring a budget back
        (WIDEN, state(left=OUT, tiers_left=WEB), "abstain", "budget_calls in_band"),
        # L02: nothing may be spent and nothing was given
        (SEARCH, state(turn=0, tier_turns=0, passages=0, scores=(), left=OUT), "abstain", "budget_calls in_band"),
        # L04: nothing left to ask widens; after the last tier it abstains
        (SEARCH, state(nothing_to_ask=True, tiers_left=WEB), "widen", "nothing_to_ask in_band"),
        (SEARCH, state(nothing_to_ask=True), "abstain", "nothing_to_ask in_band"),
        # L10: abstains only after the tiers
        (WIDEN, state(), "abstain", "in_band"),
        # L01: an empty tier is not asked twice, and the search ends as empty whatever else ran out
        (SEARCH, state(passages=0, tiers_left=WEB), "widen", "no_evidence in_band"),
        (SEARCH, state(passages=0), "abstain", "no_evidence in_band"),
        (SEARCH, state(passages=0, nothing_to_ask=True), "abstain", "no_evidence in_band"),
        (SEARCH, state(passages=0, left=OUT), "abstain", "no_evidence budget_calls in_band"),
        # L11: a tier that fails is left; the last one gets one more try
        (SEARCH, state(failed_turns=1, tiers_left=WEB), "widen", "tier_failed in_band"),
        (SEARCH, state(failed_turns=1), "search", "in_band"),
        (SEARCH, state(failed_turns=1, passages=0), "search", "in_band"),
        (SEARCH, state(failed_turns=2), "abstain", "tier_failed in_band"),
        (SEARCH, state(failed_turns=2, passages=0), "abstain", "tier_failed in_band"),
        # S04: a score that could not be used names the end, unless it was the clock that cut it short
        (SEARCH, state(score_invalid=True), "search", "in_band"),
        (SEARCH, state(score_invalid=True, left=OUT), "abstain", "score_invalid budget_calls in_band"),
        (
            SEARCH,
            state(score_invalid=True, nothing_to_ask=True),
            "abstain",
            "score_invalid nothing_to_ask in_band",
        ),
        (SEARCH, state(score_invalid=True, left=Allowance(seconds=0)), "abstain", "budget_seconds in_band"),
    ],
)
def test_enforce(wish: Decision, seen: SearchState, action: str, codes: str) -> None:
    """What is done about a wish, and every reason that was overruled on the way, the latest first."""
    done = enforce(wish, seen)
    assert (done.action, done.reason.code, *done.reason.overruled) == (action, *codes.split())
    assert done.reason.values == WHY.values
    assert done.reason.by == ("band" if done.reason.code == WHY.code else "enforce/band")


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (state(), True),
        (state(left=OUT, tiers_left=WEB), False),
        (state(nothing_to_ask=True), False),
        (state(nothing_to_ask=True, tiers_left=WEB), True),
        (state(failed_turns=1), True),
        (state(failed_turns=2), False),
        (state(passages=0), False),
        (state(turn=0, tier_turns=0, passages=0, scores=()), True),
    ],
)
def test_can_go_on(seen: SearchState, expected: bool) -> None:
    """Whether another turn is possible at all."""
    assert can_go_on(seen) is expected


def test_left_is_counted_over_the_whole_search() -> None:
    """L09: what is left depends on spend and turns, on nothing else."""
    budget = Budget(max_turns=3, max_calls=8, max_seconds=10.0, max_tokens=100, max_price=1.0)
    spend = Spend(calls=8, seconds=2.5, tokens=30, price=0.25)
    assert budget.left(spend, turns=2) == Allowance(turns=1, calls=0, seconds=7.5, tokens=70, price=0.75)
    assert budget.left(spend, turns=2).exhausted == "calls"
    unlimited = Budget(max_turns=None, max_calls=None, max_seconds=None)
    assert unlimited.left(spend, turns=10**6).exhausted is None


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_reason_does_not_rest_on_nan(value: float) -> None:
    """S04: a policy that lets such a number through is wrong, and hears so."""
    with pytest.raises(PolicyContractError, match=r"'mine'.*must be finite numbers"):
        Reason(code="guess", by="mine", values={"score": value})


def test_a_price_that_pays_no_call_here_goes_where_it_does_or_ends_as_budget_price() -> None:
    """A tier that costs more than what is left is not asked; one that is free always may be."""
    free, dear = TierInfo(name="cache"), TierInfo(name="web", price=1.0)
    poor = Allowance(price=0.5)
    assert enforce(SEARCH, state(left=poor, tier_price=0.5)) == SEARCH
    assert enforce(SEARCH, state(left=Allowance(price=0.0))) == SEARCH
    onward = enforce(SEARCH, state(left=poor, tier_price=1.0, tiers_left=(dear, free)))
    assert isinstance(onward, Widen)
    assert (onward.tier, onward.reason.code) == ("cache", "budget_price")
    end = enforce(SEARCH, state(left=poor, tier_price=1.0, tiers_left=(dear,)))
    assert isinstance(end, Abstain)
    assert end.reason.code == "budget_price"
    assert enforce(Widen(reason=SEARCH.reason, tier="web"), state(left=poor, tiers_left=(dear, free))) == Widen(
        reason=SEARCH.reason, tier="cache"
    )
