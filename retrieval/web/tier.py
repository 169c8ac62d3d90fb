"""The live web as a tier of a search: links of providers, pages of a source, the passages that fit the query."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..compute import in_worker
from ..errors import TierTimeoutError
from ..passage import Passage
from ..retriever import Event, Hit, Request, Retrieved
from ..spend import Spend
from .chunks import MAX_WORDS
from .gather import Errand, Gathered, gather_pages
from .links import LinkAnswer, find_links, site_of
from .pages import PageSource
from .providers.seam import SearchProvider
from .ranking import rank_passages
from .visits import Visit, Visits, current_visits

if TYPE_CHECKING:
    from ..index.encoder import Encoder

_MARGIN_SHARE, _MARGIN_SECONDS = 0.1, 1.0
"""Kept of the time for ranking what came: a tenth, at most a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """How much one call does.

    Raises:
        ValueError: a number is below 1.
    """

    links: int = 10
    """Asked of a provider."""
    pages: int = 1
    """With content, that the search did not visit before; another page is replaced by the next link."""
    max_words: int = MAX_WORDS
    """Of a passage."""

    def __post_init__(self) -> None:
        for name in ("links", "pages", "max_words"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, it is {getattr(self, name)}.")


class WebTier:
    """Searches the live web. See `retrieval.Retriever`; one object serves many searches at once.

    A failure is never "no evidence": each page without content is an event `fetch_<outcome>`, each provider that
    failed `provider_failed`; the answer is degraded if every page failed, or if a provider failed and no link was
    found. Inside `retrieval.web.visits.one_search` each page is asked for once, whatever came of it, and all pages
    of the search are ranked for each query.

    Args:
        providers: Asked in order until one has links to the allowed sites.
        pages: Where pages come from: the fetcher, or the cache in front of it.
        sites: Hosts to keep to, those below them included; empty = all.
        encoder: Ranks passages beside BM25; None = BM25 alone.
        name: For traces.
        settings: How much one call does.

    Raises:
        ValueError: no provider, or a site that names no host.
    """

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        pages: PageSource,
        *,
        sites: Sequence[str] = (),
        encoder: Encoder | None = None,
        name: str = "web",
        settings: WebSettings | None = None,
    ) -> None:
        if not providers:
            raise ValueError("A web tier needs a search provider, it got none. Give it one, e.g. Seeds.")
        self._providers, self._pages, self._encoder, self._name = tuple(providers), pages, encoder, name
        self._sites = tuple(map(site_of, sites))
        self._settings = settings or WebSettings()

    async def retrieve(self, request: Request) -> Retrieved:
        """The passages of the web that fit `request.query` best.

        Raises:
            TierTimeoutError: `request.deadline` passed before any link was there.
            TierUnavailableError: every provider failed.
        """
        if not request.query.strip():
            return Retrieved()
        visits = current_visits()
        until = _before(request.deadline)
        answer = await self._links(request.query, until)
        errand = Errand(
            links=answer.links,
            pages=self._settings.pages,
            fetches=request.budget.fetches,
            until=until,
            max_age=request.max_age,
            tenant=request.tenant,
            max_words=self._settings.max_words,
            tier=self._name,
        )
        gathered = await gather_pages(self._pages, errand, visits.of(self))
        hits = await self._hits(request, visits)
        return _retrieved(hits, answer, gathered)

    async def _links(self, query: str, until: float | None) -> LinkAnswer:
        limit = asyncio.timeout(None if until is None else until - time.monotonic())
        try:
            async with limit:
                return await find_links(
                    self._providers, query, self._settings.links, sites=self._sites, tier=self._name
                )
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TierTimeoutError(f"{self._name}: no provider answered before the deadline.") from error

    async def _hits(self, request: Request, visits: Visits) -> tuple[Hit, ...]:
        """The best passages of all pages that this search visited."""
        known: dict[str, tuple[Passage, Visit]] = {}
        for visit in visits.of(self).values():
            for passage in visit.passages:
                if passage.id in request.exclude:
                    continue
                before = known.get(passage.id)
                known[passage.id] = (before[0].merged_with(passage), before[1]) if before else (passage, visit)
        found = [passage for passage, _ in known.values()]
        ranked = await in_worker(rank_passages, request.query, found, self._encoder, visits.vectors)
        now, moment = time.time(), time.monotonic()
        return tuple(
            Hit(
                passage=passage,
                score=score,
                rank=rank,
                tier=self._name,
                query=request.query,
                retrieved_at=now,
                age=known[passage.id][1].age_at(moment),
                stale=known[passage.id][1].stale,
            )
            for rank, (passage, score) in enumerate(ranked[: request.k], start=1)
        )


def _before(deadline: float | None) -> float | None:
    """When fetching must end, so that there is time to rank."""
    if deadline is None:
        return None
    return deadline - min(_MARGIN_SECONDS, _MARGIN_SHARE * max(deadline - time.monotonic(), 0.0))


def _retrieved(hits: tuple[Hit, ...], answer: LinkAnswer, gathered: Gathered) -> Retrieved:
    events: tuple[Event, ...] = (*answer.events, *gathered.events)
    all_failed = gathered.failed > 0 and gathered.read == 0
    return Retrieved(
        hits=hits,
        spend=Spend(fetches=gathered.fetches),
        events=events,
        degraded=all_failed or (not answer.links and bool(answer.events)),
    )
