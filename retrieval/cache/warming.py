"""Filling a cache before anybody asks: an operator's own pages, from a list or a sitemap."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from ..compute import in_worker
from ..errors import ProviderError
from ..web.pages import PageResult, PageSource
from ..web.sitemap import Sitemap, read_sitemap
from .renewal import Fetches

CONCURRENCY = 8
MOST_SITEMAPS = 50
"""Files of one sitemap index that are read."""


async def warm(
    pages: PageSource,
    urls: Sequence[str],
    *,
    tenant: str | None = None,
    max_age: float | None = None,
    concurrency: int = CONCURRENCY,
    told: Callable[[str, PageResult], None] = lambda *_: None,
) -> dict[str, PageResult]:
    """Ask for every page once, as a search would; the results by URL, in the order of `urls`.

    Fresh pages cost nothing, so the same call goes on where it was interrupted.

    Args:
        pages: The cache, which knows how politely to fetch.
        urls: What to ask for; repeats are asked for once.
        tenant: For whom.
        max_age: See `PageSource.page`.
        concurrency: Pages at once.
        told: Called with each URL and its result, as they come.

    Raises:
        TierUnavailableError: the cache cannot be used.
    """
    waiting = deque(dict.fromkeys(urls))
    found: dict[str, PageResult] = {}

    async def work() -> None:
        while waiting:
            url = waiting.popleft()
            found[url] = await pages.page(url, deadline=None, max_age=max_age, tenant=tenant)
            told(url, found[url])

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(work())
    return {url: found[url] for url in dict.fromkeys(urls)}


async def sitemap_urls(fetcher: Fetches, url: str, *, limit: int) -> list[str]:
    """The first `limit` pages that a sitemap lists; those of an index of sitemaps file by file, in its order.

    Raises:
        ProviderError: the sitemap cannot be fetched, or is none. Of an index, one that cannot be had is left out.
    """
    first = await _read(fetcher, url)
    pages = dict.fromkeys(first.pages)
    for other in first.sitemaps[:MOST_SITEMAPS]:
        if len(pages) >= limit:
            break
        try:
            pages |= dict.fromkeys((await _read(fetcher, other)).pages)
        except ProviderError:  # the others are still worth having
            continue
    return list(pages)[:limit]


async def _read(fetcher: Fetches, url: str) -> Sitemap:
    fetched = await fetcher.fetch(url)
    if fetched.outcome != "ok":
        raise ProviderError(
            f"The sitemap {url} cannot be had ({fetched.outcome}): {fetched.detail} Check its address."
        )
    return await in_worker(read_sitemap, fetched.body)
