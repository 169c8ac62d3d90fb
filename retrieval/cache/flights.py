"""Single flight: whoever asks for the same thing at the same time shares one piece of work (case C03)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import TierUnavailableError

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_GRACE_SECONDS = 1.0


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class Flights(Generic[K, T]):
    """Work in progress by key, on one event loop.

    The work is a task of its own: the one who began it may be cancelled and the others still get the result. It
    is cancelled when nobody waits for it any more, and what it raises is raised by everyone who waits.
    """

    def __init__(self) -> None:
        self._flights: dict[K, _Flight[T]] = {}
        self._kept: set[asyncio.Task[T]] = set()

    async def join(self, key: K, work: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """The result of the work for a key, and whether this call began it."""
        flight = self._flights.get(key)
        leads = flight is None
        if flight is None:
            flight = self._begin(key, work)
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), leads
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if flight.task.cancelled() and current is not None and not current.cancelling():
                raise TierUnavailableError("The cache was closed while a page was fetched.") from None
            raise
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done() and flight.task not in self._kept:
                await self._abandon(key, flight)

    def begin(self, key: K, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        """Do the work in the background, unless it is being done; nobody has to wait for it."""
        if key not in self._flights:
            self._kept.add(self._begin(key, work).task)

    async def close(self) -> None:
        """Cancel what is in progress, and wait until it has ended."""
        tasks = [flight.task for flight in self._flights.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, key: K, work: Callable[[], Coroutine[Any, Any, T]]) -> _Flight[T]:
        flight = _Flight(asyncio.create_task(work()))
        self._flights[key] = flight
        flight.task.add_done_callback(lambda task: self._landed(key, task))
        return flight

    def _landed(self, key: K, task: asyncio.Task[T]) -> None:
        self._kept.discard(task)
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen, even if nobody waits any more

    async def _abandon(self, key: K, flight: _Flight[T]) -> None:
        """Newcomers begin anew; wait a moment so that no task outlives the one who cancelled it."""
        self._flights.pop(key, None)
        flight.task.cancel()
        await asyncio.wait({flight.task}, timeout=_GRACE_SECONDS)
