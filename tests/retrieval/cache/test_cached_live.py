"""The cache over the real fetcher and a real server: what HTTP really carries is enough to decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.cache.cached import CachedPages
from retrieval.cache.report import report
from retrieval.cache.rules import DAY, Rules
from retrieval.cache.store import PageStore
from tests.retrieval.cache.origins import LONG, Clock, article
from tests.retrieval.web.server import HTML, fetching, say, serving


@pytest.mark.anyio
async def test_a_page_is_fetched_validated_and_stands_in_for_its_origin(tmp_path: Path) -> None:
    """200 with an ETag, 304 to it, then 500: one body, three requests, and a page each time."""
    clock, headers = Clock(), HTML | {"ETag": '"1"', "Cache-Control": "max-age=60"}
    answers = {"/a": [say(200, article(LONG), headers), say(304, b"", headers), say(500)]}
    with PageStore(tmp_path) as store:
        async with (
            serving({**answers}) as site,
            fetching(robots=False, retries=0, per_host_interval=0) as fetcher,
            CachedPages(fetcher, store, clock=clock, rules=Rules(stale_on_error=DAY)) as pages,
        ):
            results = []
            for _ in range(3):
                results.append(await pages.page(site.url("/a"), deadline=None, max_age=None, tenant=None))
                clock.now = results[-1].fetched.received_at + 100 if results[-1].fetched else clock.now
        texts = {result.page.text for result in results if result.page}
        assert [result.outcome for result in results] == ["ok"] * 3
        assert [result.from_cache for result in results] == [False, True, True]
        assert [result.stale for result in results] == [False, False, True]
        assert len(texts) == 1
        assert [asked.headers.get("if-none-match") for asked in site.requests] == [None, '"1"', '"1"']
        (counts,) = report(store).sites
        assert (counts.tally.requests, counts.tally.revalidations, counts.tally.failures) == (3, 1, 1)
