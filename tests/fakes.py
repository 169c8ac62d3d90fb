"""Scripted parts that go in at the public seams. Used by tests only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent import SearchAgent, SearchResult
from agent.seams import Answer, Citation, Observation, Plan, Verdict
from policies import AnswerNow, Budget, Decision, Reason, SearchOn, SearchState
from retrieval import EvidenceSet, Hit, Passage, Ranking, Request, Retrieved, Spend, Tier
from rinse import Gap, ReaderScore, Sufficiency


def passage(name: str, title: str = "") -> Passage:
    return Passage(text=f"Text of {name}.", title=title or name.title())


def passages(*names: str) -> tuple[Passage, ...]:
    return tuple(passage(name) for name in names)


def hits(found: Iterable[Passage], request: Request, tier: str = "scripted") -> tuple[Hit, ...]:
    return tuple(
        Hit(passage=p, score=1.0 / rank, rank=rank, tier=tier, query=request.query, retrieved_at=0.0)
        for rank, p in enumerate(found, start=1)
    )


@dataclass
class ScriptedRetriever:
    """Answers by script: one entry a call; the last one repeats. An exception in the script is raised."""

    script: Sequence[Sequence[Passage] | Exception]
    delay: float = 0.0
    requests: list[Request] = field(default_factory=list)
    cancelled: int = 0

    async def retrieve(self, request: Request) -> Retrieved:
        step = self.script[min(len(self.requests), len(self.script) - 1)]
        self.requests.append(request)
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(step, Exception):
            raise step
        return Retrieved(hits=hits(step[: request.k], request))


@dataclass
class ChargingRetriever:
    """Finds something new each time, and charges for it."""

    spend: Spend
    requests: list[Request] = field(default_factory=list)

    async def retrieve(self, request: Request) -> Retrieved:
        self.requests.append(request)
        found = passages(f"new {len(self.requests)}")
        await asyncio.sleep(0)
        return Retrieved(hits=hits(found, request), spend=self.spend)


@dataclass
class KeyedRetriever:
    """Finds the passages whose text contains a word of the query; an own small corpus."""

    corpus: Sequence[Passage]

    async def retrieve(self, request: Request) -> Retrieved:
        await asyncio.sleep(0)
        words = {word.strip("?.").lower() for word in request.query.split()}
        found = [p for p in self.corpus if words & {word.strip("?.").lower() for word in p.text.split()}]
        return Retrieved(hits=hits(found[: request.k], request))


def tier(name: str, *script: Sequence[Passage] | Exception, delay: float = 0.0, **kwargs: float) -> Tier:
    retriever = ScriptedRetriever(script=script or ((),), delay=delay)
    return Tier(name=name, retriever=retriever, **kwargs)  # type: ignore[arg-type]


def requests_of(tier: Tier) -> list[Request]:
    assert isinstance(tier.retriever, ScriptedRetriever)
    return tier.retriever.requests


@dataclass
class ScriptedScorer:
    """Scores by a function of the evidence's size and texts; counts how often it ran and where."""

    function: Callable[[EvidenceSet], float] = lambda evidence: float(len(evidence))
    seconds: float = 0.0
    calls: list[tuple[str, ...]] = field(default_factory=list)
    threads: set[str] = field(default_factory=set)

    @property
    def fingerprint(self) -> str:
        return "scripted"

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        import threading

        self.threads.add(threading.current_thread().name)
        self.calls.append(evidence.ids)
        time.sleep(self.seconds)
        value = self.function(evidence)
        gap = Gap(start=0, end=min(3, len(question)), text=question[:3], coverage=0.1)
        reader = ReaderScore(reader="content", raw=value, corrected=value)
        return Sufficiency(score=value, readers=(reader,), gaps=(gap,), passages=len(evidence))


@dataclass
class ScriptedPlanner:
    """Plans by script: one entry a call, then the last repeats; or `query 1`, `query 2` and so on without one."""

    script: Sequence[Sequence[str] | Exception] = ()
    calls: int = 0

    async def plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        self.calls += 1
        if not self.script:
            return Plan(queries=(f"{question} {self.calls}",), reason="scripted")
        step = self.script[min(self.calls - 1, len(self.script) - 1)]
        if isinstance(step, Exception):
            raise step
        return Plan(queries=tuple(step), reason="scripted")


@dataclass
class QuoteAnswerer:
    """Answers with the passage that arrived first, whatever its rank."""

    asked: list[str] = field(default_factory=list)

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        self.asked.append(question)
        first = evidence.passages[0]
        quote = Citation(passage_id=first.id, start=0, end=len(first.text), quote=first.text)
        return Answer(text=first.text, citations=(quote,))


@dataclass
class ScriptedVerifier:
    """Gives these labels, one a call; the last one repeats."""

    labels: Sequence[str]
    calls: int = 0

    async def verify(self, question: str, answer: Answer, evidence: EvidenceSet) -> Verdict:
        label = self.labels[min(self.calls, len(self.labels) - 1)]
        self.calls += 1
        return Verdict(label=label)  # type: ignore[arg-type]


@dataclass
class ScriptedObserver:
    """Observes fixed values, or raises."""

    name: str
    values: Mapping[str, float] | Exception
    turns: list[int] = field(default_factory=list)

    async def observe(self, question: str, evidence: EvidenceSet, turn: int) -> Observation:
        self.turns.append(turn)
        if isinstance(self.values, Exception):
            raise self.values
        return Observation(values=self.values)


@dataclass(frozen=True)
class PolicyFrom:
    """A policy from a function."""

    function: Callable[[SearchState], Decision]
    requires: frozenset[str] = frozenset()
    name: str = "scripted"

    def decide(self, state: SearchState) -> Decision:
        return self.function(state)


def always_search() -> PolicyFrom:
    return PolicyFrom(lambda _: SearchOn(reason=Reason(code="below_threshold", by="scripted")))


def answer_at(value: float) -> PolicyFrom:
    def decide(state: SearchState) -> Decision:
        if state.score is not None and state.score >= value:
            return AnswerNow(reason=Reason(code="threshold_met", by="scripted"))
        return SearchOn(reason=Reason(code="below_threshold", by="scripted"))

    return PolicyFrom(decide)


def agent(*tiers: Tier, **parts: Any) -> SearchAgent:
    """An agent of scripted parts over these tiers; `parts` replace the usual ones."""
    usual: dict[str, Any] = {
        "scorer": ScriptedScorer(),
        "policy": always_search(),
        "planner": ScriptedPlanner(),
        "answerer": QuoteAnswerer(),
        "budget": Budget(max_turns=8, max_calls=8, max_seconds=30),
    }
    return SearchAgent(tiers=tiers, **(usual | parts))


def run(search_agent: SearchAgent, **options: Any) -> SearchResult:
    """Ask the scripted agent `question`."""
    return search_agent.run_sync("question", **options)
