"""`sufficit cache`: fill, look at, purge, check and export a coverage cache."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .cli_errors import FAILURE, reported
from .errors import ConfigError
from .plain import plain_line
from .wire import json_line

if TYPE_CHECKING:
    from retrieval.cache.store import PageStore
    from retrieval.web.pages import PageResult
    from retrieval.web.settings import FetchSettings

cache_app = typer.Typer(
    help=(
        "Fill, look at, purge, check and export a coverage cache.\n\n"
        "A cache is a folder. Searches fill it by themselves; these commands are for its operator. "
        "It may be in use meanwhile, by several processes."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

CacheOption = Annotated[
    Path, typer.Option("--cache", help="The folder of the cache.", envvar="SUFFICIT_CACHE_FOLDER")
]
TenantOption = Annotated[
    str | None, typer.Option(help="On whose behalf; tenants share nothing. Default: the nameless tenant.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


@cache_app.command()
@reported
def warm(
    *,
    urls: Annotated[list[str] | None, typer.Argument(help="Pages to have in the cache.")] = None,
    cache: CacheOption,
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
        str,
        typer.Option(help="Where a site's owner reaches you, for the User-Agent.", envvar="SUFFICIT_WEB_CONTACT"),
    ] = "",
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

    An interrupted run goes on where it stopped. Exit status 1 if not one page could be had.

    Example: sufficit cache warm https://example.org/a https://example.org/b --cache pages.cache

    Example: sufficit cache warm --sitemap https://example.org/sitemap.xml --cache pages.cache
    """
    from retrieval.web.settings import FetchSettings

    if not urls and not sitemap:
        raise ConfigError("Nothing to fetch. Name URLs, or a sitemap with --sitemap URL.")
    settings = FetchSettings(contact=contact, allow_private=frozenset(allow_private or ()))
    with _opened(cache, create=True) as store:
        found = asyncio.run(
            _warmed(
                store, urls or [], sitemap or [], settings=settings, limit=limit, tenant=tenant, max_age=max_age
            )
        )
        if not no_index:
            _index(store, tenant, encoder)
    outcomes = Counter(result.outcome for result in found.values())
    data = {
        "pages": len(found),
        "outcomes": dict(sorted(outcomes.items())),
        "requests": sum(result.origin_fetches for result in found.values()),
        "from_cache": sum(result.from_cache and result.page is not None for result in found.values()),
    }
    _print(data, as_json=as_json)
    if found and not outcomes["ok"]:
        raise typer.Exit(FAILURE)


@cache_app.command()
@reported
def stats(*, cache: CacheOption, tenant: TenantOption = None, as_json: JsonFlag = False) -> None:
    """Say what a cache holds and, for each site, what was asked of it: a site's owner could check these counts.

    requests: sent for pages, redirects and retries included. bytes_received: in bodies, as they came.
    revalidations: requests that cost no body. refusals: the site said no (robots.txt, 401, 402, 403, 429, 451).
    failures: nothing usable for another reason. hits: a stored page served instead of a request.

    Example: sufficit cache stats --cache pages.cache
    """
    from retrieval.cache.report import report

    with _opened(cache) as store:
        found = report(store, tenant=tenant)
    sites = [
        {
            "tenant": site.tenant,
            "site": site.site,
            "pages": site.pages,
            "bytes": site.bytes,
            "urls_without_page": site.refused,
            **{"bytes_received" if key == "bytes" else key: count for key, count in asdict(site.tally).items()},
        }
        for site in found.sites
    ]
    data = {
        "tenants": found.tenants,
        "pages": found.pages,
        "passages": found.passages,
        "bytes": found.bytes,
        "pages_not_indexed_yet": found.pending,
    }
    _print(data, {"sites": sites}, as_json=as_json)


