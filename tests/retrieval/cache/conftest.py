"""A cache over an origin that the test writes, on a clock that it sets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from retrieval.cache.cached import CachedPages
from retrieval.cache.store import PageStore
from tests.retrieval.cache.origins import Clock, Origin


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def origin(clock: Clock) -> Origin:
    return Origin(clock, headers={"cache-control": "max-age=100"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[PageStore]:
    with PageStore(tmp_path / "cache", busy_seconds=0.5) as store:
        yield store


@pytest.fixture
def pages(origin: Origin, store: PageStore, clock: Clock) -> CachedPages:
    return CachedPages(origin, store, clock=clock)
