"""What a stop policy sees: numbers, never text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from retrieval import Allowance, Spend


@dataclass(frozen=True, slots=True, kw_only=True)
class TierInfo:
    """What a policy knows about a tier that was not tried yet."""

    name: str
    price: float = 0.0
    """Price of one call, in the user's unit."""
    fetches: bool = False
    """Whether its calls may ask origins on the web."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """A search after one turn, as its policy sees it. Built by the loop, or from a trace by a replay."""

    turn: int
    """Turns finished; 0 = only the evidence that was given."""
    tier: str
    """The present tier; empty in a search without tiers."""
    scores: tuple[float | None, ...] = ()
    """The sufficiency score after each turn, oldest first; the first one belongs to the given evidence if there
    was any. None = there was nothing valid to score (no evidence, or the scorer failed)."""
    score_invalid: bool = False
    """True if the scorer failed or returned no finite value for the present evidence."""
    new_passages: tuple[int, ...] = ()
    """New distinct passages each turn, oldest first."""
    passages: int = 0
    """Distinct passages so far, |E|."""
    tier_price: float = 0.0
    """Price of one call to the present tier."""
    tier_fetches: bool = False
    """Whether calls to the present tier may ask origins on the web."""
    tier_turns: int = 0
    """Turns on the present tier."""
    observations: Mapping[str, float] = field(default_factory=dict)
    """The latest observers' values, by `observer.value`."""
    spend: Spend = Spend()
    left: Allowance = Allowance()
    tiers_left: tuple[TierInfo, ...] = ()
    """Tiers not tried yet, in order."""
    nothing_to_ask: bool = False
    """True if the planner has no query left for this tier."""
    failed_turns: int = 0
    """How many turns in a row, up to the latest, had all their calls to this tier fail."""

    @property
    def tiers_within_reach(self) -> tuple[TierInfo, ...]:
        """Tiers not tried yet that what is left of price and fetches pays at least one call of, in order."""
        if not self.tiers_left:
            return ()
        left = self.left
        return tuple(tier for tier in self.tiers_left if left.calls_at(tier.price, fetches=tier.fetches) != 0)

    @property
    def calls_left(self) -> int | None:
        """How many calls to the present tier the budget still pays; None = unlimited."""
        return self.left.calls_at(self.tier_price, fetches=self.tier_fetches)

    @property
    def score(self) -> float | None:
        """The score of the present evidence; None where nothing may rest on it: there is no evidence, the scorer
        failed, or its value is not finite (case S04).
        """
        if self.score_invalid or not self.passages or not self.scores:
            return None
        return _finite(self.scores[-1])

    def observed(self, name: str) -> float | None:
        """The value `observer.value` of an observer; None where it is missing or not finite (case S04)."""
        return _finite(self.observations.get(name))

    @property
    def earlier_scores(self) -> tuple[float | None, ...]:
        """The scores from before the present tier, oldest first; None for whatever is not finite."""
        return tuple(_finite(score) for score in self.scores[: self._before_tier(len(self.scores))])

    @property
    def tier_scores(self) -> tuple[float | None, ...]:
        """One score for each turn on the present tier, oldest first; None for whatever is not finite."""
        return tuple(_finite(score) for score in self.scores[self._before_tier(len(self.scores)) :])

    @property
    def tier_new_passages(self) -> tuple[int, ...]:
        """New distinct passages of each turn on the present tier, oldest first."""
        return self.new_passages[self._before_tier(len(self.new_passages)) :]

    def _before_tier(self, looks: int) -> int:
        """How many of `looks` entries stem from before the present tier."""
        return max(looks - self.tier_turns, 0)


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None
