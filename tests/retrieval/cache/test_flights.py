"""Single flight: one piece of work for everybody who asks at once."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.cache.flights import Flights
from retrieval.errors import TierUnavailableError


class Work:
    """Counts how often it is begun, and waits for its gate."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun, self.ended = 0, 0
        self.gate = asyncio.Event()
        self._error = error

    async def __call__(self) -> int:
        self.begun += 1
        try:
            await self.gate.wait()
        finally:
            self.ended += 1
        if self._error is not None:
            raise self._error
        return self.begun


@pytest.mark.anyio
async def test_sixteen_share_one_and_one_leads() -> None:
    """Case C03: one piece of work, one leader."""
    flights, work = Flights[str, int](), Work()
    tasks = [asyncio.create_task(flights.join("k", work)) for _ in range(16)]
    await asyncio.sleep(0)
    work.gate.set()
    results = await asyncio.gather(*tasks)
    assert work.begun == 1
    assert [leads for _, leads in results].count(True) == 1


@pytest.mark.anyio
async def test_followers_survive_the_leader() -> None:
    """Case C03: the leader is cancelled, the work goes on for the others."""
    flights, work = Flights[str, int](), Work()
    leader, *others = [asyncio.create_task(flights.join("k", work)) for _ in range(16)]
    await asyncio.sleep(0)
    leader.cancel()
    await asyncio.sleep(0)
    work.gate.set()
    assert await asyncio.gather(*others) == [(1, False)] * 15
    assert leader.cancelled()


@pytest.mark.anyio
async def test_what_is_raised_is_raised_to_all_and_then_forgotten() -> None:
    """Case C03: a failure is shared, and the next one begins anew."""
    flights, work = Flights[str, int](), Work(ValueError("no"))
    work.gate.set()
    results = await asyncio.gather(*(flights.join("k", work) for _ in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError] * 3
    with pytest.raises(ValueError, match="no"):
        await flights.join("k", work)
    assert work.begun == 2


@pytest.mark.anyio
async def test_work_that_nobody_waits_for_is_cancelled() -> None:
    """Case L13: no orphan task; who comes later begins anew."""
    flights, work, before = Flights[str, int](), Work(), asyncio.all_tasks()
    tasks = [asyncio.create_task(flights.join("k", work)) for _ in range(2)]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (work.begun, work.ended) == (1, 1)
    assert asyncio.all_tasks() == before
    work.gate.set()
    assert await flights.join("k", work) == (2, True)


@pytest.mark.anyio
async def test_closing_ends_background_work_and_tells_who_waits() -> None:
    """Work in the background does not outlive the cache; a waiter gets an error, no cancellation."""
    flights, work = Flights[str, int](), Work()
    flights.begin("k", work)
    flights.begin("k", work)
    waiter = asyncio.create_task(flights.join("k", work))
    await asyncio.sleep(0)
    await flights.close()
    with pytest.raises(TierUnavailableError, match="was closed"):
        await waiter
    assert (work.begun, work.ended) == (1, 1)
