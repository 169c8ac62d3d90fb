"""What is asked again, when, and for how long; and what a cancelled fetch leaves behind (cases F03 and L13)."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate

import pytest

from retrieval.web.fetch import FIRST_PAUSE, Fetcher
from tests.retrieval.web.server import (
    HTML,
    PAGE,
    Answer,
    Naps,
    endless,
    fetching,
    head,
    late,
    local,
    page,
    raw,
    redirect,
    say,
    serving,
)

NOW = 1_000_000.0


def busy(after: str | None = None, status: int = 429) -> Answer:
    return say(status, b"slow down", {} if after is None else {"Retry-After": after})


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("after", ["7", formatdate(NOW + 7, usegmt=True)])
async def test_a_pause_that_fits_is_waited_for(after: str, status: int) -> None:
    naps = Naps()
    fetcher = Fetcher(local(robots=False), clock=lambda: NOW, sleep=naps)
    async with serving({"/a": [busy(after, status), page()]}) as site, fetcher:
        fetched = await fetcher.fetch(site.url("/a"), deadline=time.monotonic() + 60)
    assert (fetched.outcome, fetched.attempts, fetched.body) == ("ok", 2, PAGE)
    assert max(naps.seconds) == pytest.approx(7, abs=0.5)


@pytest.mark.parametrize("after", ["120", formatdate(NOW + 120, usegmt=True)])
async def test_a_pause_that_does_not_fit_is_rate_limited_at_once(after: str) -> None:
    """And said with its length. Nothing is asked of this host before it is over; others are not concerned."""
    naps = Naps()
    fetcher = Fetcher(local(robots=False), clock=lambda: NOW, sleep=naps)
    async with serving({"/a": busy(after), "/b": page()}) as site, serving({"/c": page()}) as other, fetcher:
        deadline = time.monotonic() + 30
        first = await fetcher.fetch(site.url("/a"), deadline=deadline)
        second = await fetcher.fetch(site.url("/b"), deadline=deadline)
        elsewhere = await fetcher.fetch(other.url("/c"), deadline=deadline)
        patient = await fetcher.fetch(site.url("/b"), deadline=deadline + 300)
    assert (first.outcome, first.status, first.retry_after) == ("rate_limited", 429, 120.0)
    assert (second.outcome, second.status, second.attempts) == ("rate_limited", None, 0)
    assert second.retry_after == pytest.approx(120, abs=5)
    assert elsewhere.outcome == "ok"
    assert patient.outcome == "rate_limited"  # total_seconds is a limit too
    assert naps.seconds == []
    assert site.paths == ["/a"]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_passing_status_is_asked_again_with_growing_pauses(status: int) -> None:
    naps = Naps()
    fetcher = Fetcher(local(robots=False, retries=3), sleep=naps)
    async with serving({"/a": [busy(None, status)] * 3 + [page()]}) as site, fetcher:
        assert (await fetcher.fetch(site.url("/a"))).outcome == "ok"
    for number, pause in enumerate(naps.seconds):
        assert FIRST_PAUSE * 2**number / 2 <= pause <= FIRST_PAUSE * 2**number
    assert len(naps.seconds) == 3


async def test_the_same_seed_gives_the_same_pauses() -> None:
    pauses = []
    for seed in (1, 1, 2):
        naps = Naps()
        fetcher = Fetcher(local(robots=False, seed=seed), sleep=naps)
        async with serving({"/a": busy()}) as site, fetcher:
            assert (await fetcher.fetch(site.url("/a"))).outcome == "rate_limited"
        pauses.append(naps.seconds)
    assert pauses[0] == pauses[1] != pauses[2]


@pytest.mark.parametrize(
    "dropped",
    [raw(reset=True), raw(b""), raw(head(200, HTML | {"Content-Length": "500"}) + PAGE, reset=True)],
    ids=["reset", "closed", "in the body"],
)
async def test_a_dropped_connection_is_asked_again_and_half_a_page_is_none(dropped: Answer) -> None:
    async with serving({"/a": [dropped, page()], "/b": dropped}) as site, fetching(robots=False) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
        assert (fetched.outcome, fetched.attempts, fetched.body) == ("ok", 2, PAGE)
        fetched = await fetcher.fetch(site.url("/b"))
        assert (fetched.outcome, fetched.attempts, fetched.body) == ("error", 3, b"")


@pytest.mark.parametrize(
    "answer",
    [
        say(404),
        say(403),
        say(402),
        say(500),
        raw(b"no http\r\n\r\n"),
        redirect("/a"),
        say(503, b"", {"cf-mitigated": "challenge"}),
    ],
)
async def test_what_will_not_pass_is_asked_once(answer: Answer) -> None:
    async with serving({"/a": answer}) as site, fetching(robots=False) as fetcher:
        assert (await fetcher.fetch(site.url("/a"))).attempts == 1


async def test_retries_are_counted_over_all_hops() -> None:
    """Six hops of two retries each would be eighteen requests."""
    answers: dict[str, Answer | list[Answer]] = {
        f"/{hop}": [busy(None, 503), redirect(f"/{hop + 1}")] for hop in range(6)
    }
    async with serving(answers) as site, fetching(robots=False) as fetcher:
        fetched = await fetcher.fetch(site.url("/0"))
    assert (fetched.outcome, fetched.attempts) == ("error", 5)


async def test_the_whole_fetch_ends_at_its_deadline_wherever_it_is() -> None:
    """In robots.txt, in a queue, in a body, between redirects."""
    answers: dict[str, Answer | list[Answer]] = {
        "/a": late(30, page()),
        "/b": endless(head(200, HTML), b"x", 0.05),
    }
    async with serving(answers) as site, fetching(robots=False, per_host_concurrency=1) as fetcher:
        deadline = time.monotonic() + 0.4
        fetched = await asyncio.gather(
            *(fetcher.fetch(site.url(path), deadline=deadline) for path in ("/a", "/b"))
        )
    async with serving({"/robots.txt": late(30, say(404))}) as site, fetching() as fetcher:
        fetched.append(await fetcher.fetch(site.url("/a"), deadline=time.monotonic() + 0.3))
        site.answers |= {"/robots.txt": say(404), "/a": page()}
        assert (await fetcher.fetch(site.url("/a"))).outcome == "ok"  # our haste says nothing of its robots.txt
    assert [one.outcome for one in fetched] == ["timeout"] * 3


async def test_a_cancelled_fetch_leaves_no_task_no_turn_and_no_connection() -> None:
    """Case L13: also while the server sleeps for ten seconds, and for those who wait behind it."""
    began = asyncio.Event()

    async def sleeps(_: object, __: asyncio.StreamWriter) -> None:
        began.set()
        await asyncio.sleep(10)

    async with serving({"/slow": sleeps, "/a": page()}) as site:
        fetcher = Fetcher(local(per_host_concurrency=1, total_concurrency=1, robots=False))
        async with fetcher:
            await fetcher.fetch(site.url("/a"))
            before = asyncio.all_tasks()
            fetches = {asyncio.create_task(fetcher.fetch(site.url("/slow"))) for _ in range(3)}
            await began.wait()
            for fetch in fetches:
                fetch.cancel()
            done, _ = await asyncio.wait(fetches, timeout=5)
            assert done == fetches
            assert all(fetch.cancelled() for fetch in fetches)
            ours = {task for task in asyncio.all_tasks() - before if "connected" not in repr(task.get_coro())}
            assert ours == set()
            assert site.paths == ["/a", "/slow"]
            async with asyncio.timeout(5):
                assert (await fetcher.fetch(site.url("/a"))).outcome == "ok"
