"""What one strategy works with: its own cache folder, fetcher, tiers and search, all parts of the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from agent.config import Settings
from agent.coverage import CoverageVerdict
from agent.identity import search_identity
from agent.loop import SearchAgent
from agent.parts import LoopSettings
from agent.policy import budget_of, choose_policy
from agent.query import GapPlanner
from agent.ranking import ChainRanker
from agent.result import SearchResult
from agent.views import Views
from policies import StopPolicy
from retrieval import EvidenceSet, Passage, Request, Tier
from retrieval.cache.cached import CachedPages
from retrieval.cache.freshness import decide
from retrieval.cache.records import Tally, host_of
from retrieval.cache.report import report
from retrieval.cache.rooms import Rooms
from retrieval.cache.rules import Rules
from retrieval.cache.store import PageStore
from retrieval.cache.tier import CacheTier
from retrieval.web.fetch import Fetcher
from retrieval.web.live import LivePages
from retrieval.web.providers.client import ApiClient
from retrieval.web.providers.mediawiki import MediaWikiSearch
from retrieval.web.settings import FetchSettings
from retrieval.web.tier import WebSettings, WebTier
from rinse import RinseScorer

from ..stopping.twins import MaskedTier
from .needs import Need
from .origin import Origin, here
from .shared_work import SharedWork
from .world import SEARCH_HOST, SITES

SERVED = 10
"""Passages that a strategy serves at most."""
TierName = Literal["cache", "web"]
CACHE: Final = "cache"
WEB: Final = "web"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the web is asked."""

    pages: int | None = None
    """New pages of one call; None = as the product does."""
    policy: str | StopPolicy | None = None
    """What decides; None = the product's default for these tiers."""


PRODUCT = Manner()
"""Page by page, as long as the score does not suffice."""
ORDINARY = Manner(pages=4, policy="bars")
"""The first four pages of each query, with the default policy of searches that know no origin."""


class Clock:
    """The simulated time: it stands still while a question is answered."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the asker of a question got."""

    passages: tuple[Passage, ...]
    """Best first, at most `SERVED`."""
    ages: Mapping[str, float] = field(default_factory=dict)
    """Seconds since the origin vouched for a passage, by its id."""
    hit: bool
    """Served as complete without asking the web."""
    calls: int = 0
    """Of tiers."""
    verdict: CoverageVerdict | None = None
    """Of a search that asked the cache."""


