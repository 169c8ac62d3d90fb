"""The database of an index, `index.sqlite`, in which every change is one transaction.

Passages, documents, aliases (`store`), words (`postings`) and links (`links`) lie in it. The vectors do not: their
rows lie in a file of their own, in the order of the numbers that `postings` gives, and the database names this
file. A row counts only if its number does; a writer puts rows on the disk before it commits their numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from uuid import uuid4

from ..errors import IndexCorruptError
from . import links, postings, store
from .sqlite import Database

INDEX_FILE = "index.sqlite"
_APPLICATION = 0x5346_4958
_VERSION = 1
_VECTORS = re.compile(r"vectors-[0-9a-f]{12}\.f32")
_SCHEMA = f"""
{postings.SCHEMA}
{store.SCHEMA}
{links.SCHEMA}
CREATE TABLE facts (vectors TEXT NOT NULL, dims INTEGER NOT NULL, changes INTEGER NOT NULL, updated TEXT NOT NULL);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the database says of the whole index."""

    vectors: str
    """Name of the file with the vectors."""
    dims: int
    """Width of a vector."""
    changes: int
    """Commits since the index was built."""
    updated: str
    """When the last one was; UTC, ISO 8601, empty if there was none."""


def create_database(data: Path, *, dims: int) -> Database:
    """Make the empty database of a new data folder.

    Raises:
        IndexFolderError: there is one already, or it cannot be written.
    """
    database = Database.create(data / INDEX_FILE, application=_APPLICATION, version=_VERSION, schema=_SCHEMA)
    with database.writing() as connection:
        connection.execute("INSERT INTO facts VALUES (?, ?, 0, '')", (new_vectors_name(), dims))
        database.commit()
    return database


def open_database(data: Path, *, read_only: bool = True) -> Database:
    """Open the database of a data folder.

    Raises:
        IndexNotFoundError: there is none.
        IndexCorruptError: the file is damaged or something else.
        IndexVersionError: written in another version of the schema.
    """
    return Database(data / INDEX_FILE, application=_APPLICATION, version=_VERSION, read_only=read_only)


def new_vectors_name() -> str:
    """A name that no file of vectors had before: files of two indexes are never mistaken for each other."""
    return f"vectors-{uuid4().hex[:12]}.f32"


def vectors_files(data: Path) -> list[Path]:
    """All files of vectors in a data folder; the database names one of them."""
    return [path for path in sorted(data.iterdir()) if _VECTORS.fullmatch(path.name)]


def read_facts(connection: Connection) -> Facts:
    """What a database says of its index.

    Raises:
        IndexCorruptError: it says nothing, or what cannot be.
    """
    row = connection.execute("SELECT vectors, dims, changes, updated FROM facts").fetchone()
    match row:
        case (str(name), int(dims), int(changes), str(updated)) if _VECTORS.fullmatch(name) and dims > 0:
            return Facts(vectors=name, dims=dims, changes=changes, updated=updated)
    raise IndexCorruptError(f"The index's database names no vectors: {row!r}. Build the index again.")
