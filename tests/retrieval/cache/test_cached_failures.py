"""Pages through the cache: what is remembered and what is served when the origin or the store fails."""

from __future__ import annotations

from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from retrieval.cache.cached import CachedPages
from retrieval.cache.negative import LIVES
from retrieval.cache.report import report
from retrieval.cache.rules import DAY, Rules
from retrieval.cache.store import PageStore
from retrieval.errors import TierUnavailableError
from tests.retrieval.cache.origins import NOW, URL, Clock, Origin, ask, failure

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("outcome", sorted(LIVES))
async def test_a_url_without_a_page_is_left_alone_for_a_while(
    pages: CachedPages, origin: Origin, clock: Clock, store: PageStore, outcome: str
) -> None:
    """Each outcome keeps its name and its own short life; none is ever served as a page."""
    origin.fails = failure(outcome, status=403 if outcome == "blocked" else None)
    assert (await ask(pages)).outcome == outcome
    clock.now += LIVES[outcome] - 1
    noted = await ask(pages)
    assert (noted.outcome, noted.page, noted.from_cache, len(origin.asked)) == (outcome, None, True, 1)
    assert noted.fetched is not None
    assert "Noted" in noted.fetched.detail
    clock.now += 1
    origin.fails = None
    assert (await ask(pages)).outcome == "ok"
    assert store.refusal(None, URL) is None


async def test_what_our_own_guard_refuses_is_neither_noted_nor_counted_nor_lost(
    pages: CachedPages, origin: Origin, clock: Clock, store: PageStore
) -> None:
    """No site said no: who then allows the host need not wait, and a page that was allowed before stays."""
    origin.fails = failure("blocked")
    assert (await ask(pages)).outcome == "blocked"
    assert report(store).sites == ()
    origin.fails = None
    assert (await ask(pages)).outcome == "ok"
    clock.now += 150
    origin.fails = failure("blocked")
    result = await ask(pages)
    assert (result.outcome, result.page, report(store).pages) == ("blocked", None, 1)
    (site,) = report(store).sites
    assert (site.tally.requests, site.tally.refusals, site.tally.failures, site.refused) == (1, 0, 0, 0)


async def test_a_pause_that_the_host_asks_for_is_kept(pages: CachedPages, origin: Origin, clock: Clock) -> None:
    """Retry-After counts instead of our own minute, whatever age the question demands; up to a day."""
    origin.fails = failure("rate_limited", status=429, retry_after=500)
    await ask(pages)
    clock.now += 499
    assert (await ask(pages, max_age=0)).outcome == "rate_limited"
    assert len(origin.asked) == 1
    clock.now += 2
    origin.fails = failure("rate_limited", status=429, retry_after=1e9)
    await ask(pages)
    clock.now += DAY + 1
    await ask(pages)
    assert len(origin.asked) == 3


async def test_a_note_is_no_news_for_a_question_about_today(
    pages: CachedPages, origin: Origin, clock: Clock
) -> None:
    """A demanded age overrides an old failure; a clock that was set back keeps no note alive for ever."""
    origin.fails = failure("low_content")
    await ask(pages)
    clock.now += 100
    await ask(pages, max_age=50)
    assert len(origin.asked) == 2
    clock.now -= 30 * DAY
    await ask(pages)
    assert len(origin.asked) == 3


async def test_a_page_without_content_is_not_stored(pages: CachedPages, origin: Origin, store: PageStore) -> None:
    """The extraction's verdict counts, not the status 200."""
    origin.body = b"<html><body></body></html>"
    assert (await ask(pages)).outcome == "low_content"
    assert (await ask(pages)).origin_fetches == 0
    assert report(store).pages == 0
    assert report(store).sites[0].tally.failures == 1


