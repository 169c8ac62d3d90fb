"""Visit the pages behind links: side by side, within a budget of fetches and a deadline, each once in a search."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from ..compute import in_worker
from ..errors import RetrievalError, TierError, TierUnavailableError
from ..passage import Passage
from ..retriever import Event
from .chunks import page_passages
from .outcome import Kind
from .pages import PageResult, PageSource
from .providers.seam import FoundLink
from .urls import fetch_key
from .visits import Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What to visit, and within which limits."""

    links: Sequence[FoundLink]
    """Best first."""
    pages: int
    """Enough once so many have content that this search did not visit before; at least 1."""
    fetches: int | None
    """The most requests to origins; None = unlimited."""
    until: float | None
    """Moment on `time.monotonic()`."""
    max_age: float | None
    """In seconds; None = any age."""
    tenant: str | None
    max_words: int
    """Of a passage."""
    tier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What came of an errand; the passages stand in the visits."""

    events: tuple[Event, ...]
    """`fetch_<outcome>` for each page that was visited without success, and what was left out."""
    fetches: int
    """Requests to origins."""
    read: int
    """Pages with content, those of earlier visits included."""
    failed: int
    """Pages without."""


async def gather_pages(source: PageSource, errand: Errand, visits: dict[str, Visit]) -> Gathered:
    """Visit pages until enough new ones have content or a limit is reached; `visits` takes what was found.

    What is not done by the deadline is called off and recorded as `fetch_timeout`. Cancelling this calls off all.

    Raises:
        TierError: the source cannot work at all.
    """
    gathering = _Gathering(source, errand, visits)
    try:
        await gathering.run()
    finally:
        await gathering.call_off()
    return gathering.result()


_Task = asyncio.Task[tuple[PageResult, tuple[Passage, ...]]]


class _Gathering:
    """One errand on its way."""

    def __init__(self, source: PageSource, errand: Errand, visits: dict[str, Visit]) -> None:
        self._source, self._errand, self._visits = source, errand, visits
        self._waiting = deque({fetch_key(link.url): link.url for link in errand.links}.items())
        self._running: dict[_Task, tuple[str, Visit]] = {}
        self._elsewhere: list[tuple[str, Visit]] = []
        self._events: list[Event] = []
        self._fetches = self._read = self._recalled = self._failed = 0

    async def run(self) -> None:
        """Visit until there is nothing to start and nothing runs, or the time is over."""
        await self._visit_waiting()
        while self._elsewhere:
            url, visit = self._elsewhere.pop()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(visit.done.wait(), self._seconds_left())
            if visit.done.is_set() and visit.outcome is None:  # whoever fetched it was cancelled
                self._waiting.append((fetch_key(url), url))
                await self._visit_waiting()
            else:
                self._recall(url, visit)
        for url, visit in self._running.values():
            self._settle(visit, url, "timeout", "not done before the deadline of the request.")

    async def _visit_waiting(self) -> None:
        while self._start():
            done, _ = await asyncio.wait(
                self._running, timeout=self._seconds_left(), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                break
            for task in done:
                self._take(task)

    async def call_off(self) -> None:
        """End what still runs, and wait for its end. What was not settled may be asked for by others."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        for url, visit in self._running.values():
            if visit.outcome is None:
                self._visits.pop(fetch_key(url), None)
                visit.done.set()
        self._running.clear()

    def result(self) -> Gathered:
        """What came of it."""
        read = self._read + self._recalled
        return Gathered(events=tuple(self._events), fetches=self._fetches, read=read, failed=self._failed)

    def _start(self) -> bool:
        """Start what may be started; whether anything runs. Each running visit holds one fetch of the budget."""
        errand = self._errand
        while self._waiting and self._read + len(self._running) < errand.pages:
            key, url = self._waiting[0]
            known = self._visits.get(key)
            if known is None and self._is_spent():
                break
            self._waiting.popleft()
            if known is not None and known.done.is_set():
                self._recall(url, known)
            elif known is not None:
                self._elsewhere.append((url, known))
            else:
                visit = self._visits[key] = Visit()
                self._running[asyncio.create_task(self._visit(url))] = (url, visit)
        if self._waiting and not self._running and self._is_spent():
            self._note("fetch_budget", f"No fetch is left in the budget: {len(self._waiting)} links not visited.")
        return bool(self._running)

    def _is_spent(self) -> bool:
        allowed = self._errand.fetches
        return allowed is not None and self._fetches + len(self._running) >= allowed

    async def _visit(self, url: str) -> tuple[PageResult, tuple[Passage, ...]]:
        errand = self._errand
        result = await self._source.page(url, deadline=errand.until, max_age=errand.max_age, tenant=errand.tenant)
        if result.page is None or result.outcome != "ok":
            return result, ()
        return result, await in_worker(page_passages, result.page, max_words=errand.max_words)

    def _take(self, task: _Task) -> None:
        url, visit = self._running.pop(task)
        error = task.exception()
        if error is None:
            result, visit.passages = task.result()
            visit.age, visit.stale = result.age, result.stale
            self._fetches += result.origin_fetches
            outcome = result.outcome if visit.passages or result.outcome != "ok" else "low_content"
            self._settle(visit, url, outcome, _reason(result))
        else:
            self._settle(visit, url, "error", f"{type(error).__name__}: {error}")
            if isinstance(error, TierError) or not isinstance(error, Exception):
                raise error
            if isinstance(error, RetrievalError):
                raise TierUnavailableError(f"{self._errand.tier}: pages cannot be had: {error}") from error

    def _settle(self, visit: Visit, url: str, outcome: Kind, reason: str) -> None:
        visit.outcome, visit.at = outcome, time.monotonic()
        visit.done.set()
        if outcome == "ok":
            self._read += 1
            return
        self._failed += 1
        self._note(f"fetch_{outcome}", f"{url}: {reason}")

    def _recall(self, url: str, visit: Visit) -> None:
        """Count a page that this search visited before."""
        if visit.outcome == "ok":
            self._recalled += 1
            return
        self._failed += 1
        if visit.outcome is None:
            self._note("fetch_timeout", f"{url}: still on its way for another query at the deadline.")
        else:
            self._note("fetch_skipped", f"{url}: not asked for again in this search, it was {visit.outcome}.")

    def _note(self, kind: str, detail: str) -> None:
        self._events.append(Event(kind=kind, detail=detail, where=self._errand.tier))

    def _seconds_left(self) -> float | None:
        until = self._errand.until
        return None if until is None else max(until - time.monotonic(), 0.0)


def _reason(result: PageResult) -> str:
    details = [part.detail for part in (result.page, result.fetched) if part is not None and part.detail]
    return details[0] if details else "no passage was found in it."
