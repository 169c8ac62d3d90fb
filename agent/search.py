"""One search: the state of a run, turn by turn. `agent.loop` is its public face."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from policies import (
    Abstain,
    AnswerNow,
    Decision,
    Reason,
    SearchOn,
    SearchState,
    Widen,
    enforce,
)
from retrieval import Allowance, Event, EvidenceSet, Ranking, Request, Tier
from retrieval.compute import in_worker
from retrieval.web.visits import one_search

from .answering import Answered, answer_and_verify
from .assess import Assessment
from .calls import Outcome, call_tier
from .coverage import coverage, is_partial
from .credit import credited_tiers, give_credit
from .errors import TraceError
from .inquiry import Inquiry
from .itinerary import Itinerary
from .meter import Meter
from .parts import Parts
from .planning import plan_turn
from .result import HARMLESS, SearchResult, Turn
from .seams import Plan
from .trace import TraceSink

Emit = Callable[[Turn], Awaitable[None]]

_START = SearchOn(reason=Reason(code="start", by="loop"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A decision that can be carried out."""

    decision: Decision
    wish: Decision
    """What the policy said last."""
    state: SearchState
    """What the policy saw when it said so."""
    plan: Plan
    """The next queries; none if the decision is an end."""


class Search:
    """The state of one run. Built for one question, used once."""

    def __init__(
        self,
        parts: Parts,
        inquiry: Inquiry,
        *,
        trace: TraceSink,
        emit: Emit,
    ) -> None:
        self._parts = parts
        self._inquiry = inquiry
        self._question = inquiry.question
        self._itinerary = Itinerary(inquiry.tiers)
        self._caches = credited_tiers(inquiry)
        self._gaps_first = False
        self._trace = trace
        self._emit = emit
        self._meter = Meter(inquiry.budget, parts.clock)
        self._assessment = Assessment(parts, self._meter, inquiry.question)
        self._evidence = EvidenceSet.of(inquiry.given)
        self._rankings: list[tuple[str, ...]] = [self._evidence.ids]
        self._new_counts: list[int] = []
        self._turns: list[Turn] = []
        self._events: list[Event] = []
        self._duplicates = 0
        self._degraded = False

    async def run(self) -> SearchResult:
        """Search until the policy or a budget ends it. Each turn is traced, then emitted, as it completes."""
        with one_search():
            return await self._run()

    async def _run(self) -> SearchResult:
        settled = await self._begin()
        reviews = 0
        while True:
            while isinstance(settled.decision, SearchOn | Widen):
                settled = await self._turn(settled.plan)
            if isinstance(settled.decision, Abstain):
                return await self._finish("abstain", settled.decision.reason, Answered())
            ranking = await self._ranking()
            answered = await answer_and_verify(self._parts, self._meter, self._question, self._evidence, ranking)
            self._note(answered.events)
            if answered.objection is None:
                return await self._finish("answer", settled.decision.reason, answered)
            reviews += 1
            if answered.answer is None or reviews > self._parts.settings.max_reviews:
                return await self._finish("abstain", answered.objection, answered)
            settled = await self._settle(SearchOn(reason=answered.objection))
            if isinstance(settled.decision, AnswerNow | Abstain):  # it cannot search on: the objection stands
                return await self._finish("abstain", answered.objection, answered)

    async def _begin(self) -> Settled:
        """Look at the given evidence, if there is any, as turn 0; plan the first turn."""
        started = self._parts.clock()
        await self._record(self._trace.start(self._evidence))
        wish: Decision = _START
        scored = False
        if len(self._evidence):
            scored = await self._assess()
            wish = self._parts.policy.decide(self._state())
        settled = await self._settle(wish)
        if len(self._evidence) or isinstance(settled.decision, AnswerNow | Abstain):
            await self._emit_turn("", Plan(), (), settled, scored=scored, started=started)
        return settled

    async def _turn(self, plan: Plan) -> Settled:
        """Ask the planned queries, take in what is new, score, decide, and plan the next turn."""
        started, tier = self._parts.clock(), self._itinerary.tier
        queries = plan.queries[: self._meter.affordable_calls(len(plan.queries), tier)]
        seeds = [plan.seeds[place :: len(queries)] for place in range(len(queries))]
        shares = self._meter.left().shares_of_fetches(len(queries))
        outcomes = await call_tier(
            tier,
            [self._request(tier, *own) for own in zip(queries, seeds, shares, strict=True)],
            seconds_left=lambda: self._meter.left().seconds,
        )
        self._take_in(outcomes)
        scored = await self._assess()
        settled = await self._settle(self._parts.policy.decide(self._state()))
        await self._emit_turn(tier.name, plan, outcomes, settled, scored=scored, started=started)
        return settled

    def _request(self, tier: Tier, query: str, seeds: tuple[str, ...], share: Allowance) -> Request:
        exclude = frozenset(self._evidence.ids) if self._parts.settings.exclude_known else frozenset[str]()
        sufficiency = self._assessment.sufficiency
        return Request(
            query=query,
            k=tier.k,
            question=self._question,
            gaps=tuple(gap.text for gap in sufficiency.gaps) if sufficiency else (),
            seeds=seeds,
            exclude=exclude,
            budget=share,
            max_age=self._inquiry.max_age,
            tenant=self._inquiry.tenant,
        )

    def _take_in(self, outcomes: Sequence[Outcome]) -> None:
        """Count what was spent and asked; add the passages, the best ranks of all queries first."""
        for outcome in outcomes:
            self._meter.add(outcome.spend)
            self._note(outcome.events, degraded=outcome.degraded)
            self._rankings.append(tuple(hit.passage.id for hit in outcome.hits))
        hits = sorted((hit for outcome in outcomes for hit in outcome.hits), key=lambda hit: hit.rank)
        self._evidence = self._evidence.add(hit.passage for hit in hits)
        self._new_counts.append(len(self._evidence.new_ids))
        self._itinerary.count(outcomes)
        self._meter.turns += 1

    async def _assess(self) -> bool:
        scored, events = await self._assessment.look(self._evidence, self._meter.turns)
        self._note(events)
        return scored

    async def _settle(self, wish: Decision) -> Settled:
        """Follow a wish until it is an end, or queries to ask in a tier.

        It ends: each round returns, or enters a tier not visited before, or finds nothing left to ask or to spend,
        after which `enforce` does not let this tier go on.
        """
        while True:
            state = self._state()
            decision = enforce(wish, state)
            if isinstance(decision, AnswerNow | Abstain):
                return Settled(decision=decision, wish=wish, state=state, plan=Plan())
            if isinstance(decision, Widen):
                self._widen(decision, wish)
            planned = await plan_turn(
                self._parts,
                self._meter,
                self._question,
                evidence=self._evidence,
                sufficiency=self._assessment.sufficiency,
                tried=self._itinerary.tried,
                gaps_first=self._gaps_first,
            )
            self._meter.add(planned.plan.spend)
            self._note(planned.events)
            self._duplicates += planned.duplicates
            self._itinerary.nothing_to_ask = not planned.plan.queries
            if self._can_ask(wish):
                return Settled(decision=decision, wish=wish, state=state, plan=planned.plan)
            wish = self._parts.policy.decide(self._state())

    def _widen(self, decision: Widen, wish: Decision) -> None:
        """Enter another tier. What a cache covers a part of is fetched by its gaps."""
        from_cache = self._itinerary.name in self._caches
        self._itinerary.enter(decision.tier)
        partial = from_cache and is_partial(self._question, self._assessment.sufficiency, wish)
        self._gaps_first = partial and self._itinerary.fetches

    def _can_ask(self, wish: Decision) -> bool:
        """Whether planning has left queries, and the budget to ask them in the present tier (case L15)."""
        return isinstance(enforce(SearchOn(reason=wish.reason), self._state()), SearchOn)

    def _state(self) -> SearchState:
        return SearchState(
            turn=self._meter.turns,
            tier=self._itinerary.name,
            scores=tuple(self._assessment.history),
            score_invalid=self._assessment.invalid,
            new_passages=tuple(self._new_counts),
            passages=len(self._evidence),
            tier_price=self._itinerary.price,
            tier_fetches=self._itinerary.fetches,
            tier_turns=self._itinerary.turns,
            observations=dict(self._assessment.observations),
            spend=self._meter.spent(),
            left=self._meter.left(),
            tiers_left=self._itinerary.left,
            nothing_to_ask=self._itinerary.nothing_to_ask,
            failed_turns=self._itinerary.failed_turns,
        )

    async def _ranking(self) -> Ranking:
        return await in_worker(self._parts.ranker.rank, self._question, self._evidence, tuple(self._rankings))

    def _note(self, events: Sequence[Event], *, degraded: bool | None = None) -> None:
        """Keep events for the next turn; by default an event means that something is degraded."""
        self._events.extend(events)
        self._degraded |= any(e.kind not in HARMLESS for e in events) if degraded is None else degraded

    async def _emit_turn(
        self, tier: str, plan: Plan, outcomes: Sequence[Outcome], settled: Settled, *, scored: bool, started: float
    ) -> None:
        turn = Turn(
            number=self._meter.turns,
            tier=tier,
            queries=tuple(outcome.query for outcome in outcomes),
            plan_reason=plan.reason,
            hits=tuple(hit for outcome in outcomes for hit in outcome.hits),
            new=self._evidence.new,
            sufficiency=self._assessment.sufficiency,
            scored=scored,
            state=settled.state,
            wish=settled.wish,
            decision=settled.decision,
            duplicates=self._duplicates,
            events=tuple(self._events),
            seconds=self._parts.clock() - started,
        )
        self._events, self._duplicates = [], 0
        self._turns.append(turn)
        await self._record(self._trace.turn(turn))
        await self._emit(turn)

    async def _finish(
        self, action: Literal["answer", "abstain"], reason: Reason, answered: Answered
    ) -> SearchResult:
        result = SearchResult(
            question=self._question,
            action=action,
            reason=reason,
            answer=answered.answer if action == "answer" else None,
            verdict=answered.verdict,
            evidence=self._evidence,
            ranking=await self._ranking(),
            sufficiency=self._assessment.sufficiency,
            turns=tuple(self._turns),
            spend=self._meter.spent(),
            degraded=self._degraded,
            tiers_not_tried=self._itinerary.not_asked,
            events=tuple(self._events),
        )
        self._note(await give_credit(self._parts, self._inquiry, result))
        if self._parts.watch is not None:
            self._note(await self._parts.watch.look(self._state().score))
        result = replace(result, coverage=coverage(result, self._caches), events=tuple(self._events))
        await self._record(self._trace.finish(result))
        return replace(result, degraded=self._degraded, events=tuple(self._events))

    async def _record(self, writing: Awaitable[None]) -> None:
        """A trace that cannot be written degrades the search; it does not end it."""
        try:
            await writing
        except TraceError as error:
            self._note((Event(kind="trace_failed", detail=str(error), where="trace"),))
