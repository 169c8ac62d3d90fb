"""One SQLite file with many readers and one writer, and typed errors for what goes wrong with it."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from ..errors import IndexCorruptError, IndexFolderError, IndexNotFoundError, IndexVersionError

_BUSY_SECONDS = 30.0
_DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
"""SQLITE_ERROR: the schema has been checked, so a statement that does not fit it speaks of a changed file."""

_PARAMETERS = 500
"""Of one statement; SQLite allows 999 everywhere."""
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


class Database:
    """A file whose changes become visible, all at once and durably, at `commit`. Any number of threads may read.

    Readers never wait for the writer (write-ahead log); after an orderly end everything is in one file again. A
    process that dies before `commit` leaves the old state.

    Args:
        path: The file.
        application: Written into the file's header; another value there means that the file is something else.
        version: Of the schema.
        read_only: Whether it is opened without the right to write.

    Raises:
        IndexNotFoundError: there is no such file.
        IndexCorruptError: it is no SQLite file, not of this application, or shorter than its header says.
        IndexVersionError: another version of the schema.
    """

    def __init__(self, path: Path, *, application: int, version: int, read_only: bool) -> None:
        self.path = path
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self._writing = threading.RLock()
        self._writer: sqlite3.Connection | None = None
        self._closed = False
        if not path.is_file():
            raise IndexNotFoundError(f"There is no {path.name} in {path.parent}. Build the index first.")
        self._check(application, version)

    @classmethod
    def create(cls, path: Path, *, application: int, version: int, schema: str) -> Database:
        """Make a new file, and its folder where needed.

        Raises:
            IndexFolderError: the file exists, or cannot be written.
        """
        if path.exists():
            raise IndexFolderError(f"{path} exists already. Open it, or choose another folder.")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexFolderError(f"{path.parent} cannot be made: {error}. Choose another folder.") from error
        with typed_errors(path), contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(
                f"PRAGMA application_id = {application}; PRAGMA user_version = {version}; BEGIN; {schema} COMMIT;"
            )
        return cls(path, application=application, version=version, read_only=False)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a transaction: all that is read in the block is one committed state.

        Raises:
            IndexCorruptError: the file is damaged.
            IndexFolderError: it cannot be read now, or was closed.
        """
        with typed_errors(self.path):
            connection = self.begin()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self.end(connection)

    def begin(self) -> sqlite3.Connection:
        """What `reading` gives, to be given back by `end`; for a transaction that outlives a block.

        Raises:
            IndexCorruptError, IndexFolderError: see `reading`.
        """
        with typed_errors(self.path):
            try:
                return self._begun()
            except sqlite3.OperationalError as error:
                if not self._read_only or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
                    raise
            self._roll_back()
            return self._begun()

    def end(self, connection: sqlite3.Connection) -> None:
        """End a transaction that `begin` began. Any thread, once."""
        try:
            connection.execute("COMMIT")
        except sqlite3.Error:  # nothing was written: there is nothing to lose
            connection.close()
            return
        with self._guard:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The writing connection inside the open transaction; one thread at a time.

        An exception in the block drops all changes since the last commit.

        Raises:
            IndexFolderError: the file was opened for reading only, or another process writes it.
            IndexCorruptError: the file is damaged.
        """
        if self._read_only:
            raise IndexFolderError(
                f"{self.path} was opened for reading. Open it with read_only=False to change it."
            )
        with self._writing, typed_errors(self.path):
            if self._closed:
                raise IndexFolderError(f"{self.path} was closed. Open it again.")
            if self._writer is None:
                self._writer = self._connect()
                self._writer.execute("PRAGMA journal_mode = WAL")
                self._writer.execute("PRAGMA synchronous = FULL")
            if not self._writer.in_transaction:
                self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self.rollback()
                raise

    def commit(self) -> None:
        """Make the changes since the last commit durable and visible.

        Raises:
            IndexFolderError: the disk is full or cannot be written.
        """
        with self._writing, typed_errors(self.path):
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("COMMIT")

    def rollback(self) -> None:
        """Drop the changes since the last commit."""
        with self._writing, typed_errors(self.path):
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def vacuum(self) -> None:
        """Give the space of what was deleted back to the file system.

        Raises:
            IndexFolderError: changes wait for a commit, or there is no room for a copy of the file.
        """
        with self._writing, typed_errors(self.path):
            if self._writer is not None:
                self._writer.execute("VACUUM")

    def close(self) -> None:
        """Drop what was not committed and release the file. May be called twice."""
        self.rollback()
        with self._writing, self._guard:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            if self._writer is not None:
                self._writer.execute("PRAGMA busy_timeout = 0")
                # Refused while somebody else has the file open; then the last one to close it folds the log in.
                with contextlib.suppress(sqlite3.OperationalError):
                    self._writer.execute("PRAGMA journal_mode = DELETE")
                self._writer.close()
                self._writer = None

    def _check(self, application: int, version: int) -> None:
        with self.reading() as connection:
            found = _pragma(connection, "application_id")
            if found != application:
                raise IndexCorruptError(
                    f"{self.path} is no index file of this kind: its mark is {found:#x}, expected "
                    f"{application:#x}. Build the index again, in a folder of its own."
                )
            if (written := _pragma(connection, "user_version")) != version:
                raise IndexVersionError(
                    f"{self.path} has version {written}, this release reads version {version}. "
                    "Build the index again."
                )
            expected = _pragma(connection, "page_count") * _pragma(connection, "page_size")
        log = self.path.with_name(self.path.name + "-wal")
        if not log.exists() and self.path.stat().st_size < expected:
            raise IndexCorruptError(
                f"{self.path} has {self.path.stat().st_size} bytes, expected {expected}. Build the index again."
            )

    def _begun(self) -> sqlite3.Connection:
        connection = self._take()
        try:
            connection.execute("BEGIN")
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()  # only a first read fixes the state
        except BaseException:
            connection.close()
            raise
        return connection

    def _roll_back(self) -> None:
        """Undo what a killed writer left half done: a connection that may write does so when it first reads."""
        with contextlib.closing(
            sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", uri=True)
        ) as connection:
            connection.execute("SELECT 1 FROM sqlite_schema").fetchone()

    def _take(self) -> sqlite3.Connection:
        with self._guard:
            if self._closed:
                raise IndexFolderError(f"{self.path} was closed. Open it again.")
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        mode = "ro" if self._read_only else "rw"
        return sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )


def in_parts(values: Iterable[object]) -> Iterator[tuple[object, ...]]:
    """Values in tuples that are short enough for the parameters of one statement."""
    remaining = iter(values)
    while some := tuple(islice(remaining, _PARAMETERS)):
        yield some


def marks(values: tuple[object, ...]) -> str:
    """A question mark for each value, for `IN (...)`."""
    return ", ".join("?" * len(values))


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@contextmanager
def typed_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a file into an error of this package."""
    try:
        yield
    except sqlite3.Error as error:
        # The upper bits of a code say more than which kind of failure it is.
        kind = getattr(error, "sqlite_errorcode", _without_code(error)) & 0xFF
        if kind in _DAMAGED:
            raise IndexCorruptError(f"{path} is damaged: {error}. Build the index again.") from error
        if kind in _BUSY:
            raise IndexFolderError(
                f"{path} is in use: another process writes it, or reads it for long. Wait for that, and try again."
            ) from error
        raise IndexFolderError(f"{path} cannot be used: {error}. Check the disk and its rights.") from error


def _without_code(error: sqlite3.Error) -> int:
    """What a complaint of Python's own module means: stored text that is no UTF-8, or a call out of turn."""
    return sqlite3.SQLITE_CORRUPT if isinstance(error, sqlite3.OperationalError) else sqlite3.SQLITE_MISUSE
