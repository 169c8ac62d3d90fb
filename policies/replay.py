"""What a policy would have done in a search that was recorded to its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from .budget import enforce
from .decision import Abstain, AnswerNow, Decision, SearchOn, Widen
from .policy import StopPolicy
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The end of a replayed search."""

    look: int
    """Place among the recorded states at which it ended, 0 = the first."""
    decision: AnswerNow | Abstain
    """As it is carried out, see `enforce`."""
    state: SearchState
    """What the policy saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffRecord:
    """The policy wished to go where the recorded search did not go: on after its end, or to another tier."""

    look: int
    """The last place among the recorded states that it reached."""
    decision: SearchOn | Widen


Replayed: TypeAlias = Stop | OffRecord


class Recorded:
    """The states of one search, as its policy saw them, ready to be shown to other policies.

    A trace holds for each turn the state of the last time that the policy was asked. Where the planner had no
    query left, the policy had been asked before, without that knowledge: a replay asks twice, too.

    Args:
        states: One a turn, oldest first; that of turn 0 first if evidence was given.
    """

    __slots__ = ("_looks", "_tiers", "states")

    def __init__(self, states: Sequence[SearchState]) -> None:
        self.states = tuple(states)
        self._looks = tuple(_looks(state) for state in self.states)
        tiers = [state.tier for state in self.states]
        self._tiers = (*(one if one != other else None for other, one in pairwise(tiers)), None)
        """For each state the tier that the search widened to after it, None = it stayed, or ended."""

    def play(self, policy: StopPolicy) -> Replayed:
        """Show the states to a policy until it ends the search, as the loop would have.

        The same decisions as in a live run with the parts and the budget of the recorded one, which is exact as
        long as decisions change no query: a policy that widens earlier or later leaves the record.
        """
        last = len(self.states) - 1
        for place, (looks, tier) in enumerate(zip(self._looks, self._tiers, strict=True)):
            decision, state = _asked(policy, looks)
            if isinstance(decision, AnswerNow | Abstain):
                return Stop(look=place, decision=decision, state=state)
            if place == last or not _went(decision, tier, state):
                return OffRecord(look=place, decision=decision)
        raise ValueError("A search without a state cannot be replayed: record at least one turn.")


def _asked(policy: StopPolicy, looks: Sequence[SearchState]) -> tuple[Decision, SearchState]:
    """The first decision other than searching on, or the last one; and what the policy saw then."""
    for state in looks[:-1]:
        decision = enforce(policy.decide(state), state)
        if not isinstance(decision, SearchOn):
            return decision, state
    return enforce(policy.decide(looks[-1]), looks[-1]), looks[-1]


def _looks(state: SearchState) -> tuple[SearchState, ...]:
    """The states that the loop shows the policy after one turn, in order."""
    if state.nothing_to_ask and state.tier:
        return replace(state, nothing_to_ask=False), state
    return (state,)


def _went(decision: SearchOn | Widen, tier: str | None, state: SearchState) -> bool:
    """Whether the recorded search did the same: stayed in its tier, or widened to the same one."""
    if isinstance(decision, SearchOn):
        return tier is None
    left = [info.name for info in state.tiers_left]
    wanted = decision.tier if decision.tier in left else left[0]
    return tier == wanted
