"""Work in processes of its own: several at once, a deadline for each job, and no difference in any figure.

A job that hangs cannot be stopped inside its own process, so every lane is a process that can be killed (pebble).
Jobs that share what was computed belong to one batch: a batch stays in one lane.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pebble import ProcessExpired, ProcessPool

from .errors import BenchmarkError, SettingsError

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

J = TypeVar("J")
R = TypeVar("R")

LOAD_SECONDS = 900.0
"""A lane may load its models for so long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A job without a result."""

    kind: Literal["raised", "hung", "died", "score_invalid"]
    detail: str
    """For people: the error, the deadline, the exit status."""


class Lanes(Generic[J, R]):
    """Runs `make()(job)` for every job.

    Args:
        make: Called once in each process; returns the function that does a job. Both must be picklable by name.
        processes: Lanes, at least 1. They change times, never results: each computes with one thread.
        seconds: Deadline of one job; its process is killed and another one goes on.
        what: Whose processes they are, for messages.

    Raises:
        SettingsError: less than one process, or a deadline that is not positive.
    """

    def __init__(
        self,
        make: Callable[[], Callable[[J], R | Lost]],
        *,
        processes: int,
        seconds: float,
        what: str = "the work",
    ) -> None:
        if processes < 1 or not seconds > 0:
            raise SettingsError(f"Expected at least 1 process and a deadline above 0, got {processes}, {seconds}.")
        self._make, self._processes, self._seconds, self._what = make, processes, seconds, what
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._problem: BaseException | None = None

    def run(self, batches: Iterable[Sequence[J]], on_done: Callable[[J, R | Lost], None]) -> None:
        """Do all jobs; blocks. `on_done` is called for each as it ends, by one thread at a time.

        Raises:
            BenchmarkError: `make` failed, or took longer than `LOAD_SECONDS`.
            KeyboardInterrupt: passed on; what was done has been handed over.
        """
        work = iter(batches)
        threads = [
            threading.Thread(target=self._lane, args=(work, on_done), name=f"lane-{number}", daemon=True)
            for number in range(self._processes)
        ]
        with _one_thread_each():
            for thread in threads:
                thread.start()
            try:
                for thread in threads:
                    while thread.is_alive():
                        thread.join(0.2)
            finally:
                self._stop.set()
                for thread in threads:
                    thread.join()
        if self._problem is not None:
            raise self._problem

    def _lane(self, work: Iterator[Sequence[J]], on_done: Callable[[J, R | Lost], None]) -> None:
        context = multiprocessing.get_context("spawn")
        pool: ProcessPool | None = None
        try:
            while batch := self._next(work):
                for job in batch:
                    if self._stop.is_set():
                        return
                    if pool is None:
                        pool = ProcessPool(max_workers=1, context=context)
                        self._load(pool)
                    result = self._do(pool, job)
                    if isinstance(result, Lost) and result.kind in {"hung", "died"}:
                        _close(pool)
                        pool = None
                    with self._lock:
                        on_done(job, result)
        except _StoppedError:
            pass
        except BaseException as error:  # noqa: BLE001  handed to the thread that called `run`
            self._problem = self._problem or error
            self._stop.set()
        finally:
            if pool is not None:
                _close(pool)

    def _next(self, work: Iterator[Sequence[J]]) -> Sequence[J] | None:
        with self._lock:
            return None if self._stop.is_set() else next((batch for batch in work if batch), None)

    def _load(self, pool: ProcessPool) -> None:
        outcome = self._wait(pool, _load, (self._make,), LOAD_SECONDS)
        if isinstance(outcome, Lost):
            raise BenchmarkError(f"A process for {self._what} could not begin: {outcome.detail}")

    def _do(self, pool: ProcessPool, job: J) -> R | Lost:
        result: R | Lost = self._wait(pool, _do, (job,), self._seconds)
        return result

    def _wait(self, pool: ProcessPool, function: Callable[..., Any], args: tuple[Any, ...], seconds: float) -> Any:  # noqa: ANN401
        future = pool.schedule(function, args=args, timeout=seconds)
        while True:
            try:
                return future.result(timeout=0.2)
            except TimeoutError:
                if future.done():
                    return Lost(kind="hung", detail=f"No result after {seconds:g} s.")
                if self._stop.is_set():
                    raise _StoppedError from None
            except ProcessExpired as error:
                return Lost(kind="died", detail=f"The process ended with status {error.exitcode}.")


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that begin meanwhile compute with one thread: how many share a product shows in its last bits."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _StoppedError(Exception):
    """Another lane failed, or the run was interrupted."""


def _close(pool: ProcessPool) -> None:
    pool.stop()  # type: ignore[no-untyped-call]
    pool.join()


_WORK: list[Callable[[Any], Any]] = []
"""In a lane's process: the function that does a job."""


def _load(make: Callable[[], Callable[[Any], Any]]) -> Lost | None:
    # stdout carries the report; a library that prints in here must not reach it
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    made = _guarded(make)
    if isinstance(made, Lost):
        return made
    _WORK.append(made)
    return None


def _do(job: Any) -> Any:  # noqa: ANN401
    return _guarded(_WORK[0], job)


def _guarded(function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401
    """The result, or the error as text: not every error survives the way to another process."""
    try:
        return function(*args)
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever a scorer raises is its failure here
        return Lost(kind="raised", detail=f"{type(error).__name__}: {error}")