@pytest.mark.parametrize(
    "fails",
    [failure("error", status=503), failure("error"), failure("timeout"), failure("rate_limited", status=429)],
)
async def test_a_stale_page_stands_in_for_a_failing_origin_only_where_allowed(
    origin: Origin,
    store: PageStore,
    clock: Clock,
    fails: Any,
) -> None:
    """Case C02: marked as stale, with its age; the origin is then left alone, and may always forbid it."""
    pages = CachedPages(origin, store, clock=clock, rules=Rules(stale_on_error=DAY))
    strict = CachedPages(origin, store, clock=clock)
    await ask(pages)
    clock.now += 150
    origin.fails = fails
    result = await ask(pages)
    assert (result.outcome, result.stale, result.age, result.from_cache) == ("ok", True, 150, True)
    assert result.fetched is not None
    assert result.fetched.outcome == fails.outcome
    assert (await ask(pages)).stale
    assert len(origin.asked) == 2
    assert (await ask(strict)).outcome == fails.outcome
    assert (await ask(pages, max_age=10)).page is None


async def test_the_origin_may_allow_and_forbid_stale_pages(origin: Origin, store: PageStore, clock: Clock) -> None:
    """RFC 5861 and `must-revalidate`."""
    pages = CachedPages(origin, store, clock=clock)
    for url, control, outcome in (
        (URL, "max-age=100, stale-if-error=1000", "ok"),
        (URL + "2", "max-age=100, stale-if-error=1000, must-revalidate", "error"),
    ):
        origin.fails, origin.headers["cache-control"] = None, control
        await ask(pages, url)
        clock.now += 150
        origin.fails = failure("error", status=500)
        assert (await ask(pages, url)).outcome == outcome


@pytest.mark.parametrize(
    ("fails", "kept"),
    [
        (failure("error", status=404), 0),
        (failure("error", status=410), 0),
        (failure("robots_denied"), 0),
        (failure("payment_required", status=402), 0),
        (failure("blocked", status=403), 0),
        (failure("error", status=500), 1),
        (failure("timeout"), 1),
    ],
)
async def test_an_owner_who_takes_a_page_back_is_obeyed(
    origin: Origin,
    store: PageStore,
    clock: Clock,
    fails: Any,
    kept: int,
) -> None:
    """Gone or forbidden: the stored page goes too, whatever the rules allow. A failure removes nothing."""
    pages = CachedPages(origin, store, clock=clock, rules=Rules(stale_on_error=DAY))
    await ask(pages)
    clock.now += 150
    origin.fails = fails
    result = await ask(pages)
    assert (result.page is not None) == bool(kept)
    assert report(store).pages == kept


async def test_a_304_without_its_page_is_asked_again(
    pages: CachedPages, origin: Origin, store: PageStore, clock: Clock
) -> None:
    """A 304 that names another state vouches for nothing: one more request brings the page."""
    origin.headers["last-modified"] = formatdate(NOW - 1000, usegmt=True)
    await ask(pages)
    clock.now += 150
    origin.fails = failure("not_modified", status=304)
    origin.fails = replace(origin.fails, headers={"etag": '"another"'})
    result = await ask(pages)
    assert (result.outcome, result.page) == ("error", None)
    assert origin.asked[1:] == [
        {"if-none-match": origin.asked[1]["if-none-match"], "if-modified-since": origin.headers["last-modified"]},
        {},
    ]


async def test_a_store_that_cannot_be_written_loses_the_page_and_not_the_search(
    pages: CachedPages, store: PageStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Another process holds the file: the caller gets the page, the log a line without the path of the URL."""
    with store.database.writing():
        result = await ask(pages, URL + "?token=secret")
    assert result.outcome == "ok"
    assert "cache_write_failed site=moor.example" in caplog.text
    assert "secret" not in caplog.text


async def test_a_store_that_cannot_be_read_is_a_tier_that_cannot_serve(
    pages: CachedPages, store: PageStore
) -> None:
    """Damage of the cache is told, not taken for a miss."""
    store.close()
    with pytest.raises(TierUnavailableError, match="The cache cannot be used"):
        await ask(pages)


async def test_what_is_no_url_is_an_outcome(pages: CachedPages, origin: Origin) -> None:
    """Case F08's other side: nothing that a caller passes as a URL raises."""
    origin.fails = failure("blocked")
    for url in ("", "javascript:alert(1)", "http://[", "http://a\udcff/", "\x00"):
        assert (await ask(pages, url)).outcome == "blocked"
