"""Bars that know what going on costs: time in a cache, a request to somebody's site on the web."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from .bars import Bars
from .combine import said_by
from .decision import Decision, Reason, Widen
from .parameters import require_threshold
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageBars:
    """`Bars` of their own for tiers ahead of one that fetches, for a tier that fetches, and for all others.

    A call to a cache costs no origin anything; to leave it for the web does, and there each call may fetch. So the
    bars ahead of the web say when a cache covers a question, those on the web when another page is not worth its
    fetch. A tier counts as ahead while one that fetches is left and the budget pays a call to it.

    Monotone, as `Bars` are.

    Raises:
        PolicyParameterError: `partial_from` is NaN or infinite.
    """

    ahead: Bars
    """In a tier that does not fetch, with one left that does."""
    fetching: Bars
    """In a tier that fetches."""
    otherwise: Bars
    """Where no origin is in reach."""
    partial_from: float | None = None
    """Score from which on evidence that does not suffice is a part of what is needed, and worth adding to; None =
    the bar below which `ahead` left the tier. Stands in the reason as `partial_from`."""
    name: ClassVar[str] = "coverage"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if self.partial_from is not None:
            require_threshold("CoverageBars", "partial_from", self.partial_from)

    def decide(self, state: SearchState) -> Decision:
        """Hold the score against the bars of this place."""
        if state.tier_fetches:
            return said_by(self.name, self.fetching.decide(state))
        if any(tier.fetches for tier in state.tiers_within_reach):
            return self._marked(said_by(self.name, self.ahead.decide(state)))
        return said_by(self.name, self.otherwise.decide(state))

    def _marked(self, decision: Decision) -> Decision:
        if self.partial_from is None or not isinstance(decision, Widen):
            return decision
        said = decision.reason
        values = {**said.values, "partial_from": self.partial_from}
        reason = Reason(code=said.code, by=said.by, values=values, overruled=said.overruled)
        return replace(decision, reason=reason)
