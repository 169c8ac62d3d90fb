"""Blocking work runs in worker threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from retrieval.compute import in_worker


def test_the_work_runs_in_another_thread() -> None:
    """L14: nothing that blocks runs on the event loop's thread."""
    worker = asyncio.run(in_worker(threading.current_thread))
    assert worker is not threading.current_thread()
    assert worker.name.startswith("sufficit-compute")


def test_arguments_results_and_errors_pass_through() -> None:
    def divide(a: int, *, by: int) -> float:
        return a / by

    assert asyncio.run(in_worker(divide, 6, by=3)) == 2.0
    with pytest.raises(ZeroDivisionError):
        asyncio.run(in_worker(divide, 6, by=0))


def test_the_loop_goes_on_while_the_work_blocks() -> None:
    """A thread that waits for the loop would hang for ever if the loop were blocked by it."""

    async def both() -> bool:
        signal = threading.Event()
        waiting = asyncio.create_task(in_worker(signal.wait, 10.0))
        await asyncio.sleep(0)
        signal.set()
        return await waiting

    assert asyncio.run(both())


def test_a_cancelled_caller_does_not_wait_for_its_thread() -> None:
    """L13: a running call is abandoned; the caller gets its CancelledError while the thread still works."""

    async def cancel() -> bool:
        release, started = threading.Event(), threading.Event()

        def work() -> None:
            started.set()
            release.wait(10.0)

        task = asyncio.create_task(in_worker(work))
        await in_worker(started.wait, 10.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        still_working = not release.is_set()
        release.set()
        return still_working

    assert asyncio.run(cancel())
