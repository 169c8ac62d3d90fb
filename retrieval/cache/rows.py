"""Between the rows of the database and what they mean; what comes back is checked, since files get damaged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from sqlite3 import Connection, Row
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from ..errors import CacheCorruptError
from ..passage import Passage
from ..text import encodable
from .freshness import Exchange
from .records import Place, StoredPage, site_of, tenant_name, tenant_of

if TYPE_CHECKING:
    from ..web.extract import Page

EXCHANGE = "p.status, p.headers, p.request_headers, p.requested_at, p.received_at"
PAGE = f"p.number, p.tenant, p.key, p.final_url, p.title, p.page, p.content_type, p.content, p.seconds, {EXCHANGE}"
PLACE = f"l.id, l.text, l.section, l.url AS place_url, p.title, p.key, p.content_type, {EXCHANGE}"


def insert_page(connection: Connection, stored: StoredPage, *, first_fetched: float, size: int) -> None:
    """Write a page with its passages; nothing of its key may be stored."""
    number = connection.execute(
        "INSERT INTO pages (tenant, key, site, final_url, title, page, content_type, content, status, headers, "
        "request_headers, requested_at, received_at, first_fetched, seconds, bytes, priority) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            tenant_name(stored.tenant),
            stored.key,
            site_of(stored.key),
            encodable(stored.final_url),
            encodable(stored.page.title),
            _json(asdict(stored.page)),
            encodable(stored.content_type),
            stored.content,
            *exchange_values(stored.exchange),
            first_fetched,
            stored.seconds,
            size,
        ),
    ).lastrowid
    connection.executemany(
        "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)",
        (
            (number, position, piece.id, piece.text, piece.section, piece.url)
            for position, piece in enumerate(storable_passages(stored))
        ),
    )


def storable_passages(stored: StoredPage) -> Iterable[Passage]:
    """The passages as the database takes them: no lone surrogates, none blank."""
    for piece in stored.passages:
        if piece.text.strip():
            yield Passage(
                text=encodable(piece.text),
                title=encodable(stored.page.title),
                section=encodable(piece.section),
                source_id=stored.key,
                url=None if piece.url is None else encodable(piece.url),
            )


def size_of(stored: StoredPage) -> int:
    """Bytes of text that a page takes, once as a page and once as passages."""
    texts = (stored.page.text, *(piece.text for piece in stored.passages))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def exchange_values(exchange: Exchange) -> tuple[object, ...]:
    """The columns of `EXCHANGE`."""
    return (
        exchange.status,
        _json(dict(exchange.headers)),
        _json(dict(exchange.request_headers)),
        exchange.requested_at,
        exchange.received_at,
    )


def read_page(connection: Connection, tenant: str, key: str) -> StoredPage | None:
    """The page of a key, or None.

    Raises:
        CacheCorruptError: a column holds what it cannot, or a passage is not the one of its id.
    """
    cursor = connection.cursor()
    cursor.row_factory = Row
    row = cursor.execute(
        f"SELECT {PAGE} FROM pages AS p WHERE p.tenant = ? AND p.key = ?",  # noqa: S608 - our own columns
        (tenant, key),
    ).fetchone()
    if row is None:
        return None
    pieces = cursor.execute(
        "SELECT id, text, section, url AS place_url FROM passages WHERE page = ? ORDER BY position",
        (row["number"],),
    ).fetchall()
    try:
        return StoredPage(
            tenant=tenant_of(row["tenant"]),
            key=row["key"],
            final_url=row["final_url"],
            page=_page_type().validate_python(json.loads(row["page"])),
            passages=tuple(_passage(piece, title=row["title"], key=row["key"]) for piece in pieces),
            exchange=_exchange(row),
            content_type=row["content_type"],
            content=row["content"],
            seconds=row["seconds"],
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise _damaged(row["key"], error) from error


def read_places(connection: Connection, tenant: str, ids: tuple[object, ...]) -> list[Place]:
    """Where the passages with these ids stand in a tenant's pages; at most a few hundred ids.

    SQLite keeps the order of a CROSS JOIN: from the ids to their pages. Left to itself it walks through all pages
    of the tenant, to spare itself the sorting of a few rows.
    """
    cursor = connection.cursor()
    cursor.row_factory = Row
    marks = ", ".join("?" * len(ids))
    rows = cursor.execute(
        f"SELECT {PLACE} FROM passages AS l CROSS JOIN pages AS p ON p.number = l.page "  # noqa: S608 - question marks
        f"WHERE l.id IN ({marks}) AND p.tenant = ? ORDER BY p.key, l.position",
        (*ids, tenant),
    ).fetchall()
    try:
        return [
            Place(
                key=row["key"],
                passage=_passage(row, title=row["title"], key=row["key"]),
                exchange=_exchange(row),
                content_type=row["content_type"],
            )
            for row in rows
        ]
    except (TypeError, ValueError, AttributeError) as error:
        raise _damaged("a passage", error) from error


@cache
def _page_type() -> TypeAdapter[Page]:
    from ..web.extract import Page

    return TypeAdapter(Page)


def _passage(row: Row, *, title: str, key: str) -> Passage:
    passage = Passage(text=row["text"], title=title, section=row["section"], source_id=key, url=row["place_url"])
    if passage.id != row["id"]:
        raise ValueError(f"the text that stands under {row['id']} is not the one it was")
    return passage


def _exchange(row: Row) -> Exchange:
    return Exchange(
        status=row["status"],
        headers=_texts(row["headers"]),
        request_headers=_texts(row["request_headers"]),
        requested_at=float(row["requested_at"]),
        received_at=float(row["received_at"]),
    )


def _texts(text: str) -> Mapping[str, str]:
    found = json.loads(text)
    return {str(name): str(value) for name, value in found.items()}


def _json(value: Any) -> str:  # noqa: ANN401 - what JSON takes
    return json.dumps(value, ensure_ascii=True)


def _damaged(what: str, error: Exception) -> CacheCorruptError:
    return CacheCorruptError(
        f"What the cache holds for {what} is damaged: {error}. Purge it; the cache fills again."
    )
