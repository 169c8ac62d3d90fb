"""`sufficit fetch`: what a search would see of one page."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_errors import FAILURE, reported
from .config import load_settings
from .plain import plain, plain_line
from .wire import json_line, passage_json

if TYPE_CHECKING:
    from retrieval.web.extract import Page
    from retrieval.web.outcome import Fetched
    from retrieval.web.settings import FetchSettings


@reported
def fetch(
    url: Annotated[str, typer.Argument(help="The page, with http:// or https://.")],
    *,
    contact: Annotated[
        str | None, typer.Option(help="Where a site's owner reaches you; goes into the User-Agent.")
    ] = None,
    allow_private: Annotated[
        str | None, typer.Option(help="Hosts of yours that may have a private address, by comma.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
    ] = False,
) -> None:
    """Fetch one page as a search would, robots.txt obeyed, and show its passages. No cache is read or filled.

    Exit status: 0 if there is something to read, 1 if not; the outcome says why.

    Example: sufficit fetch https://example.org/ --json
    """
    from retrieval.web.chunks import page_passages

    from .opening import fetch_settings

    given = {"contact": contact, "allow_private": allow_private}
    settings = load_settings({"web": {name: value for name, value in given.items() if value is not None}})
    fetched, page = asyncio.run(_fetched(url, fetch_settings(settings.web)))
    data = _page_json(fetched, page)
    passages = [passage_json(passage) for passage in page_passages(page)]
    if as_json:
        sys.stdout.write(json_line(data | {"passages": passages}))
    else:
        for key, value in data.items():
            typer.echo(f"{key:<16} {plain_line(_shown(value))}")
        for passage in passages:
            typer.echo(plain(f"\n{passage['text']}\n<{passage['url']}>"))
    if page.outcome != "ok":
        raise typer.Exit(FAILURE)


async def _fetched(url: str, settings: FetchSettings) -> tuple[Fetched, Page]:
    from retrieval.web.extract import extract
    from retrieval.web.fetch import Fetcher

    async with Fetcher(settings) as fetcher:
        fetched = await fetcher.fetch(url)
    return fetched, extract(fetched)


def _page_json(fetched: Fetched, page: Page) -> dict[str, Any]:
    """All but the passages; docs/result.md documents the keys."""
    return {
        "url": fetched.url,
        "outcome": page.outcome,
        "detail": page.detail or fetched.detail,
        "final_url": fetched.final_url,
        "redirects": list(fetched.redirects),
        "status": fetched.status,
        "content_type": fetched.content_type,
        "requests": fetched.attempts,
        "bytes_received": fetched.bytes_received,
        "seconds": fetched.seconds,
        "retry_after": fetched.retry_after,
        "title": page.title,
        "date": page.date,
        "language": page.language,
        "flags": list(page.flags),
    }


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
