"""Where one search is among its tiers, and what it has asked there."""

from __future__ import annotations

from collections.abc import Sequence

from policies import TierInfo
from retrieval import Tier

from .calls import Outcome


class Itinerary:
    """Visits tiers, each at most once, beginning with the first. Counters belong to the present tier."""

    def __init__(self, tiers: Sequence[Tier]) -> None:
        self.turns = 0
        """Turns on the present tier."""
        self.failed_turns = 0
        """How many turns in a row, up to the latest, had all their calls fail."""
        self.nothing_to_ask = not tiers
        """True once the planner has no query left for the present tier."""
        self._tiers = tuple(tiers)
        self._visited: list[Tier] = []
        self._tried: list[str] = []
        self._asked: set[str] = set()
        if tiers:
            self.enter(None)

    @property
    def tier(self) -> Tier:
        """The present tier.

        Raises:
            RuntimeError: the search has no tiers; `enforce` ends it before anything is asked.
        """
        if not self._visited:
            raise RuntimeError("A search without tiers has nowhere to ask.")
        return self._visited[-1]

    @property
    def name(self) -> str:
        """The present tier's name, empty if there are none."""
        return self._visited[-1].name if self._visited else ""

    @property
    def price(self) -> float:
        """Price of one call to the present tier."""
        return self._visited[-1].price if self._visited else 0.0

    @property
    def fetches(self) -> bool:
        """Whether calls to the present tier may ask origins."""
        return bool(self._visited) and self._visited[-1].fetches

    @property
    def tried(self) -> tuple[str, ...]:
        """Queries that the present tier answered, oldest first. One that failed may be asked again."""
        return tuple(self._tried)

    @property
    def left(self) -> tuple[TierInfo, ...]:
        """Tiers not visited yet, in order."""
        return tuple(
            TierInfo(name=tier.name, price=tier.price, fetches=tier.fetches)
            for tier in self._tiers
            if tier not in self._visited
        )

    @property
    def not_asked(self) -> tuple[str, ...]:
        """Names of the tiers that no query was sent to, in order."""
        return tuple(tier.name for tier in self._tiers if tier.name not in self._asked)

    def enter(self, name: str | None) -> None:
        """Go to the tier that a policy named if it was not visited yet, else to the next one in order."""
        left = self._unvisited()
        self._visited.append(next((tier for tier in left if tier.name == name), left[0]))
        self._tried = []
        self.turns = self.failed_turns = 0
        self.nothing_to_ask = False

    def count(self, outcomes: Sequence[Outcome]) -> None:
        """Take note of one turn's calls."""
        if outcomes:
            self._asked.add(self.tier.name)
        self._tried.extend(outcome.query for outcome in outcomes if not outcome.failed)
        self.turns += 1
        failed = all(outcome.failed for outcome in outcomes)
        self.failed_turns = self.failed_turns + 1 if failed else 0

    def _unvisited(self) -> list[Tier]:
        visited = {tier.name for tier in self._visited}
        return [tier for tier in self._tiers if tier.name not in visited]
