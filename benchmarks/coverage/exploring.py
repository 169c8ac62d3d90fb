"""Searches that go all the way, whatever the score says: what any bars would have met."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from agent.config import Settings
from agent.result import SearchResult
from policies import AnswerNow, Decision, Reason, SearchOn, SearchState, Widen
from retrieval import EvidenceSet

from ..progress import counted
from .desk import CACHE, WEB, Clock, Desk, Manner
from .needs import Need, held
from .origin import Origin
from .replay import Course
from .shared_work import SharedWork

CACHE_LOOKS, WEB_LOOKS = 2, 4
"""Calls to each tier. Further ones were seen to add nothing: a cache knows no more, and six pages are many."""
TWIN_OF_EVERY = 2
"""Every so many-th question is asked again as if its support were nowhere: bars that never met such a question
would never refuse one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What stood there after one call."""

    score: float | None
    """Of the evidence; None without one."""
    held: int
    """Pieces of support among the passages that would be served."""
    fetches: int
    """Requests to origins since the question was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explored:
    """One question: `CACHE_LOOKS` looks into the cache, then `WEB_LOOKS` at the web; fewer if nothing was left."""

    cluster: str
    needs: int
    """Pieces of support; 0 for an unanswerable question, and for a twin whose support was masked."""
    cache: tuple[Look, ...]
    web: tuple[Look, ...]


@dataclass(frozen=True, slots=True)
class AllTheWay:
    """Leaves the cache and the web after a fixed number of calls to each."""

    name: ClassVar[str] = "all-the-way"
    requires: ClassVar[frozenset[str]] = frozenset()

    def decide(self, state: SearchState) -> Decision:
        """Go on until the number is reached; `partial_from` keeps the question the first query of the web."""
        if state.tier == CACHE and state.tier_turns >= CACHE_LOOKS:
            return Widen(reason=Reason(code="below_band", by=self.name, values={"partial_from": 1e9}))
        if state.tier == WEB and state.tier_turns >= WEB_LOOKS:
            return AnswerNow(reason=Reason(code="fixed_k", by=self.name))
        return SearchOn(reason=Reason(code="progress", by=self.name))


def explore(origin: Origin, work: SharedWork, settings: Settings, way: Course, folder: Path) -> list[Explored]:
    """Ask every question of a stream, and some twins; each finds what the ones before it fetched. Blocking.

    Args:
        origin: The running origin.
        work: The encoder.
        settings: Of the searches; their budget must pay all looks.
        way: The stream.
        folder: For the cache; empty.
    """
    calls = CACHE_LOOKS + WEB_LOOKS
    settings = settings.model_copy(update={"max_turns": calls, "max_calls": calls, "queries_per_turn": 1})
    desk = Desk(folder, origin, work, Clock(), settings, caches=True, manner=Manner(policy=AllTheWay()))
    with counted("explored", total=len(way.stream)) as done:
        return asyncio.run(_explore(desk, origin, way, done))


async def _explore(desk: Desk, origin: Origin, way: Course, done: Callable[[], None]) -> list[Explored]:
    found: list[Explored] = []
    async with desk:
        for ask in way.stream:
            desk.clock.now = way.moment(ask)
            origin.set_clock(desk.clock.now)
            question, cluster = ask.record.question, way.clusters[ask.number]
            needs = way.needs.by_record[ask.record.dataset, ask.record.id]
            found.append(_explored(desk, await desk.run(question, CACHE, WEB), needs, cluster))
            if needs and ask.number % TWIN_OF_EVERY == 0:
                masked = frozenset[str]().union(*(need.passages for need in needs))
                found.append(_explored(desk, await desk.run(question, CACHE, WEB, masked=masked), (), cluster))
            done()
    return found


def _explored(desk: Desk, result: SearchResult, needs: Sequence[Need], cluster: str) -> Explored:
    looks = _looks(desk, result, needs)
    return Explored(
        cluster=cluster,
        needs=len(needs),
        cache=tuple(look for tier, look in looks if tier == CACHE),
        web=tuple(look for tier, look in looks if tier == WEB),
    )


def _looks(desk: Desk, result: SearchResult, needs: Sequence[Need]) -> list[tuple[str, Look]]:
    """After each call: the score, and what would have been served had the search ended there."""
    evidence, rankings = EvidenceSet.of(()), list[tuple[str, ...]]()
    found: list[tuple[str, Look]] = []
    for turn in result.turns:
        evidence = evidence.add(hit.passage for hit in turn.hits)
        rankings.append(tuple(hit.passage.id for hit in turn.hits))
        served = desk.rank(result.question, evidence, rankings)
        score = turn.sufficiency.score if turn.sufficiency else None
        look = Look(score=score, held=held(needs, served), fetches=turn.state.spend.fetches)
        found.append((turn.tier, look))
    return found
