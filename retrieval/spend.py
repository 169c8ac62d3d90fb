"""What a search has spent, and what it may still spend."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def exhausted(self) -> str | None:
        """The name of the first amount that is used up, in the order of the fields, or None.

        An amount that became NaN, because some part reported NaN as its spend, counts as used up.
        """
        for name in ("turns", "calls", "seconds", "tokens", "price"):
            left = getattr(self, name)
            if left is not None and not left > 0:
                return name
        return None
