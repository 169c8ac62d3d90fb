"""Links between passages: what each one is about and what it mentions, as keys that others share.

A key is a text of the extractor's making (a title, an alias, the name of an entity), stored as a 64-bit hash. Each
passage has a few keys of two kinds: a *topic* is what it is about, a *mention* is what it speaks of. One hop leads
from the mentions of a passage to the passages with these topics, or from its topics to those that mention them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Literal

import numpy as np

from ..errors import IndexCorruptError
from ..passage import Passage
from .sqlite import in_parts, marks

Kind = Literal["topic", "mention"]

SCHEMA = """
CREATE TABLE topics (key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)) WITHOUT ROWID;
CREATE TABLE mentions (key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)) WITHOUT ROWID;
CREATE TABLE links (row INTEGER PRIMARY KEY, topics BLOB NOT NULL, mentions BLOB NOT NULL);
"""
_TABLES: Mapping[Kind, str] = {"topic": "topics", "mention": "mentions"}


def link_key(text: str) -> int:
    """The hash that stands for a key: 64 bits, signed, the same on every machine."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRule:
    """How the keys of a passage are found."""

    name: str
    """Names rule and version: an index is changed only with the rule that it was built with."""
    keys: Callable[[Passage, Sequence[str]], tuple[Iterable[str], Iterable[str]]]
    """Topics and mentions, normalised by the rule itself; empty and repeated ones are left out. They may depend on
    nothing but the passage (its text, and the titles of all its places) and the other names of its documents,
    e.g. titles that redirect to them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The keys of one passage, hashed by `link_key`."""

    topics: frozenset[int]
    mentions: frozenset[int]


class Links:
    """The links of one committed state, read through a connection inside a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def of(self, ids: Sequence[str]) -> dict[str, Linked]:
        """The keys of passages by their ids. A passage without keys is not in the answer, nor is an unknown id.

        Raises:
            IndexCorruptError: a list of keys is cut off.
        """
        return {
            key: Linked(topics=_unpacked(topics), mentions=_unpacked(mentions))
            for some in in_parts(ids)
            for key, topics, mentions in self._connection.execute(
                "SELECT p.id, l.topics, l.mentions FROM passages AS p JOIN links AS l ON l.row = p.row "  # noqa: S608
                f"WHERE p.id IN ({marks(some)})",
                some,
            )
        }

    def counts(self, kind: Kind, keys: Collection[int]) -> dict[int, int]:
        """How many passages have each of these keys; keys that no passage has are not in the answer."""
        return {
            key: count
            for some in in_parts(sorted(keys))
            for key, count in self._connection.execute(
                f"SELECT key, COUNT(*) FROM {_TABLES[kind]} "  # noqa: S608 - a table's name and question marks
                f"WHERE key IN ({marks(some)}) GROUP BY key",
                some,
            )
        }

    def passages(self, kind: Kind, keys: Collection[int], *, most: int) -> dict[int, list[str]]:
        """The passages that have these keys: ids by key, ids in the order in which the passages came.

        Args:
            kind: `topic` for the passages about a key, `mention` for those that speak of it.
            keys: Hashes, from `of` or `link_key`.
            most: Keys that more passages mention, or that more documents are about, are too common to lead
                anywhere and are left out. Of long documents about a key so many passages, their first ones.
        """
        counts = self.counts(kind, keys)
        rows = {key: self._rows(kind, key) for key in sorted(counts) if counts[key] <= most}
        if kind == "topic":
            long = [key for key in sorted(counts) if counts[key] > most and not self._is_ambiguous(key, most)]
            rows |= {key: self._first_rows(key, most) for key in long}
        ids = self._ids({row for found in rows.values() for row in found})  # each once: many keys share passages
        return {key: [ids[row] for row in found if row in ids] for key, found in rows.items()}

    def _rows(self, kind: Kind, key: int) -> list[int]:
        found = self._connection.execute(
            f"SELECT row FROM {_TABLES[kind]} WHERE key = ? ORDER BY row",  # noqa: S608 - a table's name
            (key,),
        )
        return [row for (row,) in found]

    def _is_ambiguous(self, key: int, most: int) -> bool:
        """Whether more than `most` documents are about this key; reads no further than it takes to know."""
        ((count,),) = self._connection.execute(
            "SELECT COUNT(*) FROM (SELECT DISTINCT p.source FROM topics AS t JOIN places AS p ON p.row = t.row "
            "WHERE t.key = ? LIMIT ?)",
            (key, most + 1),
        )
        return bool(count > most)

    def _first_rows(self, key: int, most: int) -> list[int]:
        """Of the documents about this key the first passages, `most` together."""
        found = self._connection.execute(
            "SELECT t.row FROM topics AS t JOIN places AS p ON p.row = t.row WHERE t.key = ? "
            "GROUP BY t.row ORDER BY MIN(p.position), t.row LIMIT ?",
            (key, most),
        )
        return sorted(row for (row,) in found)

    def _ids(self, rows: Collection[int]) -> dict[int, str]:
        return {
            row: key
            for some in in_parts(sorted(rows))
            for row, key in self._connection.execute(
                f"SELECT row, id FROM passages WHERE row IN ({marks(some)})",  # noqa: S608 - only question marks
                some,
            )
        }


def put_links(connection: Connection, row: int, topics: Iterable[str], mentions: Iterable[str]) -> None:
    """Give a passage its keys, in place of those it has."""
    remove_links(connection, [row])
    found: dict[Kind, list[int]] = {
        "topic": sorted({link_key(text) for text in topics if text}),
        "mention": sorted({link_key(text) for text in mentions if text}),
    }
    if not found["topic"] and not found["mention"]:
        return
    connection.execute(
        "INSERT INTO links VALUES (?, ?, ?)", (row, _packed(found["topic"]), _packed(found["mention"]))
    )
    for kind, keys in found.items():
        connection.executemany(
            f"INSERT INTO {_TABLES[kind]} VALUES (?, ?)",  # noqa: S608 - a table's name
            ((key, row) for key in keys),
        )


def remove_links(connection: Connection, rows: Iterable[int]) -> None:
    """Take all keys from passages, given by row; rows without any are ignored."""
    for row in rows:
        kept = connection.execute("SELECT topics, mentions FROM links WHERE row = ?", (row,)).fetchone()
        if kept is None:
            continue
        for table, keys in zip(_TABLES.values(), kept, strict=True):
            connection.executemany(
                f"DELETE FROM {table} WHERE key = ? AND row = ?",  # noqa: S608 - a table's name
                ((key, row) for key in _unpacked(keys)),
            )
        connection.execute("DELETE FROM links WHERE row = ?", (row,))


def _packed(keys: list[int]) -> bytes:
    return np.array(keys, dtype="<i8").tobytes()


def _unpacked(keys: bytes) -> frozenset[int]:
    if len(keys) % 8:
        raise IndexCorruptError("A list of links is cut off. Build the index again.")
    return frozenset(np.frombuffer(keys, dtype="<i8").tolist())
