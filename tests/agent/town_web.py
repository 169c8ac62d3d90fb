"""The towns of `tests.towns` as a web site on this machine, a real cache before it, and an agent over both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.loop import SearchAgent
from agent.query import GapPlanner
from policies import StopPolicy
from policies.threshold import Band
from retrieval import Tier
from retrieval.cache.cached import CachedPages
from retrieval.cache.rooms import Rooms
from retrieval.cache.store import PageStore
from retrieval.cache.tier import CacheTier
from retrieval.index import Encoder
from retrieval.web.providers import ApiClient, FoundLink, Seeds
from retrieval.web.tier import WebSettings, WebTier
from rinse import SufficiencyScorer
from tests.retrieval.web.pages import article, html
from tests.retrieval.web.server import Answer, Asked, Naps, Site, book, fetching, head, local, page, serving
from tests.retrieval.web.webs import TLS
from tests.towns import CORPUS

QUESTION = "Which river is the town on where Orla Venn was born?"
ORLA, MARROWBY, TESSEL, HILLS, PELL, DUNMOUTH = (f"/{title.split()[0].lower()}" for title, _ in CORPUS)
BAND = Band(answer_at=2.0, abstain_below=-3.0)
"""Orla Venn's passage alone scores 0.9, with Marrowby's 2.5, one that has nothing to do with it -3.9."""


def town_page(title: str, text: str) -> Answer:
    """A page that stays fresh for an hour and can be validated."""
    body = html(article(text), title=title).encode()
    headers = {"Cache-Control": "max-age=3600", "ETag": '"1"'}
    whole = page(body, Cache_Control="max-age=3600", ETag='"1"')

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.headers.get("if-none-match") == '"1"':
            writer.write(head(304, headers))
        else:
            await whole(asked, writer)

    return answer


@dataclass(frozen=True)
class TownWeb:
    """A running site and what searches it."""

    site: Site
    pages: CachedPages
    store: PageStore
    cache: Tier
    web: Tier
    scorer: SufficiencyScorer

    def agent(self, *tiers: Tier, policy: StopPolicy = BAND, **options: Any) -> SearchAgent:
        """An agent without an answerer, over cache and web unless told otherwise."""
        chosen = tiers or (self.cache, self.web)
        options = {"planner": GapPlanner()} | options
        return SearchAgent(tiers=chosen, scorer=self.scorer, policy=policy, **options)

    async def warm(self, *paths: str, tenant: str | None = None) -> None:
        """Have pages in the cache; what was asked for is then forgotten."""
        for path in paths:
            result = await self.pages.page(self.site.url(path), deadline=None, max_age=None, tenant=tenant)
            assert result.outcome == "ok"
        self.site.requests.clear()


@asynccontextmanager
async def town_web(
    folder: Path,
    scorer: SufficiencyScorer,
    encoder: Encoder,
    *,
    changed: Mapping[str, Answer | list[Answer]] | None = None,
    paths: Sequence[str] = (ORLA, MARROWBY, TESSEL, HILLS, PELL, DUNMOUTH),
    pages: int = 1,
) -> AsyncIterator[TownWeb]:
    """The site with its cache in `folder`; one page is read in a call, the one whose title fits the query best."""
    answers: dict[str, Answer | list[Answer]] = {
        path: town_page(*entry)
        for path, entry in zip((ORLA, MARROWBY, TESSEL, HILLS, PELL, DUNMOUTH), CORPUS, strict=True)
    }
    titles = dict(zip(answers, (title for title, _ in CORPUS), strict=True))
    async with (
        serving(answers | dict(changed or {})) as site,
        fetching() as fetcher,
        ApiClient(local(), sleep=Naps(), resolve=book({}), tls=TLS) as client,
    ):
        links = [FoundLink(url=site.url(path), title=titles.get(path, path)) for path in paths]
        with PageStore(folder) as store:
            rooms = Rooms(store, encoder)
            async with CachedPages(fetcher, store) as cached:
                web = WebTier([Seeds(links, client=client)], cached, settings=WebSettings(pages=pages))
                yield TownWeb(
                    site=site,
                    pages=cached,
                    store=store,
                    cache=Tier(name="cache", retriever=CacheTier(store, rooms), k=3),
                    web=Tier(name="web", retriever=web, k=3, fetches=True),
                    scorer=scorer,
                )
            rooms.close()
