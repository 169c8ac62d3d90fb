"""Policies that give a tier up when it brings nothing more. They never answer; combine them with one that does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import Decision, Reason, SearchOn
from .endings import leave_tier
from .parameters import require_amount, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True)
class Stagnation:
    """Gives a tier up after `patience` turns in a row that brought no new passage (case L03).

    Counted on the present tier only: widening begins anew. A turn whose calls all failed is not held against
    the tier at once; `enforce` deals with failing tiers.

    Raises:
        PolicyParameterError: `patience` below 1.
    """

    patience: int = 2
    """Turns."""
    name: ClassVar[str] = "stagnation"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_whole("Stagnation", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Count the latest turns without new passages."""
        return give_up_after(self.patience, turns_without_news(state), state, code="stagnation", by=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoGain:
    """Gives a tier up after `patience` turns in a row that did not lift the score.

    A turn is good if its score exceeds the best one of the search so far by more than `min_gain` (the first
    valid score is good), otherwise poor; a good turn sets the count back to 0 and its score is the new best
    (case L08: low, high, low, low with patience 2 ends after the fourth turn). A turn without a valid score
    counts neither way. Only turns on the present tier count; the best score may stem from an earlier tier.
    A score that is corrected for size can fall as evidence grows; such a turn is poor.

    Raises:
        PolicyParameterError: `min_gain` negative, NaN or infinite, `patience` below 1.
    """

    min_gain: float = 0.0
    """On the scorer's own scale."""
    patience: int = 2
    """Turns."""
    name: ClassVar[str] = "no_gain"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_amount("NoGain", "min_gain", self.min_gain)
        require_whole("NoGain", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Count the latest turns without gain."""
        return give_up_after(self.patience, self._poor_in_a_row(state), state, code="no_gain", by=self.name)

    def _poor_in_a_row(self, state: SearchState) -> int:
        best = max((score for score in state.earlier_scores if score is not None), default=None)
        poor = 0
        for score in state.tier_scores:
            if score is None:
                continue
            if best is None or score > best + self.min_gain:
                best, poor = score, 0
            else:
                poor += 1
        return poor


def turns_without_news(state: SearchState) -> int:
    """How many turns in a row, up to the latest on this tier, brought no new passage."""
    turns = 0
    for new in reversed(state.tier_new_passages):
        if new:
            break
        turns += 1
    return turns


def give_up_after(patience: int, poor: int, state: SearchState, *, code: str, by: str) -> Decision:
    """Leave the tier after enough poor turns. A tier that gave no passage at all is empty, not poor (case L01)."""
    values = {"poor_turns": poor, "patience": patience}
    if state.failed_turns:
        return SearchOn(reason=Reason(code="tier_failed", by=by, values=values))
    if poor < patience:
        return SearchOn(reason=Reason(code="progress", by=by, values=values))
    return leave_tier(Reason(code=code if state.passages else "no_evidence", by=by, values=values), state)
