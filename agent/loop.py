"""`SearchAgent`: many searches, each decided turn by turn, on one set of parts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import TypeAdapter

from policies import Budget, StopPolicy
from retrieval import Passage, Tier
from rinse import SufficiencyScorer

from .blocking import run_blocking
from .errors import ConfigError
from .parts import LoopSettings, Parts
from .ranking import ChainRanker
from .result import SearchResult, Turn
from .seams import Answerer, Connected, Observer, QueryPlanner, Ranker, Verifier
from .search import Search
from .trace import FileTrace, NoTrace, TraceSink

_LOG = logging.getLogger(__name__)
_BUDGET = TypeAdapter(Budget)
_CHANNEL = 16  # turns that may wait for a slow consumer before the search waits too


class SearchAgent:
    """Searches until the evidence suffices, then answers, or abstains and says what is missing.

    An agent holds parts and no state of any search: one agent serves many searches at once.

    Args:
        tiers: Where to search, in order; names must differ. May be empty if every search brings its own.
        scorer: Says whether the evidence suffices.
        policy: Turns scores into decisions.
        planner: Says what to ask next.
        answerer: Answers from the evidence; None for searches that only collect evidence.
        observers: For policies that require more than the score.
        verifier: Looks at an answer before it is returned.
        ranker: Orders the evidence for the answerer and the result; None = `ChainRanker()`.
        budget: The default budget of a search.
        settings: How the loop behaves.
        connections: Closed by `aclose`, or at the end of `async with agent:`; `run_sync` closes them itself.

    Raises:
        ConfigError: two tiers share a name.
        MissingObserverError: the policy requires an observer that is not given.
    """

    def __init__(
        self,
        *,
        tiers: Sequence[Tier] = (),
        scorer: SufficiencyScorer,
        policy: StopPolicy,
        planner: QueryPlanner,
        answerer: Answerer | None = None,
        observers: Iterable[Observer] = (),
        verifier: Verifier | None = None,
        ranker: Ranker | None = None,
        budget: Budget | None = None,
        settings: LoopSettings | None = None,
        connections: Iterable[Connected] = (),
    ) -> None:
        self._connections = tuple(connections)
        self._tiers = _distinct(tiers)
        self._budget = budget or Budget()
        self._parts = Parts(
            scorer=scorer,
            policy=policy,
            planner=planner,
            answerer=answerer,
            observers={observer.name: observer for observer in observers},
            verifier=verifier,
            ranker=ranker or ChainRanker(),
            settings=settings or LoopSettings(),
        )

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Where it searches, in order."""
        return self._tiers

    @property
    def parts(self) -> Parts:
        """What all its searches share."""
        return self._parts

    async def run(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        trace: Path | None = None,
    ) -> SearchResult:
        """Search and return the outcome.

        Args:
            question: What to find evidence for.
            evidence: Passages to begin with; they are scored before any call.
            tiers: Search these instead of the agent's own.
            budget: Instead of the agent's own.
            trace: A file to record the search in, or a folder for one.

        Raises:
            ConfigError: the question is empty, or two tiers share a name.
            TraceError: the trace cannot be made; what fails later on is an event of the result.
            asyncio.CancelledError: the caller was cancelled; the trace holds the finished turns.
        """
        async with self.stream(question, evidence=evidence, tiers=tiers, budget=budget, trace=trace) as turns:
            return await turns.result()

    def run_sync(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        trace: Path | None = None,
    ) -> SearchResult:
        """`run` for scripts and notebooks: works whether or not an event loop is running in this thread."""

        async def alone() -> SearchResult:
            async with self:
                return await self.run(question, evidence=evidence, tiers=tiers, budget=budget, trace=trace)

        return run_blocking(alone())

    async def aclose(self) -> None:
        """Close the connections that searches of this event loop have opened. The agent stays usable."""
        for connection in self._connections:
            await connection.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def stream(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        trace: Path | None = None,
    ) -> TurnStream:
        """The turns of a search as they complete. Arguments and errors as for `run`.

        >>> async with agent.stream(question) as turns:  # doctest: +SKIP
        ...     async for turn in turns:
        ...         print(turn.number, turn.decision)
        ...     result = await turns.result()

        Leaving the block early cancels the search. A consumer that is slow slows the search down, its wall-clock
        budget included.
        """
        if not question.strip():
            raise ConfigError("The question is empty. Ask one, e.g. agent.run('Who wrote Emma?').")
        return TurnStream(
            parts=self._parts,
            question=question,
            evidence=tuple(evidence),
            tiers=self._tiers if tiers is None else _distinct(tiers),
            budget=budget or self._budget,
            trace=trace,
        )


