"""The texts of an index: passages, the documents they stand in, and other names of these.

A text is stored once, whatever number of documents it stands in. The first of its places, by the age of the
document and by the position in it, is the one whose heading and spelling the passage carries. These functions work
on a connection inside a transaction of the index's database (`layout`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from sqlite3 import Connection

from ..corpora import Document
from ..errors import IndexCorruptError
from ..passage import Passage, Provenance
from .sqlite import in_parts, marks

SCHEMA = """
CREATE TABLE passages (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE sources (
    number INTEGER PRIMARY KEY, source_id TEXT NOT NULL, title TEXT NOT NULL, url TEXT, digest BLOB NOT NULL
);
CREATE INDEX sources_by_id ON sources (source_id);
CREATE TABLE places (
    row INTEGER NOT NULL, source INTEGER NOT NULL, position INTEGER NOT NULL, section TEXT NOT NULL, spelling TEXT,
    PRIMARY KEY (row, source, position)
) WITHOUT ROWID;
CREATE INDEX places_by_source ON places (source);
CREATE TABLE aliases (
    alias TEXT NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (alias, source)
) WITHOUT ROWID;
CREATE INDEX aliases_by_source ON aliases (source);
CREATE TABLE indexed (row INTEGER PRIMARY KEY, digest BLOB NOT NULL);
"""
"""`spelling`: the text as the place has it, where it differs from the stored one in what identity ignores.
`indexed`: what words and vectors know of a passage, as the digest of its full text."""


def put(
    connection: Connection, document: Document, pieces: Sequence[Passage], *, beside: bool = False
) -> set[int]:
    """Store a document in place of all that have its id, at the place of the oldest of these.

    Args:
        connection: Of the writer.
        document: The document.
        pieces: Its passages, in reading order.
        beside: Whether the documents that have the same id stay.

    Returns:
        Rows of the passages whose places have changed; none if the document is stored like this already.
    """
    known = connection.execute(
        "SELECT number, digest FROM sources WHERE source_id = ? ORDER BY number", (document.id,)
    ).fetchall()
    digest = _digest_of(document, pieces)
    number, touched = None, set()
    if known and not beside:
        if [found for _, found in known] == [digest]:
            return set()
        number = known[0][0]
        touched = _clear(connection, [number for number, _ in known])
    number = connection.execute(
        "INSERT INTO sources VALUES (?, ?, ?, ?, ?)",
        (number, document.id, document.title, document.url, digest),
    ).lastrowid
    connection.executemany(
        "INSERT INTO aliases VALUES (?, ?)", ((alias, number) for alias in dict.fromkeys(document.aliases))
    )
    placed: set[tuple[int, str]] = set()
    for position, piece in enumerate(pieces):
        row, text = _row(connection, piece)
        if (row, piece.section) not in placed:
            spelling = None if piece.text == text else piece.text
            connection.execute(
                "INSERT INTO places VALUES (?, ?, ?, ?, ?)", (row, number, position, piece.section, spelling)
            )
        placed.add((row, piece.section))
    return touched | {row for row, _ in placed}


def remove(connection: Connection, source_id: str) -> set[int] | None:
    """Take away the documents with this id; the rows of their passages, or None if there is no such document."""
    numbers = [
        number
        for (number,) in connection.execute(
            "SELECT number FROM sources WHERE source_id = ?", (source_id,)
        ).fetchall()
    ]
    return _clear(connection, numbers) if numbers else None


def forget_orphans(connection: Connection, rows: Iterable[int]) -> dict[int, str]:
    """Take away those of the passages that stand in no document any more; their ids by row."""
    gone = {
        row: key
        for some in in_parts(rows)
        for row, key in connection.execute(
            "SELECT row, id FROM passages AS p "  # noqa: S608 - only question marks
            f"WHERE row IN ({marks(some)}) AND NOT EXISTS (SELECT 1 FROM places WHERE row = p.row)",
            some,
        )
    }
    for table in ("passages", "indexed"):
        connection.executemany(
            f"DELETE FROM {table} WHERE row = ?",  # noqa: S608 - a table's name
            ((row,) for row in gone),
        )
    return gone


def read_rows(connection: Connection, rows: Iterable[int]) -> dict[int, Passage]:
    """Passages by row; rows that do not exist are not in the answer."""
    return {
        row: passage
        for some in in_parts(rows)
        for row, passage in _read(connection, f"p.row IN ({marks(some)})", some)
    }


def read_after(connection: Connection, row: int, count: int) -> dict[int, Passage]:
    """The next `count` passages behind a row, by row, in the order in which they were added."""
    chosen = "p.row IN (SELECT row FROM passages WHERE row > ? ORDER BY row LIMIT ?)"
    return dict(_read(connection, chosen, (row, count)))


def get(connection: Connection, ids: Sequence[str], path: Path) -> list[Passage]:
    """The passages of these ids, in their order.

    Raises:
        IndexCorruptError: an id is not stored, or a text has another id than the one it stands under.
    """
    found = {
        passage.id: passage
        for some in in_parts(ids)
        for _, passage in _read(connection, f"p.id IN ({marks(some)})", some)
    }
    missing = [key for key in ids if key not in found]
    if missing:
        raise IndexCorruptError(
            f"{path} lacks {len(missing)} passages that the index refers to, the first is {missing[0]}. "
            "Build the index again."
        )
    return [found[key] for key in ids]


def named(connection: Connection, alias: str) -> list[tuple[str, str]]:
    """`(source_id, title)` of the documents that have this other name, the oldest first."""
    rows = connection.execute(
        "SELECT d.source_id, d.title FROM aliases AS a JOIN sources AS d ON d.number = a.source "
        "WHERE a.alias = ? ORDER BY d.number",
        (alias,),
    ).fetchall()
    return [(str(source_id), str(title)) for source_id, title in rows]


def aliases_of(connection: Connection, rows: Iterable[int]) -> dict[int, list[str]]:
    """The other names of the documents that passages stand in, by the passages' rows; in alphabetical order."""
    found: dict[int, list[str]] = {}
    for some in in_parts(rows):
        for row, alias in connection.execute(
            "SELECT DISTINCT p.row, a.alias FROM places AS p JOIN aliases AS a ON a.source = p.source "  # noqa: S608
            f"WHERE p.row IN ({marks(some)}) ORDER BY p.row, a.alias",
            some,
        ):
            found.setdefault(row, []).append(alias)
    return found


def counts(connection: Connection) -> tuple[int, int]:
    """Number of documents and of passages."""
    (documents,) = connection.execute("SELECT COUNT(*) FROM sources").fetchone()
    (texts,) = connection.execute("SELECT COUNT(*) FROM passages").fetchone()
    return int(documents), int(texts)


def changed(connection: Connection, passages: dict[int, Passage]) -> dict[int, Passage]:
    """Those passages, by row, whose full text is not the one that words and vectors know."""
    known = {
        row: digest
        for some in in_parts(passages)
        for row, digest in connection.execute(
            f"SELECT row, digest FROM indexed WHERE row IN ({marks(some)})",  # noqa: S608 - only question marks
            some,
        )
    }
    return {row: passage for row, passage in passages.items() if known.get(row) != _digest(passage.full_text)}


def mark_indexed(connection: Connection, passages: dict[int, Passage]) -> None:
    """Note that words and vectors know these passages as they are, by row."""
    connection.executemany(
        "REPLACE INTO indexed VALUES (?, ?)",
        ((row, _digest(passage.full_text)) for row, passage in passages.items()),
    )


def _read(connection: Connection, condition: str, values: Sequence[object]) -> Iterator[tuple[int, Passage]]:
    """The passages that meet a condition of this module's own making, by row, with all their places."""
    rows = connection.execute(
        "SELECT p.row, p.id, p.text, l.spelling, d.source_id, d.title, l.section, d.url "  # noqa: S608 - see above
        "FROM passages AS p JOIN places AS l ON l.row = p.row "
        f"JOIN sources AS d ON d.number = l.source WHERE {condition} "
        "ORDER BY p.row, l.source, l.position",
        tuple(values),
    ).fetchall()
    found: dict[int, tuple[str, str, list[Provenance]]] = {}
    try:
        for row, key, text, spelling, source_id, title, section, url in rows:
            _, _, places = found.setdefault(row, (key, text if spelling is None else spelling, []))
            places.append(Provenance(source_id=source_id, title=title, section=section, url=url))
        for row, (key, text, places) in found.items():
            yield row, _passage(key, text, places)
    except (TypeError, ValueError, AttributeError) as error:  # a column holds something else than the schema says
        raise IndexCorruptError(f"A stored passage is damaged: {error}. Build the index again.") from error


def _passage(key: str, text: str, places: list[Provenance]) -> Passage:
    first, *also = dict.fromkeys(places)
    passage = Passage(
        text=text,
        source_id=first.source_id,
        title=first.title,
        section=first.section,
        url=first.url,
        also=tuple(also),
    )
    if passage.id != key:
        raise ValueError(f"the text that stands under {key} is not the one it was")
    return passage


def _row(connection: Connection, piece: Passage) -> tuple[int, str]:
    """Row and stored text of a passage, which is stored if it is not yet."""
    known = connection.execute("SELECT row, text FROM passages WHERE id = ?", (piece.id,)).fetchone()
    if known is not None:
        return int(known[0]), str(known[1])
    row = connection.execute("INSERT INTO passages (id, text) VALUES (?, ?)", (piece.id, piece.text)).lastrowid
    assert row is not None  # noqa: S101  an INSERT has one
    return row, piece.text


def _clear(connection: Connection, numbers: Sequence[int]) -> set[int]:
    """Take documents away, with their aliases and places; the rows of their passages."""
    rows: set[int] = set()
    for number in numbers:
        found = connection.execute("SELECT row FROM places WHERE source = ?", (number,)).fetchall()
        rows.update(row for (row,) in found)
        connection.execute("DELETE FROM places WHERE source = ?", (number,))
        connection.execute("DELETE FROM aliases WHERE source = ?", (number,))
        connection.execute("DELETE FROM sources WHERE number = ?", (number,))
    return rows


def _digest_of(document: Document, pieces: Sequence[Passage]) -> bytes:
    """Tells whether a document is stored as it is now."""
    parts = (document.title, document.url, document.aliases, [(piece.section, piece.text) for piece in pieces])
    return _digest(repr(parts))


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
