"""The web tier within its limits: fetches, deadline, faults of a source, cancellation (cases L11, L13)."""

from __future__ import annotations

import asyncio
import time

import pytest

from retrieval import Request
from retrieval.errors import CacheError, TierTimeoutError, TierUnavailableError
from retrieval.web.gather import Errand, gather_pages
from retrieval.web.live import LivePages
from retrieval.web.pages import PageResult
from retrieval.web.providers import FoundLink
from retrieval.web.tier import WebSettings, WebTier
from retrieval.web.visits import Visit, one_search
from tests.retrieval.web.pages import TOWN
from tests.retrieval.web.server import endless, head, late
from tests.retrieval.web.webs import Listed, about, kinds, web

STALLS = endless(head(200, {"Content-Type": "text/html"}), b" ", 0.05)
PATHS = [f"/{number}" for number in range(6)]


class Faulty:
    """A source that raises for some addresses."""

    def __init__(self, source: LivePages, error: Exception, *urls: str) -> None:
        self._source, self._error, self._urls = source, error, urls

    async def page(
        self, url: str, *, deadline: float | None, max_age: float | None, tenant: str | None
    ) -> PageResult:
        if not self._urls or url in self._urls:
            raise self._error
        return await self._source.page(url, deadline=deadline, max_age=max_age, tenant=tenant)


def errand(urls: list[str], *, pages: int = 6, fetches: int | None = None) -> Errand:
    return Errand(
        links=[FoundLink(url=url) for url in urls],
        pages=pages, fetches=fetches, until=None, max_age=None, tenant=None, max_words=50, tier="web",
    )  # fmt: skip


@pytest.mark.parametrize(("fetches", "asked"), [(None, 6), (0, 0), (1, 1), (4, 4), (6, 6), (9, 6)])
async def test_fetches_are_bounded(fetches: int | None, asked: int) -> None:
    """Also while several run; what was left out is said, unless nothing was."""
    async with web({path: about(f"Page {path}. {TOWN}") for path in PATHS}) as net:
        visits: dict[str, Visit] = {}
        found = await gather_pages(
            net.pages, errand([net.site.url(path) for path in PATHS], fetches=fetches), visits
        )
        assert len(net.site.paths) == asked
    assert (found.fetches, found.read, found.failed, len(visits)) == (asked, asked, 0, asked)
    assert kinds(found.events) == (["fetch_budget"] if asked < 6 else [])


async def test_enough_pages_are_enough() -> None:
    async with web({path: about(f"Page {path}. {TOWN}") for path in PATHS}) as net:
        found = await gather_pages(net.pages, errand([net.site.url(path) for path in PATHS], pages=2), {})
        assert sorted(net.site.paths) == ["/0", "/1"]
    assert (found.read, found.events) == (2, ())


async def test_at_the_deadline_what_is_there_is_returned() -> None:
    """The page that stalls is called off and recorded; it is not asked for again in this search."""
    async with web({"/slow": STALLS, "/town": about(TOWN)}) as net:
        tier = net.tier("/town", "/slow", settings=WebSettings(pages=2))
        with one_search() as visits:
            await gather_pages(net.pages, errand([net.site.url("/town")]), visits.of(tier))
            found = await tier.retrieve(Request(query="bridge", k=3, deadline=time.monotonic() + 0.5))
            again = await tier.retrieve(Request(query="arches", k=3))
    assert [hit.passage.text for hit in found.hits] == [TOWN]
    assert (kinds(found), kinds(again)) == (["fetch_timeout"], ["fetch_skipped"])


async def test_a_provider_that_does_not_answer_in_time_is_a_timeout() -> None:
    class Silent(Listed):
        async def search(self, query: str, limit: int) -> list[FoundLink]:
            await asyncio.sleep(60)
            return []

    async with web({}) as net:
        with pytest.raises(TierTimeoutError, match="deadline"):
            await WebTier([Silent([])], net.pages).retrieve(
                Request(query="x", k=1, deadline=time.monotonic() + 0.1)
            )


async def test_l11_a_source_that_raises_for_a_page_loses_that_page_only() -> None:
    async with web({"/a": about(TOWN), "/b": about(TOWN)}) as net:
        source = Faulty(net.pages, ValueError("boom"), net.site.url("/a"))
        urls = [net.site.url("/a"), net.site.url("/b")]
        found = await WebTier([Listed(urls)], source).retrieve(Request(query="bridge", k=3))
        assert len(found.hits) == 1
        assert (kinds(found), found.degraded) == (["fetch_error"], False)
        assert "ValueError: boom" in found.events[0].detail
        none = await WebTier([Listed(urls[:1])], source).retrieve(Request(query="bridge", k=3))
        assert (none.hits, none.degraded) == ((), True)


async def test_l11_a_source_that_cannot_work_fails_the_tier() -> None:
    """At once, though another page is still on its way."""
    async with web({"/a": STALLS}) as net:
        for error in (CacheError("The disk is full."), TierUnavailableError("The disk is full.")):
            source = Faulty(net.pages, error, net.site.url("/b"))
            tier = WebTier(
                [Listed([net.site.url("/a"), net.site.url("/b")])], source, settings=WebSettings(pages=2)
            )
            with pytest.raises(TierUnavailableError, match="disk is full"):
                await tier.retrieve(Request(query="bridge", k=3))


async def test_l13_cancelled_while_pages_sleep() -> None:
    """CancelledError comes out, no task is left, and the slots of host and fetcher are free again."""
    slow = late(10.0, about(TOWN))
    async with web(
        {**dict.fromkeys(PATHS, slow), "/town": about(TOWN)}, per_host_concurrency=2, total_concurrency=2
    ) as net:
        tier = net.tier(*PATHS, settings=WebSettings(pages=6))
        before = asyncio.all_tasks()
        task = asyncio.create_task(tier.retrieve(Request(query="bridge", k=3)))
        while len(net.site.paths) < 2:  # noqa: ASYNC110  the server has no event for it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert {left for left in asyncio.all_tasks() - before if "connected" not in repr(left)} == set()
        found = await net.tier("/town").retrieve(Request(query="bridge", k=3))
    assert found.hits[0].passage.text == TOWN


async def test_l13_another_query_of_the_search_survives_the_cancelled_one() -> None:
    """It waited for the page that the cancelled one was fetching: now it fetches it itself."""
    async with web({"/a": [late(10.0, about(TOWN)), about(TOWN)]}) as net:
        tier = net.tier("/a")
        with one_search():
            leader = asyncio.create_task(tier.retrieve(Request(query="bridge", k=3)))
            while "/a" not in net.site.paths:  # noqa: ASYNC110  the server has no event for it
                await asyncio.sleep(0.01)
            follower = asyncio.create_task(tier.retrieve(Request(query="arches", k=3)))
            await asyncio.sleep(0.05)
            leader.cancel()
            found = await asyncio.wait_for(follower, 5)
        assert net.site.paths == ["/a", "/a"]
    assert found.hits[0].passage.text == TOWN
    assert found.events == ()
