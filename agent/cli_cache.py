"""`sufficit cache`: fill, look at, purge, check and export a coverage cache."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .cli_cache_open import CacheOption, JsonFlag, TenantOption, opened
from .cli_cache_print import print_found
from .cli_cache_warm import warm
from .cli_errors import FAILURE, reported
from .errors import ConfigError
from .plain import plain_line
from .wire import json_line

cache_app = typer.Typer(
    help=(
        "Fill, look at, purge, check and export a coverage cache.\n\n"
        "A cache is a folder. Searches fill it by themselves; these commands are for its operator. "
        "It may be in use meanwhile, by several processes."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

cache_app.command()(warm)


@cache_app.command()
@reported
def stats(*, cache: CacheOption = None, tenant: TenantOption = None, as_json: JsonFlag = False) -> None:
    """Say what a cache holds and, for each site, what was asked of it: a site's owner could check these counts.

    requests: sent for pages, redirects and retries included. bytes_received: in bodies, as they came.
    revalidations: requests that cost no body. refusals: the site said no (robots.txt, 401, 402, 403, 429, 451).
    failures: nothing usable for another reason. hits: a stored page served instead of a request.

    Example: sufficit cache stats --cache pages.cache
    """
    from retrieval.cache.report import report

    with opened(cache) as store:
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
    print_found(data, {"sites": sites}, as_json=as_json)


@cache_app.command()
@reported
def purge(
    *,
    cache: CacheOption = None,
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
    with opened(cache) as store:
        removed = remove(store, scope, now=time.time())
    print_found({"pages_removed": removed}, as_json=as_json)
    if not removed:
        what = "no such page" if site is None else f"no such page of {site}"
        typer.echo(
            plain_line(f"Note: {what} is stored. sufficit cache stats shows the sites, with their ports."),
            err=True,
        )


@cache_app.command()
@reported
def verify(*, cache: CacheOption = None, as_json: JsonFlag = False) -> None:
    """Check the whole cache: its file, its counts, the hash of every passage, and the index against the pages.

    Changes nothing and needs no model. Exit status 1 if anything is wrong.

    Example: sufficit cache verify --cache pages.cache
    """
    from retrieval.cache.verify import verify as look

    with opened(cache) as store:
        found = look(store)
    data = {
        "ok": not found.faults,
        "pages": found.pages,
        "passages": found.passages,
        "pages_not_indexed_yet": found.pending,
    }
    print_found(data, {"faults": [asdict(fault) for fault in found.faults]}, as_json=as_json)
    if found.faults:
        raise typer.Exit(FAILURE)


@cache_app.command()
@reported
def export(
    *,
    cache: CacheOption = None,
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
    with opened(cache) as store:
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
    print_found({"pages": written, "file": str(out)}, as_json=as_json)
