"""Pages through the cache: what costs the origin a request, and who shares it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

import pytest

from retrieval.cache.cached import CachedPages
from retrieval.cache.report import report
from retrieval.cache.rules import DAY, Override, Rules
from retrieval.cache.store import PageStore
from retrieval.cache.verify import verify
from tests.retrieval.cache.origins import LONG, URL, Clock, Origin, article, ask

pytestmark = pytest.mark.anyio


async def test_a_fresh_page_costs_the_origin_nothing(pages: CachedPages, origin: Origin, clock: Clock) -> None:
    """The second caller gets the stored page with its age; tracking parameters make no other page (case F08)."""
    first = await ask(pages, URL + "?utm_source=mail")
    clock.now += 60
    second = await ask(pages)
    assert (first.outcome, first.from_cache, first.origin_fetches, first.age) == ("ok", False, 1, 0)
    assert (second.from_cache, second.origin_fetches, second.age, second.stale) == (True, 0, 60, False)
    assert first.page == second.page
    assert len(origin.asked) == 1


async def test_an_expired_page_is_validated(
    pages: CachedPages, origin: Origin, clock: Clock, store: PageStore
) -> None:
    """A 304 makes it fresh again, without a body; the request is counted."""
    await ask(pages)
    clock.now += 150
    again = await ask(pages)
    assert (again.from_cache, again.origin_fetches, again.age) == (True, 1, 0)
    assert origin.asked[1].keys() == {"if-none-match"}
    assert (await ask(pages)).origin_fetches == 0
    (site,) = report(store).sites
    assert (site.tally.requests, site.tally.revalidations, site.tally.hits) == (2, 1, 1)


async def test_a_changed_page_replaces_its_passages_at_once(
    pages: CachedPages, origin: Origin, clock: Clock, store: PageStore
) -> None:
    """Case C05: passages are keyed by content, and what the page no longer says is gone."""
    before = await ask(pages)
    origin.body = article(LONG.replace("purple", "white"))
    clock.now += 150
    after = await ask(pages)
    assert before.page is not None
    assert after.page is not None
    assert ("purple" in before.page.text, "purple" in after.page.text) == (True, False)
    stored = store.page(None, "http://moor.example/heather")
    assert stored is not None
    assert all("purple" not in piece.text for piece in stored.passages)
    assert not verify(store).faults


async def test_a_demanded_age_is_honoured(pages: CachedPages, origin: Origin, clock: Clock) -> None:
    """A time-sensitive question validates what is fresh for others, and is told when the origin itself is old."""
    await ask(pages)
    clock.now += 50
    assert (await ask(pages, max_age=60)).origin_fetches == 0
    young = await ask(pages, max_age=40)
    assert (young.origin_fetches, young.age, young.stale) == (1, 0, False)
    origin.headers["age"] = "90"
    old = await ask(pages, max_age=-1)
    assert (old.age, old.stale) == (90, True)


@pytest.mark.parametrize("control", ["no-store", "private", "private, max-age=100"])
async def test_what_must_not_be_stored_serves_and_is_not_written(
    pages: CachedPages, origin: Origin, store: PageStore, clock: Clock, control: str
) -> None:
    """It is usable for the search; an older state that was storable goes too."""
    await ask(pages)
    clock.now += 150
    origin.body, origin.headers["cache-control"] = article(LONG + " Now secret."), control
    result = await ask(pages)
    assert result.page is not None
    assert "secret" in result.page.text
    assert report(store).pages == 0
    store.close()
    assert all(b"secret" not in path.read_bytes() for path in store.folder.iterdir())


async def test_sixteen_callers_share_one_fetch(pages: CachedPages, origin: Origin) -> None:
    """Case C03: one fetch, counted once; whoever looked before it ended and joined after it fetches nothing."""
    results = await asyncio.gather(*(ask(pages) for _ in range(16)))
    assert len(origin.asked) == 1
    assert {result.outcome for result in results} == {"ok"}
    assert sum(result.origin_fetches for result in results) == 1


async def test_followers_survive_a_cancelled_leader(pages: CachedPages, origin: Origin) -> None:
    """Case C03: one fetch, and the fifteen others get the page."""
    origin.gate = asyncio.Event()
    tasks = [asyncio.create_task(ask(pages)) for _ in range(16)]
    await origin.arrived.wait()
    tasks[0].cancel()
    await asyncio.sleep(0.01)
    origin.gate.set()
    results = await asyncio.gather(*tasks[1:])
    assert {result.outcome for result in results} == {"ok"}
    assert len(origin.asked) == 1


async def test_a_leader_that_raises_is_a_failure_for_all_and_never_cached(
    pages: CachedPages, origin: Origin, store: PageStore
) -> None:
    """Case C03: followers survive; the next call asks again and succeeds."""
    origin.fails = RuntimeError("out of sockets")
    results = await asyncio.gather(*(ask(pages) for _ in range(16)))
    assert {result.outcome for result in results} == {"error"}
    assert all(result.fetched and "out of sockets" in result.fetched.detail for result in results)
    assert report(store).pages == 0


async def test_tenants_do_not_share_pages_or_flights(pages: CachedPages, origin: Origin) -> None:
    """Each tenant causes its own fetch, at the same moment and later."""
    await asyncio.gather(*(ask(pages, tenant=tenant) for tenant in ("a", "b", None)))
    assert len(origin.asked) == 3
    assert (await ask(pages, tenant="")).origin_fetches == 1


async def test_a_page_may_be_served_while_it_is_validated(
    pages: CachedPages, origin: Origin, clock: Clock
) -> None:
    """RFC 5861, section 3: the caller does not wait, and the next one gets the news."""
    origin.headers["cache-control"] = "max-age=100, stale-while-revalidate=100"
    await ask(pages)
    clock.now += 150
    result = await ask(pages)
    assert (result.stale, result.age, result.origin_fetches) == (True, 150, 0)
    for _ in range(200):
        await asyncio.sleep(0.01)
        if (result := await ask(pages)).age == 0:
            break
    assert (result.age, result.stale) == (0, False)
    await pages.aclose()


async def test_a_clock_that_jumps_back_does_not_keep_a_page_fresh(
    pages: CachedPages, origin: Origin, clock: Clock
) -> None:
    """Case C02: a page from the future is validated and then has an age again."""
    await ask(pages)
    clock.now -= 30 * DAY
    result = await ask(pages)
    assert (result.origin_fetches, result.age) == (1, 0)
    assert (await ask(pages)).origin_fetches == 0


async def test_a_deadline_ends_the_wait_of_one_caller_only(pages: CachedPages, origin: Origin) -> None:
    """The one in a hurry gets a time-out that nobody remembers; the other gets the page."""
    origin.gate = asyncio.Event()
    patient = asyncio.create_task(ask(pages))
    await origin.arrived.wait()
    hurried = await ask(pages, deadline=time.monotonic() + 0.05)
    assert (hurried.outcome, hurried.origin_fetches) == ("timeout", 0)
    origin.gate.set()
    assert (await patient).outcome == "ok"
    assert len(origin.asked) == 1


async def test_a_cancelled_call_leaves_nothing_behind(pages: CachedPages, origin: Origin) -> None:
    """Case L13: the fetch is cancelled with the last one who waits; no task is left."""
    origin.gate = asyncio.Event()
    before = asyncio.all_tasks()
    task = asyncio.create_task(ask(pages))
    await origin.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before


async def test_vary_asks_again_for_another_request(origin: Origin, store: PageStore, clock: Clock) -> None:
    """RFC 9111, section 4.1: the stored answer to another request is neither served nor vouched for."""
    origin.headers["vary"] = "accept-language"
    english, german = (
        CachedPages(origin, store, clock=clock, request_headers={"accept-language": language})
        for language in ("en", "de")
    )
    await ask(english)
    page = store.page(None, URL)
    assert page is not None
    exchange = replace(page.exchange, request_headers={"accept-language": "en"})
    store.freshen(page, exchange)
    assert (await ask(english)).origin_fetches == 0
    assert (await ask(german)).from_cache is False
    assert origin.asked == [{}, {}]


async def test_overrides_reach_the_pages(origin: Origin, store: PageStore, clock: Clock) -> None:
    """Bounds by class are looked up by host and type."""
    rules = Rules(overrides=(Override(host="moor.example", content_type="text/html", max_lifetime=10),))
    pages = CachedPages(origin, store, clock=clock, rules=rules)
    await ask(pages)
    clock.now += 11
    assert (await ask(pages)).origin_fetches == 1
