"""`python -m benchmarks speed cache`: how long the coverage cache takes to nominate, by its number of passages.

Text and queries are invented (`index_texts`), vectors are random directions, so that nothing waits for a model:
what an encoder adds to a query is measured by `speed index`. A query goes the whole way of `CacheTier`: a look
into the journal, words and vectors, the fusion, the store about each candidate, freshness, the best ten.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval import Passage, Request
from retrieval.cache.freshness import Exchange
from retrieval.cache.records import StoredPage
from retrieval.cache.rooms import Rooms
from retrieval.cache.store import PageStore
from retrieval.cache.tier import CacheTier
from retrieval.web.extract import Page

from ..output import Report, Row
from .index import HashEncoder
from .index_texts import write_passages, write_queries

SIZES = (1_000, 10_000, 100_000)
"""Passages."""
PAGE_PASSAGES = 20
"""Of one page."""
_K = 10


def run_speed_cache(*, sizes: Sequence[int] = SIZES, queries: int = 200, seed: int = 0) -> Report:
    """Fill one cache after the other and ask each; the times of nominations, and how they grow.

    Args:
        sizes: Passages of each cache, ascending.
        queries: How many are asked of each, after as many that are not timed.
        seed: Of texts and queries.
    """
    rows = [_row(size, queries, seed) for size in sizes]
    for smaller, larger in pairwise(rows):
        steps = log(_figure(larger, "passages") / _figure(smaller, "passages"))
        for name, of in (("growth", "ms_p95"), ("cpu_growth", "cpu_ms_p95")):
            larger[name] = log(_figure(larger, of) / _figure(smaller, of)) / steps
    return Report(
        benchmark="speed cache", settings={"sizes": list(sizes), "queries": queries, "k": _K}, seed=seed, rows=rows
    )


def _row(size: int, queries: int, seed: int) -> Row:
    with tempfile.TemporaryDirectory() as place, PageStore(Path(place)) as store:
        began = time.perf_counter()
        for page in _pages(size, seed):
            store.put(page)
        stored = time.perf_counter()
        rooms = Rooms(store, HashEncoder())
        rooms.catch_up(None)
        indexed = time.perf_counter()
        try:
            times = asyncio.run(_asked(CacheTier(store, rooms), queries, seed))
        finally:
            rooms.close()
        megabytes = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file()) / 1e6
    return {
        "system": "cache",
        "case": "nomination",
        "passages": size,
        "n": len(times),
        **{
            f"{name}_p{percent}": float(np.quantile(times[:, column], percent / 100))
            for column, name in enumerate(("ms", "cpu_ms"))
            for percent in (50, 95)
        },
        "growth": None,
        "cpu_growth": None,
        "store_seconds": stored - began,
        "index_seconds": indexed - stored,
        "megabytes": megabytes,
    }


async def _asked(tier: CacheTier, queries: int, seed: int) -> NDArray[np.float64]:
    """Milliseconds of each query, shape (queries, 2): on the clock, of the processor. As many before warm up."""
    times: list[tuple[float, float]] = []
    for query in write_queries(2 * queries, seed=seed):
        began, busy = time.perf_counter(), time.process_time()
        await tier.retrieve(Request(query=query, question=query, k=_K))
        times.append((time.perf_counter() - began, time.process_time() - busy))
    return np.array(times[queries:]) * 1e3


def _pages(size: int, seed: int) -> Iterator[StoredPage]:
    passages = write_passages(size, seed=seed)
    number, now = 0, time.time()
    while some := list(islice(passages, PAGE_PASSAGES)):
        key = f"http://site-{number % 50}.example/{number}"
        number += 1
        yield StoredPage(
            tenant=None,
            key=key,
            final_url=key,
            page=Page(url=key, text=" ".join(one.text for one in some)),
            passages=tuple(Passage(text=one.text, source_id=key, url=key) for one in some),
            exchange=Exchange(
                status=200,
                headers={"cache-control": "max-age=1000000"},
                request_headers={},
                requested_at=now,
                received_at=now,
            ),
            content_type="text/html",
            content=str(number),
            seconds=0.1,
        )


def _figure(row: Row, name: str) -> float:
    value = row[name]
    assert isinstance(value, int | float)  # noqa: S101  rows of this module
    return float(value)
