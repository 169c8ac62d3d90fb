"""The cache's SQLite file: short transactions by many threads and processes, and typed errors."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import CacheBusyError, CacheCorruptError, CacheError
from .schema import APPLICATION, SCHEMA, VERSION

PAGES_FILE = "pages.sqlite"
_LOCK = "create.lock"
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR})
"""SQLITE_ERROR: the schema was checked, so a statement that does not fit it speaks of a changed file."""


class Database:
    """`pages.sqlite` in a cache folder, with write-ahead log. Threads may share it, processes open their own.

    A transaction is all there or not at all, whenever the process dies; what `writing` has returned from is on
    the disk.

    Args:
        folder: The cache folder; made where needed.
        busy_seconds: How long to wait for another writer.

    Raises:
        CacheBusyError: another process kept it locked for longer.
        CacheCorruptError: the file is damaged or something else.
        CacheError: it was written in another version, or cannot be used.
    """

    def __init__(self, folder: Path, *, busy_seconds: float) -> None:
        self.path = folder / PAGES_FILE
        self._busy_seconds = busy_seconds
        self._idle: list[sqlite3.Connection] = []
        self._guard, self._writing = threading.Lock(), threading.Lock()
        self._closed = False
        with self._typed_errors():
            self._create(folder)
            self._check()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one committed state; readers wait for nobody.

        Raises:
            CacheBusyError, CacheCorruptError, CacheError: see the class.
        """
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are committed, durably, at the end of the block, and dropped on an exception.

        Raises:
            CacheBusyError, CacheCorruptError, CacheError: see the class.
        """
        if not self._writing.acquire(timeout=self._busy_seconds):  # SQLite's own waiting is not fair to threads
            raise self._busy()
        try:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                yield connection
        finally:
            self._writing.release()

    def vacuum(self) -> None:
        """Give the space of what was deleted back.

        Raises:
            CacheBusyError: others are using the file.
        """
        with self._typed_errors(), contextlib.closing(self._connect()) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def release(self) -> None:
        """Let the file go; who is in a transaction does so at its end. A later call opens it again."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Let the file go for good. May be called twice."""
        with self._guard:
            self._closed = True
        self.release()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._typed_errors():
            connection, home = self._taken()
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                connection.close()  # what was not committed is dropped with it
                raise
            self._give_back(connection, home)

    def _taken(self) -> tuple[sqlite3.Connection, list[sqlite3.Connection]]:
        """A connection, and where it belongs when it is idle: elsewhere after a release."""
        with self._guard:
            if self._closed:
                raise CacheError(f"{self.path} was closed. Open the cache again.")
            home = self._idle
            if home:
                return home.pop(), home
        return self._connect(), home

    def _give_back(self, connection: sqlite3.Connection, home: list[sqlite3.Connection]) -> None:
        with self._guard:
            if home is self._idle and not self._closed:
                home.append(connection)
                return
        connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what was purged is not to be found in the file
        return connection

    def _create(self, folder: Path) -> None:
        """Make the file, by one process at a time, whole or not at all."""
        if self.path.is_file():
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(folder / _LOCK, timeout=self._busy_seconds):
                if not self.path.is_file():
                    self._write_new(self.path.with_suffix(".new"))
        except Timeout as error:
            raise CacheBusyError(
                f"Another process has been creating the cache in {folder} for {self._busy_seconds:g} s. Try again."
            ) from error
        except OSError as error:
            raise CacheError(
                f"No cache can be made in {folder}: {error.strerror or error}. Name a folder that can be written."
            ) from error

    def _write_new(self, path: Path) -> None:
        for left in path.parent.glob(f"{path.name}*"):  # by a process that died
            left.unlink()
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; BEGIN; {SCHEMA} COMMIT;"
            )
        path.replace(self.path)

    def _check(self) -> None:
        with contextlib.closing(self._connect()) as connection:
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
        if mark != APPLICATION:
            raise CacheCorruptError(
                f"{self.path} is no coverage cache: its mark is {mark:#x}, expected {APPLICATION:#x}. "
                "Name another folder, or remove the file; a cache fills again."
            )
        if version != VERSION:
            raise CacheError(
                f"{self.path} has version {version}, this release reads version {VERSION}. "
                "Remove the folder; the cache fills again."
            )

    def _busy(self) -> CacheBusyError:
        return CacheBusyError(
            f"{self.path} was locked by another writer for {self._busy_seconds:g} s. Try again, or wait for the "
            "process that writes it."
        )

    @contextmanager
    def _typed_errors(self) -> Iterator[None]:
        """Turn what SQLite says into an error of this package."""
        try:
            yield
        except sqlite3.Error as error:
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # upper bits: a subkind
            if kind in _BUSY:
                raise self._busy() from error
            if kind in _DAMAGED:
                raise CacheCorruptError(
                    f"{self.path} is damaged: {error}. Remove the cache's folder; it fills again."
                ) from error
            raise CacheError(f"{self.path} cannot be used: {error}. Check the disk and its rights.") from error
