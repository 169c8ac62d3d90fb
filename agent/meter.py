"""What one search has spent, and the time limits that follow from it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TypeVar

from policies import Budget
from retrieval import Allowance, Spend, Tier

T = TypeVar("T")

_ALLOWANCE: ContextVar[Allowance] = ContextVar("sufficit_allowance", default=Allowance())


def allowance() -> Allowance:
    """What the search that awaits this planner or answerer may still spend; unlimited outside a search.

    For parts that pay for what they do. Seconds bound a planner; an answer has a time limit of its own.
    """
    return _ALLOWANCE.get()


class Meter:
    """Counts spend against a budget. Seconds are the search's own clock, not the sum of parallel parts."""

    def __init__(self, budget: Budget, clock: Callable[[], float]) -> None:
        self.turns = 0
        self._budget = budget
        self._clock = clock
        self._started = clock()
        self._spend = Spend()

    def add(self, spend: Spend) -> None:
        """Count amounts other than seconds."""
        self._spend += replace(spend, seconds=0.0)

    def spent(self) -> Spend:
        """Everything up to now."""
        return replace(self._spend, seconds=self._clock() - self._started)

    def left(self) -> Allowance:
        """What the budget still allows."""
        return self._budget.left(self.spent(), turns=self.turns)

    def affordable_calls(self, most: int, tier: Tier) -> int:
        """How many calls to a tier fit what is left, at most `most`."""
        affordable = self.left().calls_at(tier.price, fetches=tier.fetches)
        return most if affordable is None else min(most, affordable)

    async def within(self, limit: float | None, work: Awaitable[T]) -> T:
        """Await `work`, no longer than `limit` seconds (None = no limit of its own) and the rest of the budget.

        Raises:
            TimeoutError: the time is up.
        """
        limits = [seconds for seconds in (limit, self.left().seconds) if seconds is not None]
        async with asyncio.timeout(max(min(limits), 0.0) if limits else None):
            with self.known():
                return await work

    @contextmanager
    def known(self) -> Iterator[None]:
        """Inside, `allowance` tells what is left."""
        token = _ALLOWANCE.set(self.left())
        try:
            yield
        finally:
            _ALLOWANCE.reset(token)
