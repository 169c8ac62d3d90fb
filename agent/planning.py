"""From a planner's wish to queries that are worth asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval import Event, EvidenceSet
from retrieval.text import query_key
from rinse import Sufficiency

from .meter import Meter
from .parts import Parts
from .seams import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan whose queries were not asked before."""

    plan: Plan
    duplicates: int = 0
    """Queries that were dropped because they had been asked (case L04)."""
    events: tuple[Event, ...] = ()


async def plan_turn(
    parts: Parts,
    meter: Meter,
    question: str,
    *,
    evidence: EvidenceSet,
    sufficiency: Sufficiency | None,
    tried: Sequence[str],
    gaps_first: bool = False,
) -> Planned:
    """Ask the planner; if it fails, the question itself is the plan. Never raises for a planner's fault.

    Args:
        parts: The planner among them.
        meter: Of the search.
        question: The user's.
        evidence: So far.
        sufficiency: Of the evidence.
        tried: Queries that the present tier answered.
        gaps_first: A cache has covered a part of the question. On a tier that was not asked yet the planner is
            told that the question was asked, so that it goes on from what is missing; with nothing to go on from
            the question is asked after all.
    """
    if gaps_first and not tried:
        onward = await plan_turn(
            parts, meter, question, evidence=evidence, sufficiency=sufficiency, tried=(question,)
        )
        if onward.plan.queries:
            return onward
        meter.add(onward.plan.spend)
    events: tuple[Event, ...] = ()
    try:
        work = parts.planner.plan(question, evidence, sufficiency, tuple(tried))
        plan = await meter.within(parts.settings.plan_seconds, work)
        events = plan.events
        queries = [query for query in plan.queries if query.strip()]
    except Exception as error:  # noqa: BLE001  a planner is a plug-in; without it the question is still a query
        events = (Event(kind="planner_failed", detail=f"{type(error).__name__}: {error}", where="planner"),)
        plan = Plan(reason="the question itself", fallback=True)
        queries = [question] if question.strip() else []
    known = {query_key(query) for query in tried}
    fresh: dict[str, str] = {}
    for query in queries:
        if query_key(query) not in known:
            fresh.setdefault(query_key(query), query)
    kept = tuple(fresh.values())[: parts.settings.queries_per_turn]
    return Planned(plan=replace(plan, queries=kept), duplicates=len(queries) - len(fresh), events=events)
