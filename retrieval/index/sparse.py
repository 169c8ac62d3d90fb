"""The sparse index: BM25 over the words of passages, exact after every change, in one SQLite file.

All statistics (number of documents, their mean length, how many contain a term) are counted from living documents
when a query comes. docs/decisions/001-sparse-index.md says why this is neither tantivy nor FTS5.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError
from ..text import terms
from . import postings
from .sqlite import Database

SPARSE_FILE = "sparse.sqlite"

_APPLICATION = 0x5346_4254
_VERSION = 1
_BATCH = 8_192
_QUERY_TERMS = 1_024
_FEW = 1_024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Snapshot:
    """What a search needs to know of all documents in one committed state."""

    generation: int
    count: int
    """Living documents."""
    living: NDArray[np.bool_]
    """By document number."""
    norms: NDArray[np.float64]
    """By document number: k1 * (1 - b + b * length / mean length); 0 where none lives."""


class SparseIndex:
    """BM25 over passages that can be added, replaced and deleted at any time. Threads may share one.

    Changes become visible, to this object as to others, at `commit`. Scores follow Robertson's BM25 with Lucene's
    idf, ln(1 + (N - n + 0.5) / (n + 0.5)), which is positive for every term (case R02). A word that is repeated in
    the query counts as often as it stands there.
    """

    k1: ClassVar[float] = 1.2
    """How slowly repeats of a word stop counting."""
    b: ClassVar[float] = 0.75
    """How much a document's length counts, from 0 to 1."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._latest: _Snapshot | None = None

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Make an empty index, open for writing.

        Raises:
            IndexFolderError: the folder holds one already, or cannot be written.
        """
        path = folder / SPARSE_FILE
        return cls(Database.create(path, application=_APPLICATION, version=_VERSION, schema=postings.SCHEMA))

    @classmethod
    def open(cls, folder: Path, *, read_only: bool = True) -> Self:
        """Open an index; its header, its size and its list of documents are checked.

        Raises:
            IndexNotFoundError: there is none.
            IndexCorruptError: the file is damaged or something else.
            IndexVersionError: written in another version of the format.
        """
        path = folder / SPARSE_FILE
        index = cls(Database(path, application=_APPLICATION, version=_VERSION, read_only=read_only))
        try:
            len(index)
        except BaseException:
            index.close()
            raise
        return index

    @staticmethod
    def words(text: str) -> list[str]:
        """What documents and queries consist of."""
        return terms(text)

    def __len__(self) -> int:
        """Number of documents."""
        with self._database.reading() as connection:
            return self.count_in(connection)

    def ids(self) -> Iterator[str]:
        """All ids, in the order in which they were added."""
        with self._database.reading() as connection:
            rows = connection.execute("SELECT id FROM documents ORDER BY number").fetchall()
        return (row[0] for row in rows)

    def search(self, query: str, k: int, exclude: frozenset[str] = frozenset()) -> list[tuple[str, float]]:
        """The documents that share words with the query, as id and score.

        Args:
            query: Text; only its first 1,024 distinct terms count.
            k: The most documents wanted; below 1 none are.
            exclude: Ids that must not be among them.

        Returns:
            At most k, best first, ties by id; scores are finite and above zero. A new list each time.

        Raises:
            IndexCorruptError: the file is damaged.
            IndexFolderError: the index was closed, or cannot be read now.
        """
        with self._database.reading() as connection:
            return self.search_in(connection, query, k, exclude)

    def search_in(
        self, connection: Connection, query: str, k: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[str, float]]:
        """`search` in the state that a connection sees, which is inside a transaction."""
        weights = Counter(self.words(query))
        if k < 1 or not weights:
            return []
        snapshot = self._snapshot(connection)
        scores = np.zeros(len(snapshot.norms))
        # Sorted, so that two queries of the same words have the same scores to the last bit.
        for term in sorted(islice(weights, _QUERY_TERMS)):
            numbers, gains = self._gains(connection, term, snapshot)
            scores[numbers] += weights[term] * gains
        scores[list(postings.numbers_of(connection, exclude).values())] = 0.0
        return _best(connection, scores, k)

    def count_in(self, connection: Connection) -> int:
        """Number of documents in the state that a connection sees."""
        return self._snapshot(connection).count

    def numbers_in(self, connection: Connection) -> NDArray[np.int64]:
        """Numbers of the documents, ascending, in the state that a connection sees."""
        return np.flatnonzero(self._snapshot(connection).living)

    def add(self, items: Iterable[tuple[str, str]]) -> None:
        """Add documents, as id and text. An id that exists is replaced; of equal ids the last one counts.

        Whatever is raised, also by `items`, drops all changes since the last commit.

        Raises:
            IndexFolderError: opened for reading only, another process writes, or the disk is full.
            IndexCorruptError: the file is damaged.
        """
        remaining = iter(items)
        try:
            while batch := dict(islice(remaining, _BATCH)):
                with self._database.writing() as connection:
                    postings.remove(connection, batch)
                    postings.append(connection, {key: self.words(text) for key, text in batch.items()})
        except BaseException:
            self._database.rollback()
            raise

    def delete(self, ids: Iterable[str]) -> None:
        """Remove documents; ids that do not exist are ignored.

        Whatever is raised drops all changes since the last commit.

        Raises:
            IndexFolderError: opened for reading only, another process writes, or the disk is full.
            IndexCorruptError: the file is damaged.
        """
        with self._database.writing() as connection:
            postings.remove(connection, ids)

    def commit(self) -> None:
        """Make all changes since the last commit durable and visible; throws away dead entries now and then.

        Raises:
            IndexFolderError: opened for reading only, or the disk cannot be written.
            IndexCorruptError: the file is damaged.
        """
        with self._database.writing() as connection:
            if is_wasteful(connection):
                postings.compact(connection)
            postings.begin_generation(connection)
            self._database.commit()

    def close(self) -> None:
        """Release the file; what was not committed is gone. May be called twice."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _snapshot(self, connection: Connection) -> _Snapshot:
        generation, size = connection.execute("SELECT generation, next_number FROM state").fetchone()
        latest = self._latest
        if latest is None or latest.generation != generation:
            latest = self._latest = self._load(connection, generation, size)
        return latest

    def _load(self, connection: Connection, generation: int, size: int) -> _Snapshot:
        rows = connection.execute("SELECT number, length FROM documents").fetchall()
        numbers, lengths = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        if len(numbers) and not (0 <= numbers.min() <= numbers.max() < size and lengths.min() >= 0):
            raise IndexCorruptError(
                f"The sparse index lists documents beyond its {size} numbers. Build the index again."
            )
        living = np.zeros(size, dtype=np.bool_)
        living[numbers] = True
        norms = np.zeros(size)
        norms[numbers] = self.k1 * (1 - self.b + self.b * lengths / (lengths.mean() if lengths.any() else 1.0))
        return _Snapshot(generation=generation, count=len(numbers), living=living, norms=norms)

    def _gains(
        self, connection: Connection, term: str, snapshot: _Snapshot
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The living documents that contain a term, by number, and BM25's summand for each, both of shape (n,)."""
        numbers, counts = postings.read(connection, term, len(snapshot.norms))
        if snapshot.count < len(snapshot.norms):
            living = snapshot.living[numbers]
            numbers, counts = numbers[living], counts[living]
        idf = math.log(1 + (snapshot.count - len(numbers) + 0.5) / (len(numbers) + 0.5))
        return numbers, idf * (self.k1 + 1) * counts / (counts + snapshot.norms[numbers])


def is_wasteful(connection: Connection) -> bool:
    """Whether more documents are dead than alive, and enough of them that compacting is worth it."""
    living = int(connection.execute("SELECT COUNT(*) FROM documents").fetchone()[0])
    return postings.size(connection) - living > max(living, _FEW)


def _best(connection: Connection, scores: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
    found = np.flatnonzero(scores > 0)
    if len(found) > k:
        least = np.partition(scores[found], len(found) - k)[len(found) - k]
        found = found[scores[found] >= least]  # those that tie with the last one too: ids decide
    ids = postings.ids_of(connection, found.tolist())
    hits = [(ids[number], float(scores[number])) for number in found.tolist()]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]
