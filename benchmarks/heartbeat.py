"""Does scoring leave the event loop free? Measures the largest gap of a heartbeat beside it (case L14)."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from retrieval import EvidenceSet, Passage
from retrieval.compute import in_worker
from rinse import SufficiencyScorer

from .output import Report, Row

INTERVAL_MS = 10.0
"""Time between two beats of a loop that is free."""
BOUND_MS = 100.0
"""The largest gap that case L14 allows."""
_LONGEST_IDLE_SECONDS = 30.0

_OPENINGS = ("The old", "A wooden", "The northern", "Every second", "This narrow", "The keeper's", "One broken")
_THINGS = ("bridge", "lighthouse", "ferry", "orchard", "quarry", "tunnel", "market hall", "clock tower", "sawmill")
_DEEDS = (
    "was rebuilt by",
    "belongs to",
    "was sold to",
    "stands opposite",
    "was named after",
    "once fed",
    "outlived",
)
_OTHERS = (
    "the harbour board",
    "a family of glaziers",
    "the upper village",
    "its second architect",
    "the salt works",
)
_TIMES = (
    "in the dry year",
    "before the railway came",
    "after the long strike",
    "in late autumn",
    "two winters ago",
)
QUESTION = "Which family owned the lighthouse that stands opposite the market hall?"


def toy_passages(count: int, *, seed: int) -> tuple[Passage, ...]:
    """`count` distinct passages of about 60 words, put together from a small vocabulary of our own."""
    generator = random.Random(seed)  # noqa: S311  no secret: the same seed must give the same text
    parts = (_OPENINGS, _THINGS, _DEEDS, _OTHERS, _TIMES)
    return tuple(
        Passage(
            title=f"Entry {number}",
            text=f"Entry {number}. "
            + " ".join(" ".join(generator.choice(part) for part in parts) + "." for _ in range(6)),
        )
        for number in range(count)
    )


def run_heartbeat(scorer: Callable[[], SufficiencyScorer], *, passages: int = 200, seed: int = 0) -> Report:
    """Measure the first use of a scorer, a fresh scorer on `passages` passages, and then the loop alone.

    The loop alone runs as long as the scorer did: its gaps are the machine's own. Where they come near the bound,
    other programs keep the cores busy and the figures say nothing about scoring.

    Args:
        scorer: Makes a scorer that remembers nothing; the backbone may be shared.
        passages: How many are scored at once.
        seed: Of the passages' text.
    """
    return asyncio.run(_measure(scorer, toy_passages(passages, seed=seed), seed))


async def _measure(make_scorer: Callable[[], SufficiencyScorer], passages: Sequence[Passage], seed: int) -> Report:
    one, all_of_them = EvidenceSet.of(passages[:1]), EvidenceSet.of(passages)
    # Models are loaded here: libraries initialise themselves while they hold the interpreter's lock.
    first = await gaps_beside(in_worker(lambda: make_scorer().score(QUESTION, one)))
    scoring = await gaps_beside(in_worker(make_scorer().score, QUESTION, all_of_them))
    idle = await gaps_beside(asyncio.sleep(min(sum(gap.ms for gap in scoring) / 1000, _LONGEST_IDLE_SECONDS)))
    rows = [
        _row("idle", 0, idle),
        _row("first use", 1, first),
        _row("L14", len(passages), scoring),
    ]
    settings = {"interval_ms": INTERVAL_MS, "bound_ms": BOUND_MS, "passages": len(passages)}
    return Report(benchmark="heartbeat", settings=settings, seed=seed, rows=rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The time between two beats."""

    ms: float
    """Wall clock."""
    cpu_ms: float
    """What this process computed in it, all threads together. Where it is much less, the process had to wait for
    a core: other programs made the gap."""


async def gaps_beside(work: Awaitable[object]) -> list[Gap]:
    """The gaps of a task that sleeps for `INTERVAL_MS`, again and again, while `work` is done."""
    gaps: list[Gap] = []

    async def beat() -> None:
        before, before_cpu = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(INTERVAL_MS / 1000)
            now, now_cpu = time.perf_counter(), time.process_time()
            gaps.append(Gap(ms=(now - before) * 1000, cpu_ms=(now_cpu - before_cpu) * 1000))
            before, before_cpu = now, now_cpu

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0)  # the first beat begins before the work does
    try:
        await work
        await asyncio.sleep(INTERVAL_MS / 1000)  # a gap that is open at the end of the work counts
    finally:
        heart.cancel()
    return gaps


def _row(case: str, passages: int, gaps: Sequence[Gap]) -> Row:
    wall = [gap.ms for gap in gaps]
    return {
        "case": case,
        "passages": passages,
        "n": len(gaps),
        "seconds": sum(wall) / 1000,
        "gap_ms_p50": float(np.quantile(wall, 0.5)),
        "gap_ms_p99": float(np.quantile(wall, 0.99)),
        "gap_ms_max": max(wall),
        "busy_gap_ms_max": max(min(gap.ms, gap.cpu_ms) for gap in gaps),
        "within_bound": max(wall) < BOUND_MS,
    }