class TurnStream:
    """A running search: iterate over its turns, then ask for its result. Made by `SearchAgent.stream`."""

    def __init__(
        self,
        *,
        parts: Parts,
        question: str,
        evidence: tuple[Passage, ...],
        tiers: tuple[Tier, ...],
        budget: Budget,
        trace: Path | None,
    ) -> None:
        self._parts = parts
        self._question = question
        self._evidence = evidence
        self._tiers = tiers
        self._budget = budget
        self._trace = trace
        self._task: asyncio.Task[SearchResult] | None = None
        self._receive: MemoryObjectReceiveStream[Turn] | None = None

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise RuntimeError("A stream is one search and can be entered once; call agent.stream() again.")
        sink = await self._sink()
        send, self._receive = anyio.create_memory_object_stream[Turn](_CHANNEL)
        self._task = asyncio.create_task(self._search(sink, send), name=f"sufficit: {self._question[:40]}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        task = self._running
        if self._receive is not None:
            self._receive.close()
        if not task.done():
            task.cancel()
            _, pending = await asyncio.wait({task}, timeout=self._parts.settings.grace_seconds)
            if pending:
                _LOG.warning("A part of the search does not react to cancellation: %s", task.get_name())
        if task.done() and not task.cancelled() and task.exception() and error is None:
            raise task.exception() from None  # type: ignore[misc]  # a fault of the search is never silent

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Turn:
        if self._receive is None:
            raise RuntimeError("Enter the stream first: async with agent.stream(question) as turns: ...")
        try:
            return await self._receive.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def result(self) -> SearchResult:
        """Wait for the end of the search and return its outcome; turns that were not taken are skipped.

        Raises:
            Whatever ended the search, if it did not end by a decision.
        """
        async for _ in self:
            pass
        return await self._running

    @property
    def _running(self) -> asyncio.Task[SearchResult]:
        if self._task is None:
            raise RuntimeError("Enter the stream first: async with agent.stream(question) as turns: ...")
        return self._task

    async def _sink(self) -> TraceSink:
        if self._trace is None:
            return NoTrace()
        return await asyncio.to_thread(FileTrace, self._trace, self._header(), now=self._parts.now())

    def _header(self) -> Mapping[str, Any]:
        return {
            "question": self._question,
            "policy": self._parts.policy.name,
            "scorer": self._parts.scorer.fingerprint,
            "tiers": [
                {"name": t.name, "k": t.k, "price": t.price, "timeout_seconds": t.timeout_seconds}
                for t in self._tiers
            ],
            "budget": _BUDGET.dump_python(self._budget, mode="json"),
            "given": list(dict.fromkeys(passage.id for passage in self._evidence)),
        }

    async def _search(self, sink: TraceSink, send: MemoryObjectSendStream[Turn]) -> SearchResult:
        async with send:
            search = Search(
                self._parts,
                self._question,
                given=self._evidence,
                tiers=self._tiers,
                budget=self._budget,
                trace=sink,
                emit=send.send,
            )
            return await search.run()


def _distinct(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    names = [tier.name for tier in tiers]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(
            f"Tiers need names of their own; more than one is called {', '.join(map(repr, repeated))}."
        )
    return tuple(tiers)