class Desk:
    """The parts of one strategy. An async context manager.

    Args:
        folder: Of its cache; made where needed.
        origin: The running origin.
        work: The encoder.
        clock: The simulated time.
        settings: Of the searches.
        caches: Whether pages are kept at all.
        manner: How the web is asked.
    """

    def __init__(
        self,
        folder: Path,
        origin: Origin,
        work: SharedWork,
        clock: Clock,
        settings: Settings,
        *,
        caches: bool,
        manner: Manner = PRODUCT,
    ) -> None:
        self.clock, self.work, self._manner = clock, work, manner
        self.caches = caches
        """Whether pages are kept at all."""
        self._folder, self._origin, self._settings = folder, origin, settings
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        hosts = frozenset({SEARCH_HOST, *(site.host for site in SITES)})
        manners = FetchSettings(allow_private=hosts, per_host_interval=0.0, per_host_concurrency=4)
        enter = self._stack.enter_async_context
        fetcher = await enter(Fetcher(manners, clock=self.clock, resolve=here))
        client = await enter(ApiClient(manners, clock=self.clock, resolve=here))
        self._store = self._stack.enter_context(PageStore(self._folder))
        rooms = Rooms(self._store, self.work)
        self._stack.callback(rooms.close)
        cached = await enter(CachedPages(fetcher, self._store, clock=self.clock))
        search = MediaWikiSearch(
            site="http://{}", endpoint=self._origin.url(SEARCH_HOST, "/w/api.php"), client=client
        )
        pages = self._settings.web.pages if self._manner.pages is None else self._manner.pages
        web = WebTier(
            [search],
            cached if self.caches else LivePages(fetcher),
            encoder=self.work,
            settings=WebSettings(pages=pages),
        )
        self._cache = CacheTier(self._store, rooms, clock=self.clock)
        self._tiers = {
            CACHE: Tier(name=CACHE, retriever=self._cache, k=self._settings.cache.k),
            WEB: Tier(name=WEB, retriever=web, k=self._settings.web.k or self._settings.k, fetches=True),
        }
        self._agent = self._new_agent()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def search(self, question: str, *tiers: TierName) -> Served:
        """Search as the product does, with its policy, over these tiers in order."""
        result = await self.run(question, *tiers)
        verdict = None if result.coverage is None else result.coverage.verdict
        return Served(
            passages=result.ranking.top(result.evidence, SERVED),
            ages=_ages(result),
            hit=verdict == "hit",
            verdict=verdict,
            calls=result.spend.calls,
        )

    async def run(self, question: str, *tiers: TierName, masked: frozenset[str] = frozenset()) -> SearchResult:
        """The whole outcome of such a search, as if no tier held the masked passages."""
        asked = [self._tiers[name] for name in tiers]
        if masked:
            asked = [replace(tier, retriever=MaskedTier(tier.retriever, masked)) for tier in asked]
        return await self._agent.run(question, tiers=asked)

    def rank(self, question: str, evidence: EvidenceSet, rankings: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """Ids of the passages that would be served of this evidence, best first."""
        ranking = self._agent.parts.ranker.rank(question, evidence, tuple(map(tuple, rankings)))
        return tuple(passage.id for passage in ranking.top(evidence, SERVED))

    async def nominate(self, question: str) -> Served:
        """The passages of the cache that are most similar to a question."""
        found = await self._cache.retrieve(Request(query=question, k=SERVED))
        ages = {hit.passage.id: hit.age for hit in found.hits if hit.age is not None}
        return Served(passages=tuple(hit.passage for hit in found.hits), ages=ages, hit=True, calls=1)

    def counted(self) -> Tally:
        """What the cache itself counted, over all sites."""
        tallies = [site.tally for site in report(self._store).sites]
        return Tally(**{f.name: sum(getattr(one, f.name) for one in tallies) for f in fields(Tally)})

    def usable(self, needs: Sequence[Need]) -> tuple[Passage, ...] | None:
        """One passage for each need, all from pages that the cache may serve now; None if any is missing."""
        if not self.caches:
            return None
        wanted = sorted({key for need in needs for key in need.passages})
        good = {
            place.passage.id: place.passage
            for places in self._store.places(None, wanted).values()
            for place in places
            if decide(
                place.exchange,
                now=self.clock(),
                rules=Rules(),
                host=host_of(place.key),
                content_type=place.content_type,
                max_age=None,
            ).use
            != "validate"
        }
        chosen = [next((good[key] for key in sorted(need.passages) if key in good), None) for need in needs]
        return None if None in chosen else tuple(one for one in chosen if one is not None)

    def _new_agent(self) -> SearchAgent:
        scorer = RinseScorer.small(encoder=self.work)
        identity = search_identity(
            scorer=scorer.fingerprint,
            tiers=list(self._tiers.values()),
            budget=self._settings.budget,
            queries_per_turn=self._settings.queries_per_turn,
            planner=self._settings.planner,
        )
        policy, views = self._policy(identity), Views()
        return SearchAgent(
            scorer=scorer,
            policy=policy,
            budget=budget_of(self._settings, policy),
            planner=GapPlanner(views=views),
            ranker=ChainRanker(views=views),
            settings=LoopSettings(queries_per_turn=self._settings.queries_per_turn),
        )

    def _policy(self, identity: Mapping[str, Any]) -> StopPolicy:
        named = self._manner.policy
        if named is not None and not isinstance(named, str):
            return named
        both: dict[str, object] = {"tiers": (CACHE, WEB), "policy": named or self._settings.policy}
        return choose_policy(self._settings.model_copy(update=both), identity)


def _ages(result: SearchResult) -> dict[str, float]:
    """The latest age of each passage."""
    hits = [hit for turn in result.turns for hit in turn.hits]
    return {hit.passage.id: hit.age for hit in hits if hit.age is not None}
