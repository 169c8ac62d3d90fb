"""Where passages stand: what a search asks of the store about its candidates."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from retrieval import Passage
from retrieval.cache.rows import read_places
from retrieval.cache.store import PageStore
from tests.retrieval.cache.origins import stored_page


def steps(store: PageStore, ids: tuple[object, ...]) -> int:
    """How many instructions of SQLite's machine it takes to find the places of these passages, by tens."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    with closing(sqlite3.connect(store.database.path)) as connection:
        connection.set_progress_handler(tick, 10)
        assert len(read_places(connection, "", ids)) == len(ids)
    return count


def test_finding_places_takes_no_longer_in_a_larger_cache(store: PageStore) -> None:
    """The pages of the tenant are not walked through: a nomination waits for this."""
    texts = [f"Heather number {number} flowers." for number in range(200)]
    ids = tuple(Passage(text=text).id for text in texts[:10])
    for number in range(10):
        store.put(stored_page(f"http://moor.example/{number}", texts[number]))
    before = steps(store, ids)
    for number in range(10, 200):
        store.put(stored_page(f"http://moor.example/{number}", texts[number]))
    assert steps(store, ids) <= before + 1
