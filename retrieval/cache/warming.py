"""Filling a cache before anybody asks: an operator's own pages, from a list or a sitemap."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..compute import in_worker
from ..errors import ProviderError
from ..web.pages import PageResult, PageSource
from ..web.sitemap import Sitemap, read_sitemap
from .renewal import Fetches

CONCURRENCY = 8
MOST_SITEMAPS = 50
"""Files of one sitemap index that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """What a sitemap lists."""

    pages: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    """Why it, or one that it names, gave nothing; a page or more may be missing then."""


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


async def listed_in(fetcher: Fetches, url: str, *, limit: int) -> Listed:
    """The first `limit` pages that a sitemap lists; those of an index of sitemaps file by file, in its order."""
    try:
        first = await _read(fetcher, url)
    except ProviderError as error:
        return Listed(faults=(str(error),))
    pages, faults = dict.fromkeys(first.pages), list[str]()
    for other in first.sitemaps[:MOST_SITEMAPS]:
        if len(pages) >= limit:
            break
        try:
            pages |= dict.fromkeys((await _read(fetcher, other)).pages)
        except ProviderError as error:  # the others are still worth having
            faults.append(str(error))
    if not pages and not faults:
        faults.append(f"The sitemap {url} lists no page. Check what it holds.")
    return Listed(pages=tuple(pages)[:limit], faults=tuple(faults))


async def _read(fetcher: Fetches, url: str) -> Sitemap:
    fetched = await fetcher.fetch(url)
    if fetched.outcome != "ok":
        raise ProviderError(
            f"The sitemap {url} cannot be had ({fetched.outcome}): {fetched.detail} Check its address."
        )
    try:
        return await in_worker(read_sitemap, fetched.body)
    except ProviderError as error:
        raise ProviderError(f"{url} cannot be read. {error} Check its address.") from error
