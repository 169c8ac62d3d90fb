"""What to ask next, by a language model; by a simpler planner where that fails."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Annotated

from pydantic import BaseModel, Field

from retrieval import Event, EvidenceSet, Passage
from retrieval.compute import in_worker
from retrieval.text import query_key
from rinse import Sufficiency

from .errors import ModelCallError
from .llm.ask import Limits, ask_json, estimate_event
from .llm.client import ChatClient, Message
from .llm.quotes import shown
from .meter import allowance
from .prompts import MAX_QUERY, fitting, planner_messages
from .seams import Plan, QueryPlanner

QUERIES = 2
"""Queries of one plan."""
SHARE_OF_TIME = 0.5
"""Of the time that a search has left: the rest is for the simpler planner and for asking what it plans."""


class PlannedQueries(BaseModel):
    """What the model is asked for."""

    queries: Annotated[list[str], Field(max_length=50)]
    reason: str = ""


class LlmPlanner:
    """Asks a language model for the next queries. A `QueryPlanner`.

    On the first turn the model takes the question apart; afterwards it sees the gaps, the passages (the new and
    the first ones in turn, within `context_tokens`) and the queries that were tried. Where it fails, the plan is
    that of `fallback`, marked as such, with an event `planner_fell_back` that says why: no reply in time, no
    valid JSON even when asked again, no token left in the search's budget, or no query that is new.

    Args:
        client: The model.
        fallback: Plans where the model fails.
        context_tokens: For the passages of one prompt, by an estimate.
        max_tokens: Longest completion.
    """

    def __init__(
        self, client: ChatClient, fallback: QueryPlanner, *, context_tokens: int = 3_000, max_tokens: int = 500
    ) -> None:
        self._client = client
        self._fallback = fallback
        self._context_tokens = context_tokens
        self._max_tokens = max_tokens

    async def plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        """Plan the next turn. See `QueryPlanner`; raises what the fallback raises, nothing else."""
        try:
            return await self._by_model(question, evidence, sufficiency, tried)
        except ModelCallError as error:
            plan = await self._fallback.plan(question, evidence, sufficiency, tried)
            event = Event(kind="planner_fell_back", detail=str(error), where="planner")
            return replace(
                plan,
                fallback=True,
                reason=f"{plan.reason} (without the model: {error})",
                spend=plan.spend + error.spend,
                events=(event, *estimate_event(error.estimated, "planner"), *plan.events),
            )

    async def _by_model(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        messages = await in_worker(self._messages, question, evidence, sufficiency, tried)
        asked = await ask_json(self._client, messages, PlannedQueries, self._limits())
        queries = _fresh(asked.value.queries, tried)
        if not queries:
            why = "The model has no query that was not tried."
            raise ModelCallError(why, spend=asked.spend, estimated=asked.estimated)
        return Plan(
            queries=queries,
            reason=shown(asked.value.reason)[:MAX_QUERY] or "what the model asks for",
            spend=asked.spend,
            events=estimate_event(asked.estimated, "planner"),
        )

    def _messages(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> tuple[Message, ...]:
        passages = fitting(_in_turn(evidence), tokens=self._context_tokens)
        gaps = tuple(gap.text for gap in sufficiency.gaps) if sufficiency else ()
        return planner_messages(question, passages, gaps=gaps, tried=tried)

    def _limits(self) -> Limits:
        left = allowance()
        seconds = self._client.endpoint.timeout_seconds
        if left.seconds is not None:
            seconds = min(seconds, SHARE_OF_TIME * left.seconds)
        return Limits(max_tokens=self._max_tokens, seconds=max(seconds, 0.0), tokens=left.tokens)


def _in_turn(evidence: EvidenceSet) -> Iterable[Passage]:
    """New passages and earlier ones in turn: what to go on from, and what the question found at first."""
    fresh = set(evidence.new_ids)
    earlier = (passage for passage in evidence if passage.id not in fresh)
    pairs = chain.from_iterable(zip_longest(evidence.new, earlier))
    return (passage for passage in pairs if passage is not None)


def _fresh(queries: Iterable[str], tried: Iterable[str]) -> tuple[str, ...]:
    """The first queries that were not tried, cleaned and short."""
    known = {query_key(query) for query in tried}
    kept: list[str] = []
    for query in map(_short, queries):
        key = query_key(query)
        if key and key not in known and len(kept) < QUERIES:
            known.add(key)
            kept.append(query)
    return tuple(kept)


def _short(query: str) -> str:
    """One line of at most `MAX_QUERY` characters, cut between words where there are any."""
    line = " ".join(query.split())
    if len(line) <= MAX_QUERY:
        return line
    return line[: MAX_QUERY + 1].rpartition(" ")[0] or line[:MAX_QUERY]
