"""What a search has spent, and what it may still spend."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """Amounts used so far. Adds up; never negative."""

    calls: int = 0
    """Calls: one `retrieve` of one query on one tier each. A call that failed counts."""
    seconds: float = 0.0
    """Wall-clock seconds. Of parallel parts the loop counts its own clock, not their sum."""
    tokens: int = 0
    """Tokens of language models, prompt and completion together."""
    price: float = 0.0
    """In the unit of the tiers' declared prices."""
    fetches: int = 0
    """Documents fetched from their origin."""

    def __add__(self, other: Spend) -> Spend:
        return Spend(
            calls=self.calls + other.calls,
            seconds=self.seconds + other.seconds,
            tokens=self.tokens + other.tokens,
            price=self.price + other.price,
            fetches=self.fetches + other.fetches,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What is left to spend. `None` = unlimited; zero or less = nothing left."""

    turns: int | None = None
    calls: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    price: float | None = None
    fetches: int | None = None
    """Requests to origins. Of one call: its share of what the search has left."""

    @property
    def exhausted(self) -> str | None:
        """The name of the first amount that is used up, in the order of the fields, or None.

        An amount that became NaN, because some part reported NaN as its spend, counts as used up. Price and
        fetches are not among them: what is left is enough for one tier and too little for another, see `calls_at`.
        """
        for name in ("turns", "calls", "seconds", "tokens"):
            left = getattr(self, name)
            if left is not None and not left > 0:
                return name
        return None

    def calls_at(self, price: float, *, fetches: bool = False) -> int | None:
        """How many calls at this price are left, by count, by price and by fetches; None = unlimited.

        Args:
            price: Of one call.
            fetches: Whether the calls ask origins: then each needs one fetch at least.

        >>> Allowance(calls=5, price=0.3).calls_at(0.1)
        3
        >>> Allowance(fetches=2).calls_at(0.0, fetches=True)
        2
        """
        limits = [] if self.calls is None else [self.calls]
        if fetches and self.fetches is not None:
            limits.append(self.fetches)
        if self.price is not None and math.isnan(self.price):
            limits.append(0)  # some part reported NaN as its spend: nobody knows what is left
        elif self.price is not None and price > 0:
            limits.append(int(self.price / price * (1 + 1e-9)))  # 0.3 / 0.1 is a little below 3
        return max(min(limits), 0) if limits else None

    def shares_of_fetches(self, calls: int) -> tuple[Allowance, ...]:
        """This allowance for each of several calls that run at once, the fetches dealt out among them.

        >>> [share.fetches for share in Allowance(fetches=5).shares_of_fetches(2)]
        [3, 2]
        """
        if self.fetches is None:
            return (self,) * calls
        left = max(self.fetches, 0)
        return tuple(replace(self, fetches=(left + calls - 1 - place) // calls) for place in range(calls))