@cache_app.command()
@reported
def purge(
    *,
    cache: CacheOption,
    site: Annotated[
        str | None,
        typer.Option(help="Only this host, with its port where it has one: example.org, localhost:8080."),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    older_than: Annotated[
        float | None, typer.Option(min=0, help="Only what no origin has vouched for in so many seconds.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Pages and counters of all that the other options name, or of all.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Remove pages. The counts for their sites stay for the audit, unless --all is given.

    What is removed is overwritten in the cache's file and found by no search any more. Conditions add up.

    Example: sufficit cache purge --site example.org --older-than 86400 --cache pages.cache
    """
    from retrieval.cache.report import Scope
    from retrieval.cache.report import purge as remove

    if site is None and tenant is None and older_than is None and not everything:
        raise ConfigError("Nothing is named. Pass --site, --tenant or --older-than, or --all for everything.")
    scope = Scope(site=site, tenant=tenant, older_than=older_than, counters=everything)
    with _opened(cache) as store:
        _print({"pages_removed": remove(store, scope, now=time.time())}, as_json=as_json)


@cache_app.command()
@reported
def verify(*, cache: CacheOption, as_json: JsonFlag = False) -> None:
    """Check the whole cache: its file, its counts, the hash of every passage, and the index against the pages.

    Changes nothing and needs no model. Exit status 1 if anything is wrong.

    Example: sufficit cache verify --cache pages.cache
    """
    from retrieval.cache.verify import verify as look

    with _opened(cache) as store:
        found = look(store)
    data = {
        "ok": not found.faults,
        "pages": found.pages,
        "passages": found.passages,
        "pages_not_indexed_yet": found.pending,
    }
    _print(data, {"faults": [asdict(fault) for fault in found.faults]}, as_json=as_json)
    if found.faults:
        raise typer.Exit(FAILURE)


@cache_app.command()
@reported
def export(
    *,
    cache: CacheOption,
    out: Annotated[Path | None, typer.Option(help="The file; default: standard output.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --out: say in one JSON object what was written.")
    ] = False,
) -> None:
    """Write every page as a line of JSON: text, passages, provenance, headers. `sufficit index build` reads it.

    Example: sufficit cache export --cache pages.cache --out pages.jsonl
    """
    from retrieval.cache.report import export as records

    if as_json and out is None:
        raise ConfigError("--json tells what was written to a file; name it with --out FILE.")
    with _opened(cache) as store:
        if out is None:
            for record in records(store):
                sys.stdout.write(json_line(record))
            return
        written = 0
        try:
            with out.open("w", encoding="utf-8") as file:
                for record in records(store):
                    file.write(json_line(record))
                    written += 1
        except OSError as error:
            raise ConfigError(
                f"{out} cannot be written: {error.strerror}. Name another file with --out."
            ) from error
    _print({"pages": written, "file": str(out)}, as_json=as_json)


async def _warmed(
    store: PageStore,
    urls: list[str],
    sitemaps: list[str],
    *,
    settings: FetchSettings,
    limit: int,
    tenant: str | None,
    max_age: float | None,
) -> dict[str, PageResult]:
    from retrieval.cache.cached import CachedPages
    from retrieval.cache.warming import sitemap_urls, warm
    from retrieval.web.fetch import Fetcher

    def told(url: str, result: PageResult) -> None:
        detail = "" if result.page or result.fetched is None else f"  {result.fetched.detail}"
        typer.echo(plain_line(f"{result.outcome:<16} {url}{detail}"), err=True)

    async with Fetcher(settings) as fetcher, CachedPages(fetcher, store) as pages:
        listed = [page for one in sitemaps for page in await sitemap_urls(fetcher, one, limit=limit)]
        return await warm(pages, [*urls, *listed], tenant=tenant, max_age=max_age, told=told)


def _index(store: PageStore, tenant: str | None, encoder: str) -> None:
    from retrieval.cache.rooms import Rooms
    from retrieval.index import TransformerEncoder

    rooms = Rooms(store, TransformerEncoder.named(encoder))
    try:
        if not rooms.catch_up(tenant):
            typer.echo("Note: another process is indexing the new pages.", err=True)
    finally:
        rooms.close()


def _opened(folder: Path, *, create: bool = False) -> PageStore:
    from retrieval.cache.database import PAGES_FILE
    from retrieval.cache.store import PageStore

    if not create and not (folder / PAGES_FILE).is_file():
        raise ConfigError(
            f"There is no cache in {folder}. Name another folder, or fill it: "
            f"sufficit cache warm URL --cache {folder}"
        )
    return PageStore(folder)


def _print(data: dict[str, Any], lists: dict[str, list[dict[str, Any]]] | None = None, *, as_json: bool) -> None:
    """One JSON object, or the same for people: values line by line, lists as tables."""
    if as_json:
        sys.stdout.write(json_line(data | (lists or {})))
        return
    console = Console(highlight=False, markup=False)
    for key, value in data.items():
        console.print(f"{key:<22} {plain_line(str(value))}", soft_wrap=True)
    for rows in (lists or {}).values():
        if rows:
            table = Table(*(name.replace("_", " ") for name in rows[0]), box=None)
            for row in rows:
                table.add_row(*("" if value is None else plain_line(str(value)) for value in row.values()))
            console.print(table)
