"""The heartbeat that shows whether the event loop stays free (case L14)."""

from __future__ import annotations

import asyncio
import threading
import time

from benchmarks.heartbeat import gaps_beside, run_heartbeat, toy_passages
from tests.fakes import ScriptedScorer


def test_a_blocked_loop_is_seen() -> None:
    """Work on the loop itself stops the heart for as long as it takes; the gap is not lost at its end."""

    async def blocks() -> None:
        time.sleep(0.2)  # noqa: ASYNC251  what must be seen

    gaps = asyncio.run(gaps_beside(blocks()))
    assert max(gap.ms for gap in gaps) >= 200


def test_computing_is_told_from_waiting_for_a_core() -> None:
    """A loop that computes is busy, one that only waits is not, whatever the wall clock says."""

    async def computes() -> None:
        end = time.process_time() + 0.1
        while time.process_time() < end:
            sum(range(1000))

    async def waits() -> None:
        time.sleep(0.2)  # noqa: ASYNC251  stands for a machine that gives the core to others

    assert max(gap.cpu_ms for gap in asyncio.run(gaps_beside(computes()))) >= 100
    assert max(gap.ms - gap.cpu_ms for gap in asyncio.run(gaps_beside(waits()))) >= 100


def test_a_failure_of_the_work_is_not_hidden() -> None:
    """And the heart stops with it."""

    async def fails() -> None:
        raise ValueError("no score")

    async def main() -> tuple[str, int]:
        try:
            await gaps_beside(fails())
        except ValueError as error:
            await asyncio.sleep(0)
            return str(error), len(asyncio.all_tasks())
        return "", 0

    assert asyncio.run(main()) == ("no score", 1)


def test_passages_are_ours_distinct_and_seeded() -> None:
    """The same seed gives the same text; every passage is another one, so that none is remembered."""
    some = toy_passages(200, seed=1)
    assert some == toy_passages(200, seed=1)
    assert some != toy_passages(200, seed=2)
    assert len({passage.id for passage in some}) == 200


def test_the_report_has_an_idle_row_a_first_use_and_the_case() -> None:
    """Each scorer is fresh, scores off the loop's thread, and gets all passages once."""
    made: list[ScriptedScorer] = []

    def scorer() -> ScriptedScorer:
        made.append(ScriptedScorer(seconds=0.05))
        return made[-1]

    report = run_heartbeat(scorer, passages=20, seed=5)
    assert [(row["case"], row["passages"]) for row in report.rows] == [("idle", 0), ("first use", 1), ("L14", 20)]
    assert [len(call) for one in made for call in one.calls] == [1, 20]
    assert threading.current_thread().name not in {name for one in made for name in one.threads}
    assert all(row["n"] for row in report.rows)
