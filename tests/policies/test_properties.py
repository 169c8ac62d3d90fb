"""What holds for every policy in every state."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from policies import Abstain, AnswerNow, Decision, Reason, SearchOn, SearchState, StopPolicy, Widen, enforce
from policies.budget import can_go_on
from policies.combine import AnswerAtEnd, FirstOf, MinTurns
from tests.policies.strategies import LOWEST_THRESHOLD, checked_policies, policies, states


def wishes() -> st.SearchStrategy[Decision]:
    """Any decision that a policy could take."""
    reason = Reason(code="in_band", by="band", values={"score": 0.5})
    kinds = [AnswerNow(reason=reason), SearchOn(reason=reason), Abstain(reason=reason)]
    return st.sampled_from([*kinds, Widen(reason=reason), Widen(reason=reason, tier="web")])


@given(policies(), states())
def test_a_policy_is_a_pure_function_of_the_state(policy: StopPolicy, state: SearchState) -> None:
    """The same state gives the same decision, also after other searches and from a copy of the policy."""
    copy, before = deepcopy(policy), repr(state)
    first = policy.decide(state)
    policy.decide(replace(state, turn=state.turn + 1, tier="other"))
    assert policy.decide(deepcopy(state)) == first == copy.decide(state)
    assert (repr(state), policy) == (before, copy)


@given(policies(), states())
def test_without_evidence_nothing_is_answered(policy: StopPolicy, state: SearchState) -> None:
    """E06, and fixed-k too."""
    assert not isinstance(policy.decide(replace(state, passages=0)), AnswerNow)


@given(policies(), states())
def test_nan_counts_as_no_score(policy: StopPolicy, state: SearchState) -> None:
    """S04: NaN and infinity never decide: the decision is the one for a missing score."""
    missing = tuple(score if score is not None and math.isfinite(score) else None for score in state.scores)
    assert policy.decide(state) == policy.decide(replace(state, scores=missing))


@given(checked_policies(), states())
def test_no_valid_score_no_answer(policy: StopPolicy, state: SearchState) -> None:
    """S04: a scorer that failed never leads to an answer."""
    assert not isinstance(policy.decide(replace(state, score_invalid=True)), AnswerNow)
    assert not isinstance(policy.decide(replace(state, scores=(*state.scores, math.nan))), AnswerNow)


@given(checked_policies(), states(), st.floats(min_value=-3.0, max_value=LOWEST_THRESHOLD, exclude_max=True))
def test_below_the_threshold_there_is_no_way_to_an_answer(
    policy: StopPolicy, state: SearchState, score: float
) -> None:
    """L06: neither a policy nor the end of a budget answers unchecked, unless AnswerAtEnd or FixedK was chosen."""
    seen = replace(state, scores=(*state.scores, score))
    assert not isinstance(enforce(policy.decide(seen), seen), AnswerNow)


@given(checked_policies(), states())
def test_answer_at_end_leaves_only_empty_searches_unanswered(policy: StopPolicy, state: SearchState) -> None:
    """The configured exception to L06 is complete, and says that it is unchecked."""
    done = enforce(AnswerAtEnd(policy).decide(state), state)
    plain = enforce(policy.decide(state), state)
    if isinstance(plain, Abstain) and state.passages:
        assert isinstance(done, AnswerNow)
        assert done.reason.code == "unchecked_answer"
        assert done.reason.overruled == (plain.reason.code, *plain.reason.overruled)
    else:
        assert (type(done), done.reason.code) == (type(plain), plain.reason.code)


@given(policies(), states())
def test_reasons_are_finite_and_name_their_policy(policy: StopPolicy, state: SearchState) -> None:
    """A reason can be written as JSON and says who spoke, the outermost first."""
    decision = policy.decide(state)
    assert all(math.isfinite(value) for value in decision.reason.values.values())
    assert decision.reason.by.removeprefix("enforce/").startswith(policy.name)


@given(wishes(), states())
def test_an_exhausted_budget_ends_the_search(wish: Decision, state: SearchState) -> None:
    """L02, L09: no wish goes on without a budget."""
    assume(state.left.exhausted is not None)
    assert isinstance(enforce(wish, state), AnswerNow | Abstain)


@given(wishes(), states())
def test_enforce_only_ever_takes_away(wish: Decision, state: SearchState) -> None:
    """An answer with evidence and an abstention stand; going on never becomes an answer; twice is once."""
    done = enforce(wish, state)
    if isinstance(wish, Abstain) or (isinstance(wish, AnswerNow) and state.passages):
        assert done is wish
    else:
        assert not isinstance(done, AnswerNow)
    assert enforce(done, state) == done
    assert wish.reason.code in (done.reason.code, *done.reason.overruled)
    assert not isinstance(done, Widen) or state.tiers_left


@given(states())
def test_can_go_on_agrees_with_enforce(state: SearchState) -> None:
    """Policies foresee the end by the same rule that brings it."""
    wish = SearchOn(reason=Reason(code="in_band", by="band"))
    assert can_go_on(state) is not isinstance(enforce(wish, state), Abstain)


@given(policies(), states())
def test_a_first_of_one_is_that_one(policy: StopPolicy, state: SearchState) -> None:
    """Combinators keep the reason: code, numbers, who spoke."""
    alone, combined = policy.decide(state), FirstOf(policy).decide(state)
    reason = replace(alone.reason, by=f"first_of/{alone.reason.by}")
    assert combined == replace(alone, reason=reason)


@given(policies(), states(), st.integers(min_value=1, max_value=5))
def test_a_minimum_only_delays(policy: StopPolicy, state: SearchState, turns: int) -> None:
    """L07: no stop before the minimum while a turn is possible; the held-back reason is kept."""
    alone, held = policy.decide(state), MinTurns(policy, turns).decide(state)
    assert alone.reason.code in (held.reason.code, *held.reason.overruled)
    if state.turn < turns and can_go_on(state):
        assert isinstance(enforce(held, state), SearchOn | Widen)
    else:
        assert (type(held), held.reason.code) == (type(alone), alone.reason.code)


@pytest.mark.parametrize("kind", [AnswerNow, SearchOn, Widen, Abstain])
def test_decisions_survive_json(kind: type[AnswerNow | SearchOn | Widen | Abstain]) -> None:
    """In JSON the four are told apart by `action`; a decision read back is the decision written."""
    adapter: TypeAdapter[Decision] = TypeAdapter(Decision)
    reason = Reason(code="in_band", by="band", values={"score": 0.5}).replaced("budget_calls", by="enforce")
    decision = kind(reason=reason)
    assert adapter.validate_json(adapter.dump_json(decision)) == decision
