"""What one search sees: an index as it was committed at one moment, whatever is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError, IndexFolderError
from ..passage import Passage
from . import postings, store
from .dense import DenseIndex
from .layout import Facts, open_database, read_facts
from .links import Links
from .sparse import SparseIndex
from .sqlite import Database, typed_errors

_TRIES = 5


class View:
    """Words, vectors, texts and links of one committed state. Made by `Data.view`; to be closed soon.

    Threads may share it: its reads of the database take turns, its scans of the vectors do not. Closing it does
    not wait: who is inside a method finishes it, and the last one to leave releases the state.

    Every method raises IndexCorruptError if the files are damaged, and IndexFolderError if they cannot be read or
    the view is closed.
    """

    def __init__(
        self, *, database: Database, sparse: SparseIndex, dense: DenseIndex, connection: Connection, facts: Facts
    ) -> None:
        self.facts = facts
        self._database, self._sparse, self._dense, self._connection = database, sparse, dense, connection
        self._turn, self._guard = threading.RLock(), threading.Lock()
        self._users, self._closed = 0, False

    def words(self, query: str, k: int, exclude: frozenset[str] = frozenset()) -> list[tuple[str, float]]:
        """See `SparseIndex.search`."""
        with self._reading() as connection:
            return self._sparse.search_in(connection, query, k, exclude)

    def nearest(
        self, vector: NDArray[np.float32], k: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[str, float]]:
        """The `k` passages whose vectors have the largest inner product with `vector`; see `DenseIndex.search`."""
        return self._dense.search(vector, k, self.ids, exclude, living=len(self))

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of these ids, in their order.

        Raises:
            IndexCorruptError: an id is not in this state of the index.
        """
        with self._reading() as connection:
            return store.get(connection, ids, self._database.path)

    def after(self, row: int, count: int) -> dict[int, Passage]:
        """The next `count` passages behind a row (0 = all), by row, in the order in which they were added."""
        with self._reading() as connection:
            return store.read_after(connection, row, count)

    def named(self, alias: str) -> list[tuple[str, str]]:
        """`(source_id, title)` of the documents that have this other name, the oldest first."""
        with self._reading() as connection:
            return store.named(connection, alias)

    @contextmanager
    def links(self) -> Iterator[Links]:
        """The links between the passages; other threads wait for the end of the block."""
        with self._reading() as connection:
            yield Links(connection)

    def __len__(self) -> int:
        """Number of passages."""
        with self._reading() as connection:
            return self._sparse.count_in(connection)

    def counts(self) -> tuple[int, int]:
        """Number of documents and of passages."""
        with self._reading() as connection:
            return store.counts(connection)

    def numbers(self) -> NDArray[np.int64]:
        """Numbers of the living vectors, ascending."""
        with self._reading() as connection:
            return self._sparse.numbers_in(connection)

    def ids(self, numbers: Sequence[int]) -> dict[int, str]:
        """Ids of the passages by the numbers of their vectors; dead ones are not in the answer."""
        with self._reading() as connection:
            return postings.ids_of(connection, numbers)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors (dims,) of passages, read-only; an unknown id is not in the answer."""
        with self._reading() as connection:
            numbers = postings.numbers_of(connection, ids)
        return {key: self._dense.row(number) for key, number in numbers.items()}

    def vector(self, number: int) -> NDArray[np.float32]:
        """One vector (dims,), read-only."""
        return self._dense.row(number)

    def close(self) -> None:
        """Let the state go. May be called twice."""
        self._leave(closing=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        """A view that a cancelled search left behind must not keep its state for ever."""
        if hasattr(self, "_closed"):
            self.close()

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with self._guard:
            if self._closed:
                raise IndexFolderError("This view of the index was closed. Take another one.")
            self._users += 1
        try:
            with self._turn, typed_errors(self._database.path):
                yield self._connection
        finally:
            self._leave(closing=False)

    def _leave(self, *, closing: bool) -> None:
        with self._guard:
            before = self._closed and not self._users
            self._closed, self._users = self._closed or closing, self._users - (not closing)
            released = self._closed and not self._users
        if released and not before:
            self._database.end(self._connection)


class Data:
    """The data folder of an index, opened for reading. Threads may share it."""

    def __init__(self, folder: Path) -> None:
        """Open it; nothing but the database's header is read.

        Raises:
            IndexFolderError: the database is missing, damaged or of another version.
        """
        self._folder = folder
        self._database = open_database(folder)
        self._sparse = SparseIndex(self._database)
        self._latest: tuple[str, DenseIndex] | None = None

    def view(self) -> View:
        """What is committed now.

        Raises:
            IndexCorruptError: the database is damaged, or vectors that it names are missing.
            IndexFolderError: the files cannot be read now, or were closed.
        """
        missing = ""
        for _ in range(_TRIES):
            connection = self._database.begin()
            try:
                with typed_errors(self._database.path):
                    facts = read_facts(connection)
                    dense = self._dense(facts, postings.size(connection))
            except FileNotFoundError as error:  # a writer has compacted since the transaction began
                self._database.end(connection)
                missing = str(error)
                continue
            except BaseException:
                self._database.end(connection)
                raise
            return View(
                database=self._database, sparse=self._sparse, dense=dense, connection=connection, facts=facts
            )
        raise IndexCorruptError(f"The vectors of the index are missing: {missing}. Build the index again.")

    def close(self) -> None:
        """Release the files; views that are open stay usable. May be called twice."""
        self._database.close()
        self._latest = None  # the mapping goes with its last view

    def _dense(self, facts: Facts, rows: int) -> DenseIndex:
        """The mapped vectors; the last mapping serves as long as the file and its length are the same."""
        latest = self._latest
        if latest is not None and latest[0] == facts.vectors and len(latest[1]) == rows:
            return latest[1]
        dense = DenseIndex.open(self._folder / facts.vectors, rows=rows, dims=facts.dims)
        self._latest = facts.vectors, dense
        return dense
