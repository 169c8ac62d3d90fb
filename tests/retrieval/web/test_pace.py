"""Turns: so many at once, so far apart, and not before the host said (case F03)."""

from __future__ import annotations

import asyncio
import itertools
import time
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web import pace as pace_module
from retrieval.web.pace import LONGEST_PAUSE, Pace, asked_pause
from retrieval.web.stop import Stop
from retrieval.web.urls import parse_url
from tests.retrieval.web.server import Naps, local

HERE, THERE = parse_url("http://here.test/"), parse_url("http://there.test/")
LATER = 1e12


async def test_a_host_has_so_many_turns_at_once_and_all_hosts_together_too() -> None:
    pace = Pace(local(per_host_concurrency=2, total_concurrency=3), asyncio.sleep)
    held: dict[str, int] = {"here.test": 0, "there.test": 0}
    most = {"here.test": 0, "there.test": 0, "all": 0}

    async def take(number: int) -> None:
        url = HERE if number % 2 else THERE
        async with pace.turn(url, until=LATER):
            held[url.host] += 1
            most[url.host] = max(most[url.host], held[url.host])
            most["all"] = max(most["all"], sum(held.values()))
            await asyncio.sleep(0.005)
            held[url.host] -= 1

    await asyncio.gather(*(take(number) for number in range(20)))
    assert most == {"here.test": 2, "there.test": 2, "all": 3}


@pytest.mark.parametrize(("interval", "delay"), [(0.05, 0.0), (0.0, 0.05)])
async def test_turns_at_a_host_are_apart_by_our_interval_or_by_its_crawl_delay(
    interval: float, delay: float
) -> None:
    pace = Pace(local(per_host_interval=interval, per_host_concurrency=5), asyncio.sleep)
    moments: list[float] = []

    async def take() -> None:
        async with pace.turn(HERE, until=LATER, delay=delay):
            moments.append(time.monotonic())

    await asyncio.gather(*(take() for _ in range(4)))
    assert all(later - earlier >= 0.05 for earlier, later in itertools.pairwise(moments))


async def test_a_pause_holds_for_its_host_alone() -> None:
    naps = Naps()
    pace = Pace(local(), naps)
    pace.pause(HERE, 30)
    pace.pause(HERE, 5)  # the longer wish holds
    async with pace.turn(THERE, until=LATER):
        assert naps.seconds == []
    async with pace.turn(HERE, until=LATER):
        assert [round(seconds) for seconds in naps.seconds] == [30]
    async with pace.turn(parse_url("https://here.test/"), until=LATER):
        assert len(naps.seconds) == 2  # http and https are one server


async def test_a_pause_that_ends_too_late_is_not_begun() -> None:
    naps = Naps()
    pace = Pace(local(per_host_concurrency=1), naps)
    pace.pause(HERE, 30)
    for _ in range(3):  # the turn is given back each time
        with pytest.raises(Stop, match="no requests for 30 s") as stopped:
            async with pace.turn(HERE, until=time.monotonic() + 10):
                pytest.fail("there was no turn")
        assert stopped.value.outcome == "rate_limited"
        assert stopped.value.retry_after == pytest.approx(30, abs=1)
    assert naps.seconds == []


async def test_a_cancelled_wait_gives_its_turn_back() -> None:
    pace = Pace(local(per_host_concurrency=1, total_concurrency=1), asyncio.sleep)
    pace.pause(HERE, 1000)

    async def take() -> None:
        async with pace.turn(HERE, until=LATER):
            pass

    waiting = [asyncio.create_task(take()) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    async with asyncio.timeout(5), pace.turn(THERE, until=LATER):
        pass
    with pytest.raises(Stop, match="no requests"):  # the only turn of the host is free, but the host is not
        async with asyncio.timeout(5), pace.turn(HERE, until=0):
            pass


async def test_idle_hosts_are_forgotten_and_those_that_asked_for_a_pause_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A crawl over a million hosts does not keep them all."""
    monkeypatch.setattr(pace_module, "HOSTS", 4)
    pace = Pace(local(), Naps())
    pace.pause(HERE, 1000)
    for number in range(20):
        async with pace.turn(parse_url(f"http://h{number}.test/"), until=LATER):
            pass
    assert len(pace._hosts) <= 4
    assert pace.paused_for(HERE) > 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        (formatdate(1_000_090, usegmt=True), 90.0),
        (formatdate(999_000, usegmt=True), 0.0),
        ("9" * 50, LONGEST_PAUSE),
        (formatdate(9_000_000, usegmt=True), LONGEST_PAUSE),
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("Wed, 41 Oct 2015 07:28:00 GMT", None),
        ("١٢", None),
    ],
)
def test_a_pause_is_asked_for_in_seconds_or_by_a_date(header: str | None, seconds: float | None) -> None:
    assert asked_pause(header, 1_000_000.0) == seconds


@given(st.text(max_size=40))
def test_no_header_raises(header: str) -> None:
    assert (seconds := asked_pause(header, 0.0)) is None or 0 <= seconds <= LONGEST_PAUSE
