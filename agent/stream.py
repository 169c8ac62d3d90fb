"""`TurnStream`: a search that runs in a task of its own, turn by turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from pydantic import TypeAdapter

from policies import Budget

from .inquiry import Inquiry
from .parts import Parts
from .result import SearchResult, Turn
from .search import Search
from .trace import FileTrace, NoTrace, TraceSink

_LOG = logging.getLogger(__name__)
_BUDGET = TypeAdapter(Budget)
_CHANNEL = 16  # turns that may wait for a slow consumer before the search waits too


class TurnStream:
    """A running search: iterate over its turns, then ask for its result. Made by `SearchAgent.stream`."""

    def __init__(
        self,
        parts: Parts,
        inquiry: Inquiry,
        trace: Path | None,
    ) -> None:
        self._parts = parts
        self._inquiry = inquiry
        self._trace = trace
        self._task: asyncio.Task[SearchResult] | None = None
        self._receive: MemoryObjectReceiveStream[Turn] | None = None

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise RuntimeError("A stream is one search and can be entered once; call agent.stream() again.")
        sink = await self._sink()
        send, self._receive = anyio.create_memory_object_stream[Turn](_CHANNEL)
        self._task = asyncio.create_task(self._search(sink, send), name=f"sufficit: {self._inquiry.question[:40]}")
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
        asked = self._inquiry
        return {
            "question": asked.question,
            "policy": self._parts.policy.name,
            "scorer": self._parts.scorer.fingerprint,
            "tiers": [
                {"name": t.name, "k": t.k, "price": t.price, "timeout_seconds": t.timeout_seconds}
                for t in asked.tiers
            ],
            "budget": _BUDGET.dump_python(asked.budget, mode="json"),
            "max_age": asked.max_age,
            "tenant": asked.tenant,
            "search": self._identity(),
            "given": list(dict.fromkeys(passage.id for passage in asked.given)),
        }

    def _identity(self) -> Mapping[str, Any] | None:
        """That of the agent's searches, with the tiers and the budget of this one; None where it is not known."""
        if not self._parts.identity:
            return None
        budget = self._inquiry.budget
        return {
            **self._parts.identity,
            "tiers": [{"name": tier.name, "k": tier.k} for tier in self._inquiry.tiers],
            "budget": {"max_turns": budget.max_turns, "max_calls": budget.max_calls},
        }

    async def _search(self, sink: TraceSink, send: MemoryObjectSendStream[Turn]) -> SearchResult:
        async with send:
            return await Search(self._parts, self._inquiry, trace=sink, emit=send.send).run()
