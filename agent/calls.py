"""One turn's calls to one tier: in parallel, each with its own time limit, none able to end the search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from retrieval import Event, Hit, Request, Retrieved, Spend, Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one call."""

    query: str
    hits: tuple[Hit, ...] = ()
    spend: Spend = Spend()
    events: tuple[Event, ...] = ()
    failed: bool = False
    """True if the tier raised or took too long."""
    degraded: bool = False
    """True if it failed, or answered with a part of itself missing."""


async def call_tier(
    tier: Tier, requests: Sequence[Request], *, seconds_left: Callable[[], float | None]
) -> tuple[Outcome, ...]:
    """Ask one tier several queries at once. Outcomes come in the order of the requests.

    Any exception of a tier becomes a failed outcome with an event; only cancellation passes through.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_call(tier, request, seconds_left)) for request in requests]
    return tuple(task.result() for task in tasks)


async def _call(tier: Tier, request: Request, seconds_left: Callable[[], float | None]) -> Outcome:
    left = seconds_left()
    limit = tier.timeout_seconds if left is None else min(tier.timeout_seconds, max(left, 0.0))
    cost = Spend(calls=1, price=tier.price)
    scope = asyncio.timeout(limit)
    try:
        async with scope:
            answer = await tier.retriever.retrieve(replace(request, deadline=time.monotonic() + limit))
        return _checked(tier, request, answer, cost)
    except TimeoutError as error:
        ours = scope.expired()
        kind = "tier_timeout" if not ours or limit == tier.timeout_seconds else "budget_seconds"
        detail = f"No answer within {limit:.3g} s to {request.query!r}." if ours else repr(error)
        return _failure(tier, request, cost, kind, detail)
    except Exception as error:  # noqa: BLE001  a tier is somebody else's code: its fault degrades, never ends
        return _failure(tier, request, cost, "tier_failed", f"{type(error).__name__}: {error}")


def _failure(tier: Tier, request: Request, cost: Spend, kind: str, detail: str) -> Outcome:
    event = Event(kind=kind, detail=detail, where=tier.name)
    return Outcome(query=request.query, spend=cost, events=(event,), failed=True, degraded=True)


def _checked(tier: Tier, request: Request, answer: Retrieved, cost: Spend) -> Outcome:
    """The answer, held to the contract: at most k hits, none twice, none excluded."""
    if not isinstance(answer, Retrieved):
        raise TypeError(f"retrieve() must return Retrieved, tier {tier.name!r} returned {type(answer).__name__}.")
    distinct = {hit.passage.id: hit for hit in reversed(answer.hits) if hit.passage.id not in request.exclude}
    hits = tuple(hit for hit in answer.hits if distinct.get(hit.passage.id) is hit)[: request.k]
    events = answer.events
    if len(hits) < len(answer.hits):
        detail = f"{len(answer.hits) - len(hits)} hits were dropped: more than k, repeated, or excluded."
        events = (*events, Event(kind="hits_dropped", detail=detail, where=tier.name))
    return Outcome(
        query=request.query, hits=hits, spend=cost + answer.spend, events=events, degraded=answer.degraded
    )
