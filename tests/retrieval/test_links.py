"""Keys that lead from one passage to others, and leave with the passage."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import IndexCorruptError
from retrieval.index.links import SCHEMA, Kind, Links, link_key, put_links, remove_links

_KEYS = st.lists(st.sampled_from(["", "river", "bridge", "queen", "island"]), max_size=5)


def opened(ids: dict[int, str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE passages (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);"
        "CREATE TABLE places (row INTEGER NOT NULL, source INTEGER NOT NULL, position INTEGER NOT NULL);" + SCHEMA
    )
    connection.executemany("INSERT INTO passages VALUES (?, ?)", ids.items())
    return connection


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    """A bridge, its builder, and an island that both mention."""
    with closing(opened({1: "bridge", 2: "builder", 3: "island"})) as connection:
        put_links(connection, 1, ["old bridge"], ["island", "builder", "island", ""])
        put_links(connection, 2, ["builder"], ["island"])
        put_links(connection, 3, ["island"], [])
        yield connection


def test_mentions_lead_to_what_is_about_them(connection: sqlite3.Connection) -> None:
    """A hop forward: from the bridge to the passages about what it mentions."""
    links = Links(connection)
    mentions = links.of(["bridge"])["bridge"].mentions
    assert links.passages("topic", mentions, most=9) == {
        link_key("builder"): ["builder"],
        link_key("island"): ["island"],
    }


def test_topics_lead_to_what_mentions_them(connection: sqlite3.Connection) -> None:
    """A hop back, and common keys left out of it."""
    links = Links(connection)
    topics = links.of(["island"])["island"].topics
    assert links.counts("mention", topics) == {link_key("island"): 2}
    assert links.passages("mention", topics, most=2) == {link_key("island"): ["bridge", "builder"]}
    assert links.passages("mention", topics, most=1) == {}


def test_of_long_documents_about_a_key_the_first_passages_are_given() -> None:
    """Two documents of three passages each, one inserted after the other: as many as asked for, both openings."""
    with closing(opened({row: f"p{row}" for row in range(6)})) as connection:
        connection.executemany(
            "INSERT INTO places VALUES (?, ?, ?)", [(row, row // 3, row % 3) for row in range(6)]
        )
        for row in range(6):
            put_links(connection, row, ["river"], ["bridge"])
        links, river = Links(connection), link_key("river")
        assert links.passages("topic", [river], most=3) == {river: ["p0", "p1", "p3"]}
        assert links.passages("topic", [river], most=2) == {river: ["p0", "p3"]}
        assert links.passages("topic", [river], most=1) == {}
        assert links.passages("mention", [link_key("bridge")], most=3) == {}


def test_unknown_keys_and_passages_lead_nowhere(connection: sqlite3.Connection) -> None:
    links = Links(connection)
    assert links.of(["nobody"]) == {}
    assert links.counts("topic", [link_key("nobody")]) == {}
    assert links.passages("topic", [], most=9) == {}


def test_many_keys_are_asked_in_parts(connection: sqlite3.Connection) -> None:
    """More keys than SQLite takes in one statement."""
    keys = [link_key(str(number)) for number in range(2000)] + [link_key("island")]
    assert Links(connection).passages("topic", keys, most=1) == {link_key("island"): ["island"]}


def test_a_list_that_is_cut_off_is_a_typed_error(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE links SET mentions = x'0102' WHERE row = 1")
    with pytest.raises(IndexCorruptError, match="cut off"):
        Links(connection).of(["bridge"])


def test_a_key_is_the_same_everywhere() -> None:
    """Pinned: the hashes are stored, so another function would be another format."""
    assert link_key("island") == 7682756150425839519
    assert -(2**63) <= link_key("\ud800") < 2**63


@given(steps=st.lists(st.tuples(st.integers(0, 3), st.none() | st.tuples(_KEYS, _KEYS)), max_size=12))
def test_any_changes_leave_what_the_last_ones_say(
    steps: list[tuple[int, tuple[list[str], list[str]] | None]],
) -> None:
    """Putting replaces, removing leaves nothing behind in any table."""
    kept: dict[int, tuple[list[str], list[str]]] = {}
    with closing(opened({row: f"p{row}" for row in range(4)})) as connection:
        for row, keys in steps:
            if keys is None:
                remove_links(connection, [row])
                kept.pop(row, None)
            else:
                put_links(connection, row, *keys)
                kept[row] = keys
        kinds: list[Kind] = ["topic", "mention"]
        for place, kind in enumerate(kinds):
            for key in ("river", "bridge", "queen", "island"):
                expected = [f"p{row}" for row in sorted(kept) if key in kept[row][place]]
                found = Links(connection).passages(kind, [link_key(key)], most=9)
                assert found.get(link_key(key), []) == expected
        (rows,) = connection.execute("SELECT COUNT(*) FROM links").fetchone()
        assert rows == sum(any(filter(None, topics + mentions)) for topics, mentions in kept.values())
