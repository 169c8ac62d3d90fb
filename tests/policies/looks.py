"""States and decisions in one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from policies import Decision, SearchState, TierInfo
from retrieval import Allowance, Spend

WEB = (TierInfo(name="web", price=1.0),)
LOW, MID, HIGH = 0.1, 0.5, 0.9


def after(
    scores: Sequence[float | None],
    new: Sequence[int] | None = None,
    *,
    passages: int | None = None,
    tier_turns: int | None = None,
    tiers_left: tuple[TierInfo, ...] = (),
    calls: int = 0,
    calls_left: int | None = None,
    score_invalid: bool = False,
    nothing_to_ask: bool = False,
    failed_turns: int = 0,
    observed: Mapping[str, float] | None = None,
) -> SearchState:
    """The state after as many turns as there are scores, five new passages each unless said otherwise."""
    new = [5] * len(scores) if new is None else new
    return SearchState(
        turn=len(scores),
        tier="local",
        scores=tuple(scores),
        score_invalid=score_invalid,
        new_passages=tuple(new),
        passages=sum(new) if passages is None else passages,
        tier_turns=len(scores) if tier_turns is None else tier_turns,
        spend=Spend(calls=calls),
        left=Allowance(calls=calls_left),
        tiers_left=tiers_left,
        nothing_to_ask=nothing_to_ask,
        failed_turns=failed_turns,
        observations=observed or {},
    )


def given(score: float, *, calls_left: int | None = None, nothing_to_ask: bool = False) -> SearchState:
    """Before any turn, with two passages that the user gave."""
    left = Allowance(calls=calls_left)
    return SearchState(turn=0, tier="local", scores=(score,), passages=2, left=left, nothing_to_ask=nothing_to_ask)


def says(decision: Decision) -> str:
    """`action code`, e.g. `answer threshold_met`."""
    return f"{decision.action} {decision.reason.code}"
