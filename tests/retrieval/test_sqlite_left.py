"""A file that a killed process left with a rollback journal can be read again, also by who only reads."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from retrieval.errors import IndexFolderError
from retrieval.index.sqlite import Database

APPLICATION, VERSION = 7, 1


def left_in_the_middle(folder: Path) -> Path:
    """A copy of a database in the middle of a transaction that has reached the file: as SIGKILL leaves it."""
    path, copy = folder / "whole.sqlite", folder / "left.sqlite"
    Database.create(path, application=APPLICATION, version=VERSION, schema="CREATE TABLE t (x TEXT);").close()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("INSERT INTO t VALUES ('committed')")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO t VALUES (?)", [("lost" * 300,)] * 200)
        shutil.copy(path, copy)
        shutil.copy(f"{path}-journal", f"{copy}-journal")
        connection.execute("ROLLBACK")
    return copy


def read(path: Path) -> list[str]:
    database = Database(path, application=APPLICATION, version=VERSION, read_only=True)
    try:
        with database.reading() as connection:
            return [text for (text,) in connection.execute("SELECT x FROM t")]
    finally:
        database.close()


def test_a_reader_finds_the_last_commit(tmp_path: Path) -> None:
    """Without a writer nobody else would ever roll it back: the index could not be opened."""
    assert read(left_in_the_middle(tmp_path)) == ["committed"]


def test_where_nothing_can_be_rolled_back_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without the right to write: a typed error, not a state that was never committed."""
    copy = left_in_the_middle(tmp_path)
    connect = sqlite3.connect

    def refusing(target: str, **options: object) -> sqlite3.Connection:
        return connect(target.replace("mode=rw", "mode=ro"), **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", refusing)
    with pytest.raises(IndexFolderError, match="readonly database"):
        read(copy)
