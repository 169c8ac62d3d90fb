"""Origins that tests write themselves, a clock that they set, and pages to store. Used by tests only."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from typing import Any

from retrieval import Passage
from retrieval.cache.cached import CachedPages
from retrieval.cache.freshness import Exchange
from retrieval.cache.records import StoredPage
from retrieval.corpora.document import Section
from retrieval.web.extract import Page
from retrieval.web.outcome import Fetched
from retrieval.web.pages import PageResult
from retrieval.web.urls import fetch_key

NOW = 1_900_000_000.0
URL = "http://moor.example/heather"


class Clock:
    """Seconds since the epoch, as the test says."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def article(*paragraphs: str) -> bytes:
    """An HTML page that an extraction takes for an article."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    page = (
        f"<html><head><title>Heather</title></head><body><article><h1>Heather</h1>{text}</article></body></html>"
    )
    return page.encode()


async def ask(pages: CachedPages, url: str = URL, **wishes: Any) -> PageResult:
    """A page without deadline, wished age or tenant, but for the wishes."""
    return await pages.page(url, **({"deadline": None, "max_age": None, "tenant": None} | wishes))


LONG = (
    "The moor above the village is covered with heather, and in late summer the whole slope turns purple. "
    "Shepherds have kept their flocks there for longer than anybody in the valley can remember or tell. "
    "A stone at the old crossing names the year in which the last toll was paid to the abbey."
)


@dataclass
class Origin:
    """Answers fetches as it is told, and counts them. A `retrieval.cache.renewal.Fetches`."""

    clock: Clock
    body: bytes = field(default_factory=lambda: article(LONG))
    headers: dict[str, str] = field(default_factory=dict)
    fails: Fetched | Exception | None = None
    gate: asyncio.Event | None = None
    """Fetches wait for it."""
    asked: list[dict[str, str]] = field(default_factory=list)
    """The validators of each fetch."""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """A fetch has begun."""

    async def fetch(
        self, url: str, *, validators: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> Fetched:
        self.asked.append(dict(validators or {}))
        self.arrived.set()
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.fails, Exception):
            raise self.fails
        now = self.clock()
        if self.fails is not None:
            return replace(self.fails, url=url, key=fetch_key(url), requested_at=now, received_at=now)
        etag = f'"{hashlib.sha256(self.body).hexdigest()[:8]}"'
        headers = {"date": formatdate(now, usegmt=True), "etag": etag, "content-type": "text/html"} | self.headers
        same = (validators or {}).get("if-none-match") == headers["etag"]
        return Fetched(
            url=url,
            key=fetch_key(url),
            outcome="not_modified" if same else "ok",
            final_url=url,
            status=304 if same else 200,
            headers=headers,
            body=b"" if same else self.body,
            content_type="" if same else "text/html",
            requested_at=now,
            received_at=now,
            bytes_received=0 if same else len(self.body),
            attempts=1,
            seconds=0.5,
        )


def failure(outcome: str, *, status: int | None = None, retry_after: float | None = None) -> Fetched:
    """What `Origin.fails` may be."""
    return Fetched(
        url="",
        key="",
        outcome=outcome,  # type: ignore[arg-type]
        detail=f"The site says {outcome}.",
        status=status,
        requested_at=0,
        received_at=0,
        attempts=0 if outcome == "robots_denied" or (outcome, status) == ("blocked", None) else 1,
        retry_after=retry_after,
    )


def stored_page(
    key: str,
    *texts: str,
    tenant: str | None = None,
    at: float = NOW,
    seconds: float = 0.0,
    control: str = "max-age=1000",
    title: str = "Heather",
) -> StoredPage:
    """A page as `CachedPages` would store it, with one passage a text."""
    page = Page(
        url=key,
        title=title,
        text="\n\n".join(texts),
        sections=tuple(Section(title="", text=text) for text in texts),
    )
    headers = {"cache-control": control, "date": formatdate(at, usegmt=True)}
    return StoredPage(
        tenant=tenant,
        key=key,
        final_url=key,
        page=page,
        passages=tuple(Passage(text=text, title=title, source_id=key, url=key) for text in texts),
        exchange=Exchange(status=200, headers=headers, request_headers={}, requested_at=at, received_at=at),
        content_type="text/html",
        content=hashlib.sha256("\n".join(texts).encode("utf-8", "replace")).hexdigest(),
        seconds=seconds,
    )
