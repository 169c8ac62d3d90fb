"""Pages through the cache: reuse, revalidate or fetch, once for everybody who asks at the same time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

from ..compute import in_worker
from ..errors import CacheError, TierUnavailableError
from ..text import plain_name
from ..web.outcome import Fetched
from ..web.pages import PageResult
from ..web.urls import fetch_key
from .flights import Flights
from .freshness import Verdict, decide
from .negative import LIVES, is_failure
from .records import Refusal, StoredPage, host_of
from .renewal import Fetches, Known, Renewal, noted, served
from .rules import Rules
from .store import PageStore


class CachedPages:
    """A `retrieval.web.pages.PageSource` over a fetcher and a store, for one event loop.

    Freshness decides (`retrieval.cache.freshness`): a fresh page is served from the store; a stale one is
    validated, or served while that happens or because the origin fails, where the origin or the rules allow it;
    anything else is fetched. Tasks that ask for one URL at once share one fetch. A URL that gave no page is left
    alone for a while (`retrieval.cache.negative`). What must not be stored serves the caller and is not written.

    An async context manager, or call `aclose`.

    Args:
        fetcher: Asks the origin; stays open.
        store: Where pages are kept; stays open.
        rules: The operator's, for freshness.
        lives: Seconds for which an outcome is remembered, by its name; others are not.
        clock: Seconds since the epoch; the same as the fetcher's.
        request_headers: What the fetcher sends now, for Vary; None = the same as ever.
    """

    def __init__(
        self,
        fetcher: Fetches,
        store: PageStore,
        *,
        rules: Rules | None = None,
        lives: Mapping[str, float] = LIVES,
        clock: Callable[[], float] = time.time,
        request_headers: Mapping[str, str] | None = None,
    ) -> None:
        self._store, self._rules, self._clock = store, rules or Rules(), clock
        self._request_headers = request_headers
        self._renewal = Renewal(fetcher, store, lives=lives, clock=clock)
        self._flights: Flights[tuple[str | None, str], PageResult] = Flights()

    async def page(
        self, url: str, *, deadline: float | None, max_age: float | None, tenant: str | None
    ) -> PageResult:
        """See `retrieval.web.pages.PageSource`.

        A caller whose deadline passes gets what may be served stale, or `timeout`; the others wait on. Content
        that the origin itself gives as older than `max_age` comes marked as stale.

        Raises:
            TierUnavailableError: the store cannot be read, or this was closed meanwhile.
        """
        try:
            known = await in_worker(self._known, tenant, url)
            verdict = self._judged(known.stored, max_age)
            result = await self._from_store(known, verdict, max_age)
            if result is None:
                result = await self._from_origin(known, verdict, deadline)
        except CacheError as error:
            raise TierUnavailableError(f"The cache cannot be used: {error}") from error
        if max_age is not None and result.age is not None and result.age > max_age:
            return replace(result, stale=True)
        return result

    async def aclose(self) -> None:
        """Cancel the fetches in progress and wait for their end."""
        await self._flights.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _known(self, tenant: str | None, url: str) -> Known:
        key = plain_name(fetch_key(url))
        return Known(
            tenant=tenant,
            url=url,
            key=key,
            stored=self._store.page(tenant, key),
            note=self._store.refusal(tenant, key),
        )

    def _judged(self, stored: StoredPage | None, max_age: float | None) -> Verdict | None:
        if stored is None:
            return None
        return decide(
            stored.exchange,
            now=self._clock(),
            rules=self._rules,
            host=host_of(stored.key),
            content_type=stored.content_type,
            max_age=max_age,
            request_headers=self._request_headers,
        )

    async def _from_store(self, known: Known, verdict: Verdict | None, max_age: float | None) -> PageResult | None:
        """The answer that needs nothing of the origin now, if there is one."""
        note = known.note if known.note and _holds(known.note, self._clock(), max_age) else None
        if verdict is not None and verdict.use != "validate":
            if verdict.use == "serve_and_validate" and note is None:
                self._flights.begin((known.tenant, known.key), lambda: self._renew(known, verdict))
            return await self._hit(known, verdict)
        if note is None:
            return None
        if verdict is not None and verdict.on_error and is_failure(note.outcome, note.status):
            return await self._hit(known, verdict)
        return noted(known.url, note, self._clock())

    async def _from_origin(self, known: Known, verdict: Verdict | None, deadline: float | None) -> PageResult:
        """What a shared flight brings, or the stored page where it may stand in for an origin that fails."""
        limit = asyncio.timeout(None if deadline is None else deadline - time.monotonic())
        leads = False
        try:
            async with limit:
                flight = (known.tenant, known.key)
                result, leads = await self._flights.join(flight, lambda: self._renew(known, verdict))
        except TimeoutError:
            if not limit.expired():
                raise
            result = self._late(known)
        spent = result.origin_fetches if leads else 0
        failed = result.fetched is not None and is_failure(result.outcome, result.fetched.status)
        if failed and verdict is not None and verdict.on_error:
            return replace(await self._hit(known, verdict), fetched=result.fetched, origin_fetches=spent)
        return replace(result, origin_fetches=spent)

    async def _renew(self, known: Known, verdict: Verdict | None) -> PageResult:
        return await self._renewal.renew(known, conditional=verdict is not None and verdict.reason != "vary")

    async def _hit(self, known: Known, verdict: Verdict) -> PageResult:
        """The stored page, counted."""
        assert known.stored is not None  # noqa: S101  a verdict is about a stored page
        await in_worker(self._store.hit, known.tenant, known.key, self._clock())
        return served(known.stored, age=verdict.age, stale=verdict.stale)

    def _late(self, known: Known) -> PageResult:
        now = self._clock()
        detail = "The deadline of the request passed before the page came."
        fetched = Fetched(
            url=known.url, key=known.key, outcome="timeout", detail=detail, requested_at=now, received_at=now
        )
        return PageResult(
            page=None,
            fetched=fetched,
            outcome="timeout",
            age=None,
            stale=False,
            origin_fetches=0,
            from_cache=False,
        )


def _holds(note: Refusal, now: float, max_age: float | None) -> bool:
    """Whether a note spares the origin. A demand for younger news overrides it, but no plea for fewer requests."""
    young = max_age is None or note.age(now) <= max_age
    return note.holds(now) and (young or note.outcome == "rate_limited")
