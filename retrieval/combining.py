"""Threads that ask for the same kind of work at the same time share one call of it: a combining queue.

Libraries for this (`batched`, `async-batcher`) keep a thread or a loop of their own and wait some milliseconds for
company. Here whoever asks does the work, so nobody waits for a clock and a lone caller pays for a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Combiner(Generic[K, V]):
    """Turns calls of many threads into few calls of `run`. Thread-safe.

    A caller that finds a lane free takes everything that waits, its own and others' keys, and runs it; the others
    wait. A key that several callers want at the same time is run once. Nothing is remembered.

    Args:
        run: One value a key, in order. Called in callers' threads, with distinct keys.
        lanes: How many calls of `run` may be under way; asked again each time.
    """

    def __init__(self, run: Callable[[Sequence[K]], Sequence[V]], *, lanes: Callable[[], int]) -> None:
        self._run = run
        self._lanes = lanes
        self._changed = threading.Condition()
        self._waiting: dict[K, Future[V]] = {}
        self._running: dict[K, Future[V]] = {}
        self._busy = 0

    def __call__(self, keys: Sequence[K]) -> list[V]:
        """The keys' values, in order.

        Raises:
            Exception: what `run` raised for one of these keys alone; errors of other callers' keys stay theirs.
        """
        with self._changed:
            wanted = {key: self._enlist(key) for key in keys}
        while batch := self._next(wanted):
            self._work(batch)
        return [wanted[key].result() for key in keys]

    def _enlist(self, key: K) -> Future[V]:
        found = self._running.get(key) or self._waiting.get(key)
        return found or self._waiting.setdefault(key, Future())

    def _next(self, wanted: Mapping[K, Future[V]]) -> dict[K, Future[V]]:
        """Everything that waits, as soon as this thread may run it; nothing when all of `wanted` is there."""

        def there() -> bool:
            return all(future.done() for future in wanted.values())

        def may_run() -> bool:
            return not self._waiting.keys().isdisjoint(wanted) and self._busy < self._lanes()

        with self._changed:
            self._changed.wait_for(lambda: there() or may_run())
            if there():
                return {}
            batch, self._waiting = self._waiting, {}
            self._running |= batch
            self._busy += 1
            return batch

    def _work(self, batch: Mapping[K, Future[V]]) -> None:
        try:
            self._answer(batch)
        finally:
            with self._changed:
                self._busy -= 1
                for key, future in batch.items():
                    del self._running[key]
                    if not future.done():  # this thread was interrupted: whoever wants the key runs it again
                        self._waiting[key] = future
                self._changed.notify_all()

    def _answer(self, batch: Mapping[K, Future[V]]) -> None:
        try:
            values = list(zip(batch.values(), self._run(list(batch)), strict=True))
        except Exception as error:  # noqa: BLE001  handed to whoever asked
            if len(batch) == 1:
                next(iter(batch.values())).set_exception(error)
                return
            for key, future in batch.items():
                self._answer({key: future})
            return
        for future, value in values:
            future.set_result(value)
