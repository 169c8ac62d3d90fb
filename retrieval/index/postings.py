"""Posting lists in SQLite: which documents a term stands in, and how often.

A list is one blob per term and block of 65,536 document numbers: pairs of little-endian 16-bit integers, a
document's offset in its block and the count of the term in it. A document that is deleted leaves its entries
behind; they are dead, whoever reads them skips them, and `compact` throws them away. Between two compactions no
number is given twice, so a dead entry cannot come to life.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError
from .sqlite import in_parts, marks

SCHEMA = """
CREATE TABLE documents (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, length INTEGER NOT NULL);
CREATE TABLE postings (
    term TEXT NOT NULL, block INTEGER NOT NULL, entries BLOB NOT NULL, PRIMARY KEY (term, block)
);
CREATE TABLE state (generation INTEGER NOT NULL, next_number INTEGER NOT NULL);
INSERT INTO state VALUES (0, 0);
"""

_BLOCK = 65_536
_MAX_COUNT = 65_535


def append(connection: Connection, documents: Mapping[str, Sequence[str]]) -> None:
    """Add documents, given as id and terms. None of the ids may exist."""
    first = size(connection)
    connection.executemany(
        "INSERT INTO documents VALUES (?, ?, ?)",
        ((number, key, len(documents[key])) for number, key in enumerate(documents, start=first)),
    )
    entries: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for number, words in enumerate(documents.values(), start=first):
        block, offset = divmod(number, _BLOCK)
        for term, count in Counter(words).items():
            entries[term, block].append((offset, min(count, _MAX_COUNT)))
    # In the order of the table, so that its pages are written one after the other.
    connection.executemany(
        "REPLACE INTO postings VALUES (?, ?, ?)",
        [(*place, _entries(connection, place) + _packed(entries[place])) for place in sorted(entries)],
    )
    connection.execute("UPDATE state SET next_number = ?", (first + len(documents),))


def remove(connection: Connection, ids: Iterable[str]) -> None:
    """Delete the documents with these ids; others are ignored."""
    connection.executemany("DELETE FROM documents WHERE id = ?", ((key,) for key in ids))


def size(connection: Connection) -> int:
    """How many numbers were given since the last compaction: the next one, above all others."""
    (number,) = connection.execute("SELECT next_number FROM state").fetchone()
    return int(number)


def begin_generation(connection: Connection) -> None:
    """Tell readers that the documents have changed. Once before each commit of changes."""
    connection.execute("UPDATE state SET generation = generation + 1")


def compact(connection: Connection) -> NDArray[np.int64]:
    """Throw away dead entries, and number the living documents from 0 on in their old order.

    Returns:
        Shape (living,): the old number of each document, by its new one.
    """
    old = np.array(connection.execute("SELECT number FROM documents ORDER BY number").fetchall(), np.int64).ravel()
    taken = size(connection)
    new = np.full(taken, -1, np.int64)
    new[old] = np.arange(len(old))
    for (term,) in connection.execute("SELECT DISTINCT term FROM postings ORDER BY term").fetchall():
        numbers, counts = read(connection, term, taken)
        connection.execute("DELETE FROM postings WHERE term = ?", (term,))
        living = new[numbers] >= 0
        blocks, offsets = np.divmod(new[numbers[living]], _BLOCK)
        table = np.stack([offsets, counts[living]], axis=1)
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            [(term, int(block), _packed(table[blocks == block])) for block in np.unique(blocks)],
        )
    # New numbers are never above old ones: in ascending order none is taken when its turn comes.
    connection.executemany(
        "UPDATE documents SET number = ? WHERE number = ?", zip(range(len(old)), old.tolist(), strict=True)
    )
    connection.execute("UPDATE state SET next_number = ?", (len(old),))
    return old


def read(connection: Connection, term: str, below: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the documents that contain a term, dead ones too, and its counts in them, both of shape (n,).

    Raises:
        IndexCorruptError: a list is cut off, or names a number that is not below `below`.
    """
    numbers, counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for block, entries in connection.execute("SELECT block, entries FROM postings WHERE term = ?", (term,)):
        if len(entries) % 4:
            raise IndexCorruptError(f"The posting list of {term!r} is cut off. Build the index again.")
        table = np.frombuffer(entries, "<u2").astype(np.int64)
        numbers = np.append(numbers, table[::2] + block * _BLOCK)
        counts = np.append(counts, table[1::2])
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < below:
        raise IndexCorruptError(f"The posting list of {term!r} names unknown documents. Build the index again.")
    return numbers, counts


def ids_of(connection: Connection, numbers: Iterable[int]) -> dict[int, str]:
    """Ids by number, of the documents that exist."""
    return {
        number: key
        for some in in_parts(numbers)
        for number, key in connection.execute(
            f"SELECT number, id FROM documents WHERE number IN ({marks(some)})",  # noqa: S608 - only question marks
            some,
        )
    }


def numbers_of(connection: Connection, ids: Iterable[str]) -> dict[str, int]:
    """Numbers by id, in no order; ids that do not exist are not in the answer."""
    return {
        key: number
        for some in in_parts(ids)
        for key, number in connection.execute(
            f"SELECT id, number FROM documents WHERE id IN ({marks(some)})",  # noqa: S608 - only question marks
            some,
        )
    }


def _entries(connection: Connection, place: tuple[str, int]) -> bytes:
    found = connection.execute("SELECT entries FROM postings WHERE term = ? AND block = ?", place).fetchone()
    return bytes(found[0]) if found else b""


def _packed(table: NDArray[np.int64] | list[tuple[int, int]]) -> bytes:
    return np.asarray(table, dtype="<u2").tobytes()
