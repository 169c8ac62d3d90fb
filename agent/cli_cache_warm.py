"""`sufficit cache warm`: fill a cache before anybody asks."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from .cli_cache_open import CacheOption, JsonFlag, TenantOption, cache_settings, filled
from .cli_cache_print import print_found
from .cli_errors import FAILURE, reported
from .config import Settings
from .errors import ConfigError
from .plain import plain_line

if TYPE_CHECKING:
    from retrieval.cache.store import PageStore
    from retrieval.web.pages import PageResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be in the cache."""

    urls: Sequence[str]
    sitemaps: Sequence[str]
    limit: int
    """Most pages of one sitemap."""
    max_age: float | None
    """In seconds; of older pages the origin is asked."""


@reported
def warm(
    *,
    urls: Annotated[list[str] | None, typer.Argument(help="Pages to have in the cache.")] = None,
    cache: CacheOption = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option(help="Also the pages of this sitemap or index of sitemaps; may be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most pages of one sitemap.")] = 1000,
    tenant: TenantOption = None,
    max_age: Annotated[
        float | None, typer.Option(min=0, help="Ask the origin about pages older than this, in seconds.")
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="Where a site's owner reaches you, for the User-Agent.")
    ] = None,
    allow_private: Annotated[
        list[str] | None, typer.Option(help="A host of yours that may have a private address; may be repeated.")
    ] = None,
    encoder: Annotated[str, typer.Option(help="Backbone for the index: a name or a folder.")] = "all-MiniLM-L6-v2",
    no_index: Annotated[
        bool, typer.Option("--no-index", help="Leave the index to the first search, which then waits for it.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Fetch pages into the cache, politely: robots.txt, one request a second and host, fresh pages not at all.

    What is not given comes from the settings of `sufficit ask`: [cache], [web] and tenant of sufficit.toml, or the
    environment.

    An interrupted run goes on where it stopped. Exit status 1 if not one page could be had, or a sitemap could not
    be read: nobody knows then which pages are missing. Single pages without success are counted by outcome.

    Example: sufficit cache warm https://example.org/a https://example.org/b --cache pages.cache

    Example: sufficit cache warm --sitemap https://example.org/sitemap.xml --cache pages.cache
    """
    if not urls and not sitemap:
        raise ConfigError("Nothing to fetch. Name URLs, or a sitemap with --sitemap URL.")
    web = {"contact": contact, "allow_private": allow_private or None}
    settings = cache_settings(
        cache, tenant=tenant, web={name: value for name, value in web.items() if value is not None}
    )
    wanted = Wanted(urls=urls or (), sitemaps=sitemap or (), limit=limit, max_age=max_age)
    with filled(settings) as store:
        found, faults = asyncio.run(_warmed(store, wanted, settings))
        if not no_index:
            _index(store, settings.tenant, encoder)
    outcomes = Counter(result.outcome for result in found.values())
    data = {
        "pages": len(found),
        "outcomes": dict(sorted(outcomes.items())),
        "requests": sum(result.origin_fetches for result in found.values()),
        "from_cache": sum(result.from_cache and result.page is not None for result in found.values()),
        "sitemap_faults": list(faults),
    }
    print_found(data, as_json=as_json)
    if faults or not outcomes["ok"]:
        what = "Not one page could be had." if not outcomes["ok"] else "Pages may be missing."
        typer.echo(plain_line(" ".join((f"Error: {what}", *faults))), err=True)
        raise typer.Exit(FAILURE)


async def _warmed(
    store: PageStore, wanted: Wanted, settings: Settings
) -> tuple[dict[str, PageResult], tuple[str, ...]]:
    """The results by URL, and what is wrong with sitemaps."""
    from retrieval.cache.cached import CachedPages
    from retrieval.cache.warming import listed_in, warm
    from retrieval.web.fetch import Fetcher

    from .opening import cache_rules, fetch_settings

    def told(url: str, result: PageResult) -> None:
        detail = "" if result.page or result.fetched is None else f"  {result.fetched.detail}"
        typer.echo(plain_line(f"{result.outcome:<16} {url}{detail}"), err=True)

    async with (
        Fetcher(fetch_settings(settings.web)) as fetcher,
        CachedPages(fetcher, store, rules=cache_rules(settings.cache)) as pages,
    ):
        listed = [await listed_in(fetcher, one, limit=wanted.limit) for one in wanted.sitemaps]
        urls = [*wanted.urls, *(page for one in listed for page in one.pages)]
        found = await warm(pages, urls, tenant=settings.tenant, max_age=wanted.max_age, told=told)
    return found, tuple(fault for one in listed for fault in one.faults)


def _index(store: PageStore, tenant: str | None, encoder: str) -> None:
    from retrieval.cache.rooms import Rooms
    from retrieval.index import TransformerEncoder

    rooms = Rooms(store, TransformerEncoder.named(encoder))
    try:
        if not rooms.catch_up(tenant):
            typer.echo("Note: another process is indexing the new pages.", err=True)
    finally:
        rooms.close()
