"""The seam through which every passage enters a search."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, runtime_checkable

from .passage import Passage
from .spend import Allowance, Spend


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One query to one tier."""

    query: str
    """What to look for. May be empty: a tier answers it with no hits."""
    k: int
    """The most hits wanted; at least 1."""
    question: str = ""
    """The user's question, for tiers that rank by it."""
    gaps: tuple[str, ...] = ()
    """The parts of the question that the evidence so far leaves uncovered, as text."""
    seeds: tuple[str, ...] = ()
    """Ids of passages from whose links a tier may go on."""
    exclude: frozenset[str] = frozenset()
    """Ids of passages that must not be returned again."""
    budget: Allowance = Allowance()
    """The most that this call may spend."""
    deadline: float | None = None
    """Moment on `time.monotonic()` by which the tier must have answered; None = none."""
    max_age: float | None = None
    """Oldest acceptable content in seconds; None = any age."""
    tenant: str | None = None
    """On whose behalf; tiers never share what is private to a tenant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that a tier returned for a query."""

    passage: Passage
    score: float
    """The tier's own score, higher is better; comparable within one answer only. Finite."""
    rank: int
    """1 = best."""
    tier: str
    """The tier's name."""
    query: str
    """The query that found it."""
    retrieved_at: float
    """Seconds since the epoch at which the tier answered."""
    age: float | None = None
    """Age of the content in seconds where the tier knows it; a local corpus does not."""
    stale: bool = False
    """The content outlived its freshness (RFC 9111) and is served because the rules for stale content allow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something worth recording that happened inside a part of a search."""

    kind: str
    """Machine-readable, e.g. `tier_failed`, `duplicate_query`, `timeout`."""
    detail: str = ""
    """For people: what was wrong, what was expected, what to do."""
    where: str = ""
    """The part that it happened in: a tier's name, `planner`, `scorer`, `answerer`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """A tier's answer to one request."""

    hits: tuple[Hit, ...] = ()
    """Best first, at most k, distinct passages, ranks 1, 2, 3 and so on."""
    spend: Spend = Spend()
    """What it cost beside the call itself: tokens, price, fetches. The loop counts calls and seconds."""
    events: tuple[Event, ...] = ()
    degraded: bool = False
    """True if part of the tier failed and the hits may be fewer or worse than usual."""

    @classmethod
    def ranked(cls, passages: Iterable[Passage], request: Request, *, tier: str) -> Retrieved:
        """The answer of a tier that knows an order but no scores: these get 1, 1/2, 1/3 and so on.

        `passages` come best first; repeats, what the request excludes, and what is beyond `k` are left out.
        """
        wanted = {passage.id: passage for passage in passages if passage.id not in request.exclude}
        moment = time.time()
        return cls(
            hits=tuple(
                Hit(
                    passage=passage, score=1 / rank, rank=rank, tier=tier, query=request.query, retrieved_at=moment
                )
                for rank, passage in enumerate(islice(wanted.values(), request.k), start=1)
            )
        )


@runtime_checkable
class Retriever(Protocol):
    """A tier: a place where passages come from. It knows nothing of scoring.

    Contract:
        * hits come best first, at most `request.k` of them, none from `request.exclude`, none twice;
        * "found nothing" is an empty answer; a sparse match with score zero is no hit;
        * whatever goes wrong is a `TierError` (the loop also survives any other exception: the search is then
          degraded and the tier counts as failed for the turn);
        * it never blocks the event loop and may be cancelled at every await;
        * many requests may run at once; an answer shares no mutable state with another.
    """

    async def retrieve(self, request: Request) -> Retrieved:
        """Return the best passages for `request.query`.

        Raises:
            TierTimeoutError: `request.deadline` passed.
            TierUnavailableError: the tier cannot serve now.
            TierError: any other failure inside the tier.
        """
        ...
