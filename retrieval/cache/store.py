"""Pages on disk: one file for all tenants and processes, every access one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast

from ..index.sqlite import in_parts
from ..text import query_key
from . import admission
from .database import Database
from .freshness import Exchange
from .records import Place, Refusal, StoredPage, Tally, site_of, tenant_name, tenant_of
from .rows import exchange_values, insert_page, read_page, read_places, size_of

if TYPE_CHECKING:
    from ..web.outcome import Kind

MAX_BYTES = 1_000_000_000
"""Default of a tenant's cap: a gigabyte of text."""
BUSY_SECONDS = 30.0
NOTHING = Tally()


class PageStore:
    """The pages of a cache folder, their passages, freshness and counters; tenants never see each other's.

    Blocking; threads may share it and several processes may open one folder. What a method has returned from is
    durable, and a process that dies leaves whole transactions: a page with its passages and counters, or nothing.
    All methods raise:

        CacheBusyError: another process kept the file locked for longer than `busy_seconds`.
        CacheCorruptError: the file is damaged.
        CacheError: it cannot be used.

    Args:
        folder: The cache folder; made where needed.
        max_bytes: Cap of each tenant's text in bytes (`retrieval.cache.admission`).
        busy_seconds: How long to wait for another writer.
    """

    def __init__(
        self, folder: Path | str, *, max_bytes: int = MAX_BYTES, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        if max_bytes < 0:
            raise ValueError(f"max_bytes is {max_bytes}; expected bytes, at least 0 (which stores nothing).")
        self.folder, self._max_bytes = Path(folder), max_bytes
        self.database = Database(self.folder, busy_seconds=busy_seconds)

    def page(self, tenant: str | None, key: str) -> StoredPage | None:
        """The page that is stored under a key, fresh or not."""
        with self.database.reading() as connection:
            return read_page(connection, tenant_name(tenant), key)

    def refusal(self, tenant: str | None, key: str) -> Refusal | None:
        """The note that a key gave no page, whether it still counts or not."""
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT outcome, detail, status, stored_at, life FROM refusals WHERE tenant = ? AND key = ?",
                (tenant_name(tenant), key),
            ).fetchone()
        if row is None:
            return None
        outcome, detail, status, stored_at, life = row
        kind = cast("Kind", outcome)
        return Refusal(key=key, outcome=kind, detail=detail, status=status, stored_at=stored_at, life=life)

    def put(self, stored: StoredPage, tally: Tally = NOTHING) -> list[str]:
        """Store a page in place of what its key held, count it, and make room for it.

        Returns:
            Keys that were evicted for it, in that order; its own among them if it was worth the least.
        """
        tenant, now = tenant_name(stored.tenant), stored.exchange.received_at
        with self.database.writing() as connection:
            _count(connection, tenant, stored.key, tally)
            first = connection.execute(
                "SELECT first_fetched FROM pages WHERE tenant = ? AND key = ?", (tenant, stored.key)
            ).fetchone()
            _forget(connection, tenant, stored.key)
            insert_page(connection, stored, first_fetched=first[0] if first else now, size=size_of(stored))
            admission.ask(connection, tenant, stored.key, now)
            admission.forget_ghosts(connection, tenant)
            admission.rank(connection, tenant, stored.key)
            return admission.make_room(connection, tenant, self._max_bytes)

    def freshen(self, stored: StoredPage, exchange: Exchange, tally: Tally = NOTHING) -> bool:
        """Note that the origin vouched for a page again; False if the store no longer has this state of it."""
        tenant = tenant_name(stored.tenant)
        with self.database.writing() as connection:
            _count(connection, tenant, stored.key, tally)
            connection.execute("DELETE FROM refusals WHERE tenant = ? AND key = ?", (tenant, stored.key))
            done = connection.execute(
                "UPDATE pages SET status = ?, headers = ?, request_headers = ?, requested_at = ?, received_at = ? "
                "WHERE tenant = ? AND key = ? AND content = ?",
                (*exchange_values(exchange), tenant, stored.key, stored.content),
            )
            admission.ask(connection, tenant, stored.key, exchange.received_at)
            admission.rank(connection, tenant, stored.key)
            return done.rowcount == 1

    def refuse(
        self,
        tenant: str | None,
        key: str,
        refusal: Refusal | None,
        tally: Tally = NOTHING,
        *,
        forget: bool,
    ) -> None:
        """Count an access that gave no page to store, and note it where `refusal` is given.

        Args:
            tenant: Whose.
            key: Of the URL.
            refusal: What to note; None leaves the URL free to be asked again.
            tally: What to count.
            forget: Whether a page that is stored under the key has to go.
        """
        name = tenant_name(tenant)
        with self.database.writing() as connection:
            _count(connection, name, key, tally)
            if forget:
                _forget(connection, name, key)
            if refusal is not None:
                connection.execute(
                    "REPLACE INTO refusals VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        name,
                        key,
                        site_of(key),
                        refusal.outcome,
                        refusal.detail[:1000],
                        refusal.status,
                        refusal.stored_at,
                        refusal.life,
                    ),
                )

    def hit(self, tenant: str | None, key: str, now: float) -> None:
        """Count that a stored page served."""
        name = tenant_name(tenant)
        with self.database.writing() as connection:
            _served(connection, name, key, now)

    def credit(self, tenant: str | None, question: str, contributions: Mapping[str, float], now: float) -> None:
        """Note which passages a question's evidence needed, and by how much.

        The pages that hold them are in demand once more, and worth more to keep.

        Args:
            tenant: Whose.
            question: The user's question. Only a hash of it is kept.
            contributions: By passage id, what the score loses without it; ids that are unknown are ignored.
            now: Seconds since the epoch.
        """
        name = tenant_name(tenant)
        digest = hashlib.blake2b(query_key(question).encode("utf-8", "replace"), digest_size=16).digest()
        with self.database.writing() as connection:
            worth: dict[str, float] = {}
            for place in _places(connection, name, sorted(contributions)):
                found = admission.usable(contributions[place.passage.id])
                worth[place.key] = worth.get(place.key, 0.0) + found
            for key, contribution in worth.items():
                admission.note_contribution(
                    connection, name, key, question=digest, contribution=contribution, now=now
                )
                _served(connection, name, key, now)

    def places(self, tenant: str | None, ids: Sequence[str]) -> dict[str, list[Place]]:
        """Where passages stand in the tenant's pages, by id; what no page holds any more is not in the answer."""
        found: dict[str, list[Place]] = {}
        with self.database.reading() as connection:
            for place in _places(connection, tenant_name(tenant), ids):
                found.setdefault(place.passage.id, []).append(place)
        return found

    def tenants(self) -> list[str | None]:
        """All tenants that ever stored a page."""
        with self.database.reading() as connection:
            rows = connection.execute("SELECT tenant FROM tenants ORDER BY tenant").fetchall()
        return [tenant_of(name) for (name,) in rows]

    def release(self) -> None:
        """Let the file go until the next call opens it again; who is at it does so when it is done."""
        self.database.release()

    def close(self) -> None:
        """Let the file go for good. May be called twice."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _places(connection: Connection, tenant: str, ids: Sequence[str]) -> Iterator[Place]:
    for some in in_parts(ids):
        yield from read_places(connection, tenant, some)


def _forget(connection: Connection, tenant: str, key: str) -> None:
    for table in ("pages", "refusals"):
        connection.execute(
            f"DELETE FROM {table} WHERE tenant = ? AND key = ?",  # noqa: S608 - a table's name
            (tenant, key),
        )


def _served(connection: Connection, tenant: str, key: str, now: float) -> None:
    _count(connection, tenant, key, Tally(hits=1))
    admission.ask(connection, tenant, key, now)
    admission.rank(connection, tenant, key)


def _count(connection: Connection, tenant: str, key: str, tally: Tally) -> None:
    site = site_of(key)
    if not site or tally == NOTHING:  # nobody was asked
        return
    connection.execute(
        "INSERT INTO sites VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        "requests = requests + excluded.requests, bytes = bytes + excluded.bytes, "
        "revalidations = revalidations + excluded.revalidations, refusals = refusals + excluded.refusals, "
        "failures = failures + excluded.failures, hits = hits + excluded.hits",
        (
            tenant,
            site,
            tally.requests,
            tally.bytes,
            tally.revalidations,
            tally.refusals,
            tally.failures,
            tally.hits,
        ),
    )
