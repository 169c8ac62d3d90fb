"""Ordered tiers: what the loop knows about a place to search."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .retriever import Retriever


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A retriever with its name, price and limits. Tiers are tried in the order in which they are given.

    Raises:
        ValueError: empty name, k below 1, a negative or non-finite price, a time-out that is not positive.
    """

    name: str
    """Unique within a search; printed in traces."""
    retriever: Retriever
    k: int = 5
    """Passages asked for in one call."""
    price: float = 0.0
    """Price of one call in the user's own unit; policies weigh it and budgets count it."""
    fetches: bool = False
    """Whether calls may ask origins on the web: a budget of fetches bounds such tiers and no others."""
    timeout_seconds: float = 30.0
    """The longest that one call may take; the search's own budget may cut it shorter."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise ValueError("A tier needs a name, it got an empty one. Name it, e.g. 'local'.")
        if self.k < 1:
            raise ValueError(f"Tier {self.name!r}: k must be at least 1, it is {self.k}.")
        if not math.isfinite(self.price) or self.price < 0:
            raise ValueError(f"Tier {self.name!r}: price must be finite and not negative, it is {self.price}.")
        if not self.timeout_seconds > 0:
            raise ValueError(
                f"Tier {self.name!r}: timeout_seconds must be positive, it is {self.timeout_seconds}."
            )
