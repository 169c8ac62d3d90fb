"""Whole searches without text: a policy, tiers that yield numbers, a budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from policies import (
    Abstain,
    AnswerNow,
    Budget,
    Decision,
    Reason,
    SearchOn,
    SearchState,
    StopPolicy,
    TierInfo,
    Widen,
    enforce,
)
from retrieval import Spend


@dataclass(frozen=True)
class Yield:
    """What one turn in a tier brings."""

    new: int = 5
    score: float | None = 0.5
    failed: bool = False
    calls: int = 1
    observed: Mapping[str, float] = field(default_factory=dict)


Tier = Callable[[int], Yield | None]
"""From the number of the turn in this tier (0, 1, 2 and so on) to its yield; None: nothing left to ask."""


@dataclass
class Simulation:
    """The loop of `agent.search`, with numbers in the place of text."""

    policy: StopPolicy
    tiers: Sequence[Tier]
    budget: Budget
    given: Yield | None = None
    visited: int = 1
    tier_turns: list[int] = field(default_factory=lambda: [0])
    """Turns in each tier visited."""
    spend: Spend = Spend()
    scores: list[float | None] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    failed_turns: int = 0
    passages: int = 0
    observed: Mapping[str, float] = field(default_factory=dict)
    seen: list[SearchState] = field(default_factory=list)
    """For each turn what the policy saw when it was last asked, as a trace holds it."""

    def run(self) -> Decision:
        """Search to the end."""
        decision: Decision = SearchOn(reason=Reason(code="start", by="loop"))
        if self.given is not None:
            self.passages = self.given.new
            self.scores.append(self.given.score)
            decision = self.asked()
        while True:
            decision = self.settle(decision)
            if isinstance(decision, AnswerNow | Abstain):
                return decision
            self.turn()
            decision = self.asked()

    def settle(self, wish: Decision) -> Decision:
        """Follow a wish until it is an end, or a tier with a query to ask."""
        nothing_to_ask = False
        while True:
            decision = enforce(wish, self.state(nothing_to_ask=nothing_to_ask))
            if isinstance(decision, AnswerNow | Abstain):
                return decision
            if isinstance(decision, Widen):
                self.visited, self.failed_turns = self.visited + 1, 0
                self.tier_turns.append(0)
            if self.next_yield() is not None:
                return decision
            nothing_to_ask = True
            wish = self.asked(nothing_to_ask=True)

    def asked(self, *, nothing_to_ask: bool = False) -> Decision:
        state = self.state(nothing_to_ask=nothing_to_ask)
        if self.seen and self.seen[-1].turn == state.turn:
            self.seen.pop()
        self.seen.append(state)
        return self.policy.decide(state)

    def next_yield(self) -> Yield | None:
        return self.tiers[self.visited - 1](self.tier_turns[-1])

    def turn(self) -> None:
        found = self.next_yield()
        assert found is not None
        left = self.budget.left(self.spend, turns=len(self.new)).calls
        self.spend += Spend(calls=found.calls if left is None else min(found.calls, left))
        self.failed_turns = self.failed_turns + 1 if found.failed else 0
        new = 0 if found.failed else found.new
        self.passages += new
        self.new.append(new)
        self.scores.append(found.score if self.passages else None)
        self.observed = found.observed
        self.tier_turns[-1] += 1

    def state(self, *, nothing_to_ask: bool = False) -> SearchState:
        return SearchState(
            turn=len(self.new),
            tier=f"tier {self.visited}",
            scores=tuple(self.scores),
            new_passages=tuple(self.new),
            passages=self.passages,
            tier_turns=self.tier_turns[-1],
            observations=self.observed,
            spend=self.spend,
            left=self.budget.left(self.spend, turns=len(self.new)),
            tiers_left=tuple(TierInfo(name=f"tier {n + 1}") for n in range(self.visited, len(self.tiers))),
            nothing_to_ask=nothing_to_ask,
            failed_turns=self.failed_turns,
        )


def steady(found: Yield) -> Tier:
    """The same for ever."""
    return lambda _: found


def script(*found: Yield) -> Tier:
    """One yield after the other, then nothing left to ask."""
    return lambda turn: found[turn] if turn < len(found) else None
