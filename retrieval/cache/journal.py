"""What the index still has to take over from the store, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..corpora.document import Document, Section
from .records import tenant_name
from .store import PageStore

WHOLE = 1_000_000
"""Words: the passages of a page are documents' sections in the index, and none of them is cut again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A part of a tenant's journal."""

    upto: int
    """The last entry that it covers."""
    keys: tuple[str, ...]
    """Whose pages were stored, replaced or removed; each once, oldest first."""


def pending(store: PageStore, tenant: str | None, *, limit: int) -> Pending | None:
    """The oldest entries of a tenant's journal, at most `limit`, or None if there are none."""
    with store.database.reading() as connection:
        rows = connection.execute(
            "SELECT seq, key FROM journal WHERE tenant = ? ORDER BY seq LIMIT ?", (tenant_name(tenant), limit)
        ).fetchall()
    return Pending(upto=rows[-1][0], keys=tuple(dict.fromkeys(key for _, key in rows))) if rows else None


def documents(store: PageStore, tenant: str | None, part: Pending) -> Iterator[tuple[str, Document | None]]:
    """What the index has to know of each key: its page as it is now, or None if there is none any more.

    What is read is as new as the journal's part or newer; what is newer has an entry of its own behind the part.
    """
    for key in part.keys:
        stored = store.page(tenant, key)
        if stored is None:
            yield key, None
            continue
        sections = tuple(Section(title=piece.section, text=piece.text) for piece in stored.passages)
        yield key, Document(id=key, title=stored.page.title, sections=sections, url=stored.page.url)


def settle(store: PageStore, tenant: str | None, part: Pending) -> None:
    """Forget a part of the journal: the index has it, durably."""
    with store.database.writing() as connection:
        connection.execute("DELETE FROM journal WHERE tenant = ? AND seq <= ?", (tenant_name(tenant), part.upto))


def start_again(store: PageStore, tenant: str | None) -> None:
    """Enter all pages of a tenant instead of what waits, for an index that begins empty."""
    with store.database.writing() as connection:
        connection.execute("DELETE FROM journal WHERE tenant = ?", (tenant_name(tenant),))
        connection.execute(
            "INSERT INTO journal (tenant, key) SELECT tenant, key FROM pages WHERE tenant = ?",
            (tenant_name(tenant),),
        )
