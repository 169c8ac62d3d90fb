"""A small web on this machine, with everything from provider to tier real but the sites."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from retrieval import Event, Retrieved
from retrieval.web.live import LivePages
from retrieval.web.providers import ApiClient, FoundLink, SearchProvider, Seeds
from retrieval.web.tier import WebSettings, WebTier
from tests.retrieval.web.pages import article, html
from tests.retrieval.web.server import Answer, Naps, Site, book, fetching, local, page, serving

TLS = ssl.create_default_context()
"""One for all clients: reading the authorities takes longer than a test."""


def about(*paragraphs: str, title: str = "Tessel") -> Answer:
    """A page with these paragraphs."""
    return page(html(article(*paragraphs), title=title).encode())


@dataclass(frozen=True)
class Web:
    """A server, and what asks it."""

    site: Site
    pages: LivePages
    client: ApiClient

    def seeds(self, *paths: str) -> Seeds:
        return Seeds([self.site.url(path) for path in paths], client=self.client)

    def tier(self, *paths: str, providers: Sequence[SearchProvider] = (), **options: Any) -> WebTier:
        """A tier that finds these paths, in this order."""
        options.setdefault("settings", WebSettings(pages=4))
        return WebTier([*providers, Listed([self.site.url(path) for path in paths])], self.pages, **options)


class Listed:
    """A provider with the same links for every query, or one that fails."""

    def __init__(self, urls: Sequence[str], error: Exception | None = None) -> None:
        self.name = "listed"
        self.queries: list[str] = []
        self._urls, self._error = urls, error

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        self.queries.append(query)
        if self._error is not None:
            raise self._error
        return [FoundLink(url=url) for url in self._urls][:limit]


@asynccontextmanager
async def web(answers: Mapping[str, Answer | list[Answer]], **settings: Any) -> AsyncIterator[Web]:
    """The web with these answers by path; `settings` are those of the fetcher."""
    async with (
        serving(dict(answers)) as site,
        fetching(**settings) as fetcher,
        ApiClient(local(), sleep=Naps(), resolve=book({}), tls=TLS) as client,
    ):
        yield Web(site=site, pages=LivePages(fetcher), client=client)


def kinds(found: Retrieved | Sequence[Event]) -> list[str]:
    """The kinds of the events, sorted."""
    return sorted(event.kind for event in (found.events if isinstance(found, Retrieved) else found))
