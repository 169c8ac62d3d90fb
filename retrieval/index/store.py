"""The texts of an index: passages by id, in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from ..errors import IndexCorruptError
from ..passage import Passage, Provenance

PASSAGES = "passages.sqlite"
_AT_ONCE = 500  # parameters in one statement; SQLite allows 999 everywhere

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
    """

    def __init__(self, folder: Path) -> None:
        path = folder / PASSAGES
        path.unlink(missing_ok=True)
        self._connection = sqlite3.connect(path)
        self._connection.executescript(_SCHEMA)
        self._count = 0

    def add(self, passage: Passage) -> bool:
        """Keep a passage; True if its text is new.

        A text that is known gains the sources of this passage (case R10: by content, never by title).
        """
        known = self._connection.execute("SELECT row FROM passages WHERE id = ?", (passage.id,)).fetchone()
        if known is not None:
            self._add_sources(known[0], passage.provenance)
            return False
        self._connection.execute(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self._count,
                passage.id,
                passage.text,
                passage.source_id,
                passage.title,
                passage.section,
                passage.url,
            ),
        )
        self._connection.executemany(
            "INSERT INTO other_sources VALUES (?, ?, ?, ?, ?)", _places(self._count, passage.also)
        )
        self._count += 1
        return True

    def _add_sources(self, row: int, places: tuple[Provenance, ...]) -> None:
        known = _read(self._connection, "p.row = ?", (row,))[0]
        fresh = dict.fromkeys(place for place in places if place not in known.provenance)
        self._connection.executemany(
            "INSERT INTO other_sources VALUES (?, ?, ?, ?, ?)", _places(row, tuple(fresh))
        )

    def add_alias(self, alias: str, *, source_id: str, title: str) -> None:
        """Keep another name of a document."""
        self._connection.execute("INSERT INTO aliases VALUES (?, ?, ?)", (alias, source_id, title))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._connection.commit()
        self._connection.close()


class PassageStore:
    """Reads passages by id in constant time without loading the rest; threads may share one store.

    The file is opened as immutable: a finished index is never changed, a new one replaces it as a whole.

    Raises:
        IndexCorruptError: the file is missing or no store; also from each method that reads.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / PASSAGES
        self._lock = threading.Lock()
        with self._reading():
            self._connection = sqlite3.connect(
                f"{self._path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            self._count = int(self._connection.execute("SELECT COUNT(*) FROM passages").fetchone()[0])

    def __len__(self) -> int:
        return self._count

    def get(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of these ids, in their order.

        Raises:
            IndexCorruptError: an id is not in the store, or a text has another id than the one it stands under.
        """
        found: dict[str, Passage] = {}
        for start in range(0, len(ids), _AT_ONCE):
            some = tuple(ids[start : start + _AT_ONCE])
            with self._reading(), self._lock:
                rows = _read(self._connection, f"p.id IN ({', '.join('?' * len(some))})", some)
            found |= {passage.id: passage for passage in rows}
        missing = [key for key in ids if key not in found]
        if missing:
            raise IndexCorruptError(
                f"{self._path} lacks {len(missing)} passages that the index refers to, the first is {missing[0]}. "
                "Build the index again."
            )
        return [found[key] for key in ids]

    def rows(self, start: int, count: int) -> list[Passage]:
        """`count` passages from row `start` on, in the order in which they were added."""
        with self._reading(), self._lock:
            return _read(self._connection, "p.row >= ? AND p.row < ?", (start, start + count))

    def ids(self) -> Iterator[str]:
        """All ids, in the order of rows."""
        with self._reading(), self._lock:
            rows = self._connection.execute("SELECT id FROM passages ORDER BY row").fetchall()
        return (row[0] for row in rows)

    def named(self, alias: str) -> list[tuple[str, str]]:
        """`(source_id, title)` of the documents that have this other name, in the order of the corpus."""
        with self._reading(), self._lock:
            rows = self._connection.execute(
                "SELECT source_id, title FROM aliases WHERE alias = ? ORDER BY rowid", (alias,)
            ).fetchall()
        return [(str(source_id), str(title)) for source_id, title in rows]

    def close(self) -> None:
        """Release the file. The store cannot be used any more."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise IndexCorruptError(f"{self._path} cannot be read: {error}. Build the index again.") from error


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


def _places(row: int, places: Iterable[Provenance]) -> list[tuple[int, str, str, str, str | None]]:
    return [(row, place.source_id, place.title, place.section, place.url) for place in places]
