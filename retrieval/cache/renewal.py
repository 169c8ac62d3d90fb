"""One trip to the origin on behalf of the cache: ask, read, store, and say what it gave."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ..compute import in_worker
from ..errors import CacheError
from ..web.outcome import Fetched
from ..web.pages import PageResult
from . import negative
from .freshness import Exchange, current_age, freshened, storable, validators
from .records import Refusal, StoredPage, site_of
from .store import PageStore

if TYPE_CHECKING:
    from ..web.extract import Page

FLIGHT_SECONDS = 60.0
"""The most that one trip may take, whoever waits for it."""
_log = logging.getLogger(__name__)


class Fetches(Protocol):
    """What the cache needs of `retrieval.web.fetch.Fetcher`."""

    async def fetch(
        self, url: str, *, validators: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> Fetched:
        """One page, or why there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the store says of one URL when somebody asks for it."""

    tenant: str | None
    url: str
    """As asked for."""
    key: str
    stored: StoredPage | None
    note: Refusal | None


class Renewal:
    """Brings pages from the origin into the store. See `retrieval.cache.cached.CachedPages`."""

    def __init__(
        self, fetcher: Fetches, store: PageStore, *, lives: Mapping[str, float], clock: Callable[[], float]
    ) -> None:
        self._fetcher, self._store, self._lives, self._clock = fetcher, store, lives, clock

    async def renew(self, known: Known, *, conditional: bool) -> PageResult:
        """The page as the origin has it now.

        Args:
            known: What the store said when it was decided to ask.
            conditional: Whether a 304 may vouch for what is stored.

        Raises:
            CacheError: the store cannot be read. One that cannot be written only loses what was fetched.
        """
        if (meanwhile := await in_worker(self._meanwhile, known)) is not None:
            return meanwhile
        asked = validators(known.stored.exchange) if known.stored and conditional else {}
        fetched = await self._fetch(known, asked)
        if fetched.outcome == "not_modified":
            confirmed = await self._confirmed(known, fetched)
            if confirmed is not None:
                return confirmed
            fetched = _summed(fetched, await self._fetch(known, {}))  # it speaks of something that we do not have
        if fetched.outcome == "ok":
            return await self._read(known, fetched)
        return await self._failed(known, fetched)

    def _meanwhile(self, known: Known) -> PageResult | None:
        """What another flight or process has brought since it was decided to ask."""
        now = self._clock()
        stored = self._store.page(known.tenant, known.key)
        if stored is not None and (known.stored is None or stored.exchange != known.stored.exchange):
            return served(stored, age=current_age(stored.exchange, now))
        note = self._store.refusal(known.tenant, known.key)
        return noted(known.url, note, now) if note and note != known.note and note.holds(now) else None

    async def _fetch(self, known: Known, asked: Mapping[str, str]) -> Fetched:
        try:
            return await self._fetcher.fetch(
                known.url, validators=asked or None, deadline=time.monotonic() + FLIGHT_SECONDS
            )
        except Exception as error:  # noqa: BLE001 - one URL must not end the searches that wait for it (case C03)
            now = self._clock()
            detail = f"The fetcher failed: {error!r}."
            return Fetched(
                url=known.url, key=known.key, outcome="error", detail=detail, requested_at=now, received_at=now
            )

    async def _confirmed(self, known: Known, fetched: Fetched) -> PageResult | None:
        """The stored page, vouched for; None if the 304 is about another state of it."""
        stored = known.stored
        fresh = freshened(stored.exchange, exchange_of(fetched)) if stored else None
        if stored is None or fresh is None:
            return None
        tally = negative.tally(fetched, "not_modified")
        if storable(fresh):
            await self._written(known, lambda: self._store.freshen(stored, fresh, tally))
        else:
            await self._written(
                known, lambda: self._store.refuse(known.tenant, known.key, None, tally, forget=True)
            )
        age = current_age(fresh, self._clock())
        return replace(served(stored, age=age), fetched=fetched, origin_fetches=fetched.attempts)

    async def _read(self, known: Known, fetched: Fetched) -> PageResult:
        """What the body says; stored, unless the origin forbids it."""
        page, stored = await in_worker(_extracted, known, fetched)
        if stored is None:
            bare = replace(fetched, outcome=page.outcome, detail=page.detail, body=b"")
            return await self._failed(known, bare)
        tally = negative.tally(fetched, "ok")
        if storable(stored.exchange):
            await self._written(known, lambda: self._store.put(stored, tally))
        else:
            await self._written(
                known, lambda: self._store.refuse(known.tenant, known.key, None, tally, forget=True)
            )
        return PageResult(
            page=page,
            fetched=fetched,
            outcome="ok",
            age=current_age(stored.exchange, self._clock()),
            stale=False,
            origin_fetches=fetched.attempts,
            from_cache=False,
        )

    async def _failed(self, known: Known, fetched: Fetched) -> PageResult:
        note = negative.refusal(
            replace(fetched, key=known.key), fetched.outcome, now=self._clock(), lives=self._lives
        )
        tally = negative.tally(fetched, fetched.outcome)
        gone = negative.ends(fetched.outcome, fetched.status)
        await self._written(known, lambda: self._store.refuse(known.tenant, known.key, note, tally, forget=gone))
        return _without_page(fetched, spent=fetched.attempts)

    async def _written(self, known: Known, write: Callable[[], object]) -> None:
        try:
            await in_worker(write)
        except CacheError as error:
            _log.warning("cache_write_failed site=%s error=%s", site_of(known.key), error)


def exchange_of(fetched: Fetched) -> Exchange:
    """What freshness depends on in a fetch."""
    return Exchange(
        status=fetched.status or 0,
        headers=fetched.headers,
        request_headers=fetched.request_headers,
        requested_at=fetched.requested_at,
        received_at=fetched.received_at,
    )


def _summed(first: Fetched, again: Fetched) -> Fetched:
    """The second of two fetches of a page, at the cost of both; what makes no sense in it is an error."""
    both = replace(
        again,
        attempts=first.attempts + again.attempts,
        bytes_received=first.bytes_received + again.bytes_received,
    )
    if again.outcome != "not_modified":
        return both
    return replace(both, outcome="error", detail="The site answers 304 to a request without conditions.")


def served(stored: StoredPage, *, age: float, stale: bool = False) -> PageResult:
    """A page out of the store."""
    return PageResult(
        page=stored.page, fetched=None, outcome="ok", age=age, stale=stale, origin_fetches=0, from_cache=True
    )


def noted(url: str, note: Refusal, now: float) -> PageResult:
    """What the note about a URL says, without asking the origin."""
    fetched = Fetched(
        url=url,
        key=note.key,
        outcome=note.outcome,
        detail=f"{note.detail} Noted {note.age(now):.0f} s ago; asked again after {note.life:.0f} s.".strip(),
        status=note.status,
        requested_at=note.stored_at,
        received_at=note.stored_at,
    )
    return replace(_without_page(fetched, spent=0), from_cache=True)


def _without_page(fetched: Fetched, *, spent: int) -> PageResult:
    return PageResult(
        page=None,
        fetched=fetched,
        outcome=fetched.outcome,
        age=None,
        stale=False,
        origin_fetches=spent,
        from_cache=False,
    )


def _extracted(known: Known, fetched: Fetched) -> tuple[Page, StoredPage | None]:
    """The page and, if there is something to read, how it would be stored. Blocking."""
    from ..web.chunks import page_passages
    from ..web.extract import extract

    page = extract(fetched)
    if page.outcome != "ok":
        return page, None
    return page, StoredPage(
        tenant=known.tenant,
        key=known.key,
        final_url=fetched.final_url or fetched.url,
        page=page,
        passages=page_passages(page),
        exchange=exchange_of(fetched),
        content_type=fetched.content_type,
        content=hashlib.sha256(fetched.body).hexdigest(),
        seconds=fetched.seconds,
    )
