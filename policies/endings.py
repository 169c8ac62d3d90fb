"""How a policy ends a search, leaves a tier or has to wait; for policies of your own too."""

from __future__ import annotations

from .budget import can_go_on, enforce
from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .state import SearchState


def leave_tier(reason: Reason, state: SearchState) -> Widen | Abstain:
    """Give the present tier up: widen while a tier is left, abstain after the last (case L10)."""
    return Widen(reason=reason) if state.tiers_left else Abstain(reason=reason)


def not_before(min_turns: int, decision: Decision, state: SearchState) -> Decision:
    """`decision`, or going on where it would stop before `min_turns` turns although another one is possible.

    Once the budget is used up or nothing is left to ask, the minimum cannot be reached any more: what the policy
    makes of the evidence at hand stands (cases L02, L07).
    """
    if state.turn >= min_turns or not can_go_on(state):
        return decision
    if isinstance(enforce(decision, state), AnswerNow | Abstain):
        values = {"turn": state.turn, "min_turns": min_turns}
        return SearchOn(reason=decision.reason.replaced("min_turns", values=values))
    return decision


def unchecked_at_end(decision: Decision, state: SearchState) -> Decision:
    """`decision`, or an unchecked answer where the search would really end there with evidence in hand.

    For policies whose user allowed it; nothing else turns a failed check into an answer (case L06).
    """
    end = enforce(decision, state)
    if isinstance(end, Abstain) and state.passages:
        return AnswerNow(reason=end.reason.replaced("unchecked_answer"))
    return decision


def nothing_to_judge(by: str, state: SearchState) -> SearchOn:
    """No evidence, or a score that could not be used: never an answer (case S04)."""
    return SearchOn(reason=Reason(code="score_invalid" if state.passages else "no_evidence", by=by))


def not_observed(by: str, state: SearchState) -> SearchOn:
    """No evidence, or no value of the observer that the policy rests on: never an answer (case S04)."""
    return SearchOn(reason=Reason(code="not_observed" if state.passages else "no_evidence", by=by))
