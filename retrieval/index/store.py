"""The texts of an index: passages by id, in one SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import IndexCorruptError
from ..passage import Passage, Provenance
from .sqlite import Database

PASSAGES = "passages.sqlite"

_APPLICATION = 0x5346_5053
_VERSION = 1
_PARAMETERS = 500  # in one statement; SQLite allows 999 everywhere
_SCHEMA = """
CREATE TABLE passages (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL,
    source_id TEXT NOT NULL, title TEXT NOT NULL, section TEXT NOT NULL, url TEXT
);
CREATE TABLE other_sources (
    row INTEGER NOT NULL, source_id TEXT NOT NULL, title TEXT NOT NULL, section TEXT NOT NULL, url TEXT
);
CREATE INDEX other_sources_by_row ON other_sources (row);
CREATE TABLE aliases (alias TEXT NOT NULL, source_id TEXT NOT NULL, title TEXT NOT NULL);
CREATE INDEX aliases_by_alias ON aliases (alias);
"""


class PassageWriter:
    """Writes the store of a new index; nothing is kept unless the `with` block ends without an error.

    Args:
        folder: Where the file goes; one that lies there already is replaced.

    Raises:
        IndexFolderError: the disk is full or cannot be written; also from each method.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / PASSAGES
        for old in folder.glob(f"{PASSAGES}*"):
            old.unlink()
        self._database = Database.create(path, application=_APPLICATION, version=_VERSION, schema=_SCHEMA)
        self._count = 0

    def add(self, passage: Passage) -> bool:
        """Keep a passage; True if its text is new.

        A text that is known gains the sources of this passage (case R10: by content, never by title).
        """
        with self._database.writing() as connection:
            row = connection.execute("SELECT row FROM passages WHERE id = ?", (passage.id,)).fetchone()
            if row is not None:
                (known,) = _read(connection, "p.row = ?", row)
                fresh = dict.fromkeys(place for place in passage.provenance if place not in known.provenance)
                _add_places(connection, row[0], fresh)
                return False
            first = passage.provenance[0]
            connection.execute(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
                (self._count, passage.id, passage.text, first.source_id, first.title, first.section, first.url),
            )
            _add_places(connection, self._count, passage.also)
        self._count += 1
        return True

    def add_alias(self, alias: str, *, source_id: str, title: str) -> None:
        """Keep another name of a document."""
        with self._database.writing() as connection:
            connection.execute("INSERT INTO aliases VALUES (?, ?, ?)", (alias, source_id, title))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._database.commit()
        self._database.close()


class PassageStore:
    """Reads passages by id in constant time without loading the rest; threads may share one store.

    Raises:
        IndexNotFoundError: there is no store in the folder.
        IndexCorruptError: the file is damaged or something else; also from each method.
        IndexVersionError: another version of the file.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PASSAGES
        self._database = Database(self._path, application=_APPLICATION, version=_VERSION, read_only=True)
        with self._database.reading() as connection:
            self._count = int(connection.execute("SELECT COUNT(*) FROM passages").fetchone()[0])

    def __len__(self) -> int:
        return self._count

    def get(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of these ids, in their order.

        Raises:
            IndexCorruptError: an id is not in the store, or a text has another id than the one it stands under.
        """
        found: dict[str, Passage] = {}
        for start in range(0, len(ids), _PARAMETERS):
            some = tuple(ids[start : start + _PARAMETERS])
            passages = self._where(f"p.id IN ({', '.join('?' * len(some))})", some)
            found |= {passage.id: passage for passage in passages}
        missing = [key for key in ids if key not in found]
        if missing:
            raise IndexCorruptError(
                f"{self._path} lacks {len(missing)} passages that the index refers to, the first is {missing[0]}. "
                "Build the index again."
            )
        return [found[key] for key in ids]

    def rows(self, start: int, count: int) -> list[Passage]:
        """`count` passages from row `start` on, in the order in which they were added."""
        return self._where("p.row >= ? AND p.row < ?", (start, start + count))

    def ids(self) -> Iterator[str]:
        """All ids, in the order of rows."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id FROM passages ORDER BY row").fetchall()
        return (row[0] for row in rows)

    def named(self, alias: str) -> list[tuple[str, str]]:
        """`(source_id, title)` of the documents that have this other name, in the order of the corpus."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT source_id, title FROM aliases WHERE alias = ? ORDER BY rowid", (alias,)
            ).fetchall()
        return [(str(source_id), str(title)) for source_id, title in rows]

    def close(self) -> None:
        """Release the file. May be called twice."""
        self._database.close()

    def _where(self, condition: str, values: tuple[object, ...]) -> list[Passage]:
        try:
            with self._database.reading() as connection:
                return _read(connection, condition, values)
        except (TypeError, ValueError) as error:  # a column holds something else than the schema says
            raise IndexCorruptError(f"{self._path} is damaged: {error}. Build the index again.") from error


def _read(connection: sqlite3.Connection, condition: str, values: tuple[object, ...]) -> list[Passage]:
    """The passages that meet a condition of this module's own making, by row, with all their sources."""
    rows = connection.execute(
        "SELECT p.row, p.text, p.source_id, p.title, p.section, p.url, "  # noqa: S608 - no outside text in it
        "o.source_id, o.title, o.section, o.url "
        "FROM passages AS p LEFT JOIN other_sources AS o ON o.row = p.row "
        f"WHERE {condition} ORDER BY p.row, o.rowid",
        values,
    ).fetchall()
    found: dict[int, tuple[tuple[str, ...], list[Provenance]]] = {}
    for row, *columns in rows:
        _, also = found.setdefault(row, (tuple(columns[:5]), []))
        source_id, title, section, url = columns[5:]
        if source_id is not None:
            also.append(Provenance(source_id=source_id, title=title, section=section, url=url))
    return [
        Passage(text=text, source_id=source_id, title=title, section=section, url=url, also=tuple(also))
        for (text, source_id, title, section, url), also in found.values()
    ]


def _add_places(connection: sqlite3.Connection, row: int, places: Iterable[Provenance]) -> None:
    connection.executemany(
        "INSERT INTO other_sources VALUES (?, ?, ?, ?, ?)",
        [(row, place.source_id, place.title, place.section, place.url) for place in places],
    )
