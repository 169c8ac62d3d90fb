"""The cache as a tier of a search. It nominates by similarity; what is enough, the loop's score decides."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..compute import in_worker
from ..errors import CacheError, IndexFolderError, TierTimeoutError, TierUnavailableError
from ..passage import Passage
from ..retriever import Event, Hit, Request, Retrieved
from .freshness import Verdict, decide
from .records import Place, host_of
from .rooms import Rooms
from .rules import Rules
from .store import PageStore

CATCH_UP_SECONDS = 2.0
"""How long a search waits for the index to take over pages that were stored since the last one."""
MOST_CANDIDATES = 320
"""Passages that are looked at where many of the nearest ones are too old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A passage that may be nominated."""

    passage: Passage
    verdict: Verdict
    score: float


class CacheTier:
    """Nominates the stored passages that are most like the query. See `retrieval.Retriever`.

    It never claims that a question is covered: "Who acquired X?" and "Who did X acquire?" have the same nearest
    passages (case C01). Passages that are stale are left out unless the origin allows them to be served while they
    are validated, or `serve_stale` is set and the rules allow them to stand in for a failing origin; each is then
    told in an event with its age. It never asks an origin.

    Args:
        store: The pages.
        rooms: Their indexes.
        rules: The operator's, for freshness.
        serve_stale: Whether the origins count as unreachable: `Rules.stale_on_error` and `stale-if-error` decide.
        clock: Seconds since the epoch.
        name: The tier's.
    """

    def __init__(
        self,
        store: PageStore,
        rooms: Rooms,
        *,
        rules: Rules | None = None,
        serve_stale: bool = False,
        clock: Callable[[], float] = time.time,
        name: str = "cache",
    ) -> None:
        self._store, self._rooms, self._rules = store, rooms, rules or Rules()
        self._serve_stale, self._clock, self._name = serve_stale, clock, name

    async def retrieve(self, request: Request) -> Retrieved:
        """The best usable passages of the request's tenant, with the age of each.

        Raises:
            TierTimeoutError: `request.deadline` passed.
            TierUnavailableError: the cache or its index cannot be read.
        """
        left = None if request.deadline is None else request.deadline - time.monotonic()
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await in_worker(self._search, request)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TierTimeoutError(f"{self._name}: no answer before the deadline of the request.") from error
        except (CacheError, IndexFolderError) as error:
            raise TierUnavailableError(f"{self._name}: {error}") from error

    async def credit(
        self, question: str, contributions: Mapping[str, float], *, tenant: str | None = None
    ) -> None:
        """Learn which passages a question's evidence needed (see `PageStore.credit`), and index what is new.

        To be called after a search, off its path.

        Raises:
            CacheError: the store cannot be written.
            IndexFolderError: the index cannot be written.
        """
        await in_worker(self._store.credit, tenant, question, contributions, self._clock())
        await in_worker(self._rooms.catch_up, tenant)

    def _search(self, request: Request) -> Retrieved:
        events = self._caught_up(request.tenant)
        take, usable, stale = max(2 * request.k, 20), list[_Found](), list[_Found]()
        while True:
            answer = self._rooms.search(request.tenant, request.query, take, request.exclude)
            usable, stale = self._sorted_out(request, answer.hits)
            if len(usable) >= request.k or len(answer.hits) < take or take >= MOST_CANDIDATES:
                break
            take *= 4
        chosen = usable[: request.k]
        events += [replace(event, where=self._name) for event in answer.events]
        events += [self._told("cache_stale_served", one) for one in chosen if one.verdict.stale]
        events += [self._told("cache_stale_left_out", one) for one in stale[: request.k]]
        return Retrieved(
            hits=tuple(self._hit(one, rank, request) for rank, one in enumerate(chosen, start=1)),
            events=tuple(events),
            degraded=answer.degraded or any(event.kind == "cache_index_failed" for event in events),
        )

    def _caught_up(self, tenant: str | None) -> list[Event]:
        """Let the index follow the store; what has to be told of it. Where it cannot, it serves as it is."""
        try:
            if self._rooms.catch_up(tenant, seconds=CATCH_UP_SECONDS):
                return []
        except CacheError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever an encoder raises, what is indexed can be searched
            return [Event(kind="cache_index_failed", detail=str(error) or repr(error), where=self._name)]
        detail = "Pages that were stored just now are not searched yet; the index is taking them over."
        return [Event(kind="cache_behind", detail=detail, where=self._name)]

    def _hit(self, found: _Found, rank: int, request: Request) -> Hit:
        return Hit(
            passage=found.passage,
            score=found.score,
            rank=rank,
            tier=self._name,
            query=request.query,
            retrieved_at=self._clock(),
            age=found.verdict.age,
            stale=found.verdict.stale,
        )

    def _sorted_out(self, request: Request, ranked: Sequence[Hit]) -> tuple[list[_Found], list[_Found]]:
        """What may be nominated, best first, and what is too old or stale; what no page holds is in neither."""
        places = self._store.places(request.tenant, [hit.passage.id for hit in ranked])
        usable, stale = list[_Found](), list[_Found]()
        for hit in ranked:
            judged = [(place, self._judged(place, request.max_age)) for place in places.get(hit.passage.id, ())]
            good = [pair for pair in judged if self._may_serve(pair[1])]
            if good:
                usable.append(_joined(good, hit.score))
            elif judged:
                stale.append(_joined(judged, hit.score))
        return usable, stale

    def _judged(self, place: Place, max_age: float | None) -> Verdict:
        return decide(
            place.exchange,
            now=self._clock(),
            rules=self._rules,
            host=host_of(place.key),
            content_type=place.content_type,
            max_age=max_age,
        )

    def _may_serve(self, verdict: Verdict) -> bool:
        return verdict.use != "validate" or (self._serve_stale and verdict.on_error)

    def _told(self, kind: str, found: _Found) -> Event:
        verdict = found.verdict
        detail = (
            f"{found.passage.id[:12]} of {found.passage.source_id} is {verdict.age:.0f} s old; its lifetime is "
            f"{verdict.lifetime:.0f} s ({verdict.reason})."
        )
        return Event(kind=kind, detail=detail, where=self._name)


def _joined(judged: Sequence[tuple[Place, Verdict]], score: float) -> _Found:
    """One passage for all pages that hold it; the youngest comes first and gives the age."""
    (first, verdict), *others = sorted(judged, key=lambda pair: (pair[1].age, pair[0].key))
    passage = first.passage
    for place, _ in others:
        passage = passage.merged_with(place.passage)
    return _Found(passage=passage, verdict=verdict, score=score)
