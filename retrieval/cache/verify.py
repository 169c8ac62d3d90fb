"""Whether a cache is whole: the file, what its tables say of each other, and the index against the store."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from ..errors import CacheCorruptError, IndexFolderError, IndexNotFoundError
from ..index.manifest import read_manifest
from ..index.view import Data
from .records import tenant_name, tenant_of
from .rooms import room_of
from .rows import read_page
from .store import PageStore

_TRIES = 5
"""While others write, store and index are compared again until nothing was stored in between."""
_BLOCK = 1_000

Pairs = set[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that is wrong."""

    where: str
    """`file`, `counters`, a page's key, or `index`."""
    detail: str
    """What was found, what was expected, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What `verify` looked at, and what it found."""

    pages: int
    passages: int
    pending: int
    """Pages that the index has still to take over; that is no fault."""
    faults: tuple[Fault, ...]


def verify(store: PageStore) -> Verification:
    """Look at everything. Blocking; reads the whole cache, needs no encoder, changes nothing.

    Raises:
        CacheBusyError, CacheCorruptError, CacheError: the file cannot be read at all.
    """
    with store.database.reading() as connection:
        faults = [*_file(connection), *_counters(connection), *_pages(connection)]
        (pages,) = connection.execute("SELECT COUNT(*) FROM pages").fetchone()
        (passages,) = connection.execute("SELECT COUNT(*) FROM passages").fetchone()
        tenants = [name for (name,) in connection.execute("SELECT tenant FROM tenants ORDER BY tenant")]
    waiting = 0
    for name in tenants:
        found, left = _index(store, tenant_of(name))
        faults += found
        waiting += left
    return Verification(pages=pages, passages=passages, pending=waiting, faults=tuple(faults))


def _file(connection: Connection) -> Iterator[Fault]:
    for (line,) in connection.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield Fault(where="file", detail=f"{line}. Remove the cache's folder; it fills again.")
    for row in connection.execute("PRAGMA foreign_key_check"):
        yield Fault(where="file", detail=f"A row of {row[0]} belongs to no page. Purge the cache.")


def _counters(connection: Connection) -> Iterator[Fault]:
    rows = connection.execute(
        "SELECT tenant, bytes, (SELECT COALESCE(SUM(bytes), 0) FROM pages WHERE tenant = t.tenant) "
        "FROM tenants AS t"
    )
    for tenant, counted, stored in rows:
        if counted != stored:
            detail = f"{tenant_of(tenant) or 'The nameless tenant'} has {stored} bytes, {counted} were counted."
            yield Fault(where="counters", detail=f"{detail} Purge the tenant.")


def _pages(connection: Connection) -> Iterator[Fault]:
    for tenant, key in connection.execute("SELECT tenant, key FROM pages ORDER BY tenant, key"):
        try:
            read_page(connection, tenant, key)
        except CacheCorruptError as error:
            yield Fault(where=key, detail=str(error))


def _index(store: PageStore, tenant: str | None) -> tuple[list[Fault], int]:
    """Compare a tenant's index with its pages, but for those that the journal names."""
    waiting: set[str] = set()
    for _ in range(_TRIES):
        with store.database.reading() as connection:
            began, waiting = _latest(connection), _waiting(connection, tenant)
        try:
            indexed = _indexed(room_of(store.folder, tenant))
        except IndexNotFoundError:
            return [], _number_of_pages(store, tenant)  # nobody has searched yet
        except IndexFolderError as error:
            return [Fault(where="index", detail=f"{error} Or remove this folder; it fills again.")], len(waiting)
        with store.database.reading() as connection:
            if _latest(connection) == began:
                stored = _stored(connection, tenant)
                return list(_differences(stored, indexed, waiting)), len(waiting)
    return [], len(waiting)


def _differences(stored: Pairs, indexed: Pairs, waiting: set[str]) -> Iterator[Fault]:
    for pairs, what in ((stored - indexed, "The index lacks"), (indexed - stored, "The index still has")):
        wrong = sorted(pair for pair in pairs if pair[0] not in waiting)
        if wrong:
            key, passage = wrong[0]
            yield Fault(
                where="index",
                detail=f"{what} {len(wrong)} passages, the first is {passage[:12]} of {key}. Remove the folder "
                "rooms of the cache; it fills again.",
            )


def _latest(connection: Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
    return int(row[0]) if row else 0


def _waiting(connection: Connection, tenant: str | None) -> set[str]:
    rows = connection.execute("SELECT DISTINCT key FROM journal WHERE tenant = ?", (tenant_name(tenant),))
    return {key for (key,) in rows}


def _stored(connection: Connection, tenant: str | None) -> Pairs:
    rows = connection.execute(
        "SELECT p.key, l.id FROM passages AS l JOIN pages AS p ON p.number = l.page WHERE p.tenant = ?",
        (tenant_name(tenant),),
    )
    return {(key, passage) for key, passage in rows}


def _number_of_pages(store: PageStore, tenant: str | None) -> int:
    with store.database.reading() as connection:
        row = connection.execute("SELECT COUNT(*) FROM pages WHERE tenant = ?", (tenant_name(tenant),)).fetchone()
    return int(row[0])


def _indexed(room: Path) -> Pairs:
    """`(key, passage id)` of everything that an index holds. Needs no encoder."""
    found: Pairs = set()
    with contextlib.closing(Data(room / read_manifest(room).data)) as data, data.view() as view:
        row = 0
        while block := view.after(row, _BLOCK):
            found |= {(place.source_id, one.id) for one in block.values() for place in one.provenance}
            row = max(block)
    return found
