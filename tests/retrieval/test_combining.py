"""Many threads, few calls: who works, who waits, and whose error it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.combining import Combiner

SECONDS = 20.0
"""A test that waits longer hangs."""


class Kitchen:
    """Work that stops at a gate and keeps what it was asked for; a key below 0 raises."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.gate = threading.Event()
        self.entered = threading.Semaphore(0)
        self.worst = 0
        self._inside = 0
        self._lock = threading.Lock()

    def run(self, keys: Sequence[int]) -> list[int]:
        with self._lock:
            self.calls.append(list(keys))
            self._inside += 1
            self.worst = max(self.worst, self._inside)
        self.entered.release()
        try:
            assert self.gate.wait(SECONDS)
            if bad := [key for key in keys if key < 0]:
                raise LookupError(bad)
            return [key * key for key in keys]
        finally:
            with self._lock:
                self._inside -= 1


@pytest.fixture
def kitchen() -> Kitchen:
    return Kitchen()


@pytest.fixture
def ask(kitchen: Kitchen) -> Iterator[Callable[..., Future[list[int]]]]:
    """Asks from a thread of its own and returns when that thread works or waits."""
    combiner = Combiner(kitchen.run, lanes=lambda: 1)
    with ThreadPoolExecutor(8) as pool:

        def submit(*keys: int) -> Future[list[int]]:
            future = pool.submit(combiner, keys)
            while not {*keys} <= {*combiner._waiting, *combiner._running}:
                assert not future.done()
            return future

        yield submit
        kitchen.gate.set()


def test_a_lone_caller_gets_one_call_of_its_keys_in_order(kitchen: Kitchen) -> None:
    """No thread, no timer: the caller works itself; a key that stands twice is run once."""
    kitchen.gate.set()
    combiner = Combiner(kitchen.run, lanes=lambda: 1)
    assert combiner([3, 1, 3]) == [9, 1, 9]
    assert combiner([]) == []
    assert combiner([3]) == [9]
    assert kitchen.calls == [[3, 1], [3]]


def test_who_waits_shares_the_next_call(kitchen: Kitchen, ask: Callable[..., Future[list[int]]]) -> None:
    """Group commit: what came in during a call is run together after it."""
    first = ask(1)
    assert kitchen.entered.acquire(timeout=SECONDS)
    later = [ask(2, 3), ask(4), ask(3, 5)]
    kitchen.gate.set()
    assert first.result(SECONDS) == [1]
    assert [one.result(SECONDS) for one in later] == [[4, 9], [16], [9, 25]]
    assert kitchen.calls == [[1], [2, 3, 4, 5]]


def test_a_key_under_way_is_not_run_again(kitchen: Kitchen, ask: Callable[..., Future[list[int]]]) -> None:
    """Single flight: two searches that found one passage at the same time read it once."""
    first = ask(1, 2)
    assert kitchen.entered.acquire(timeout=SECONDS)
    second = ask(2)
    third = ask(2, 7)
    kitchen.gate.set()
    assert [one.result(SECONDS) for one in (first, second, third)] == [[1, 4], [4], [4, 49]]
    assert kitchen.calls == [[1, 2], [7]]


def test_an_error_reaches_only_those_who_asked_for_its_key(
    kitchen: Kitchen, ask: Callable[..., Future[list[int]]]
) -> None:
    """The keys of a call that failed are run one by one."""
    first = ask(1)
    assert kitchen.entered.acquire(timeout=SECONDS)
    good, bad, both = ask(2), ask(-3), ask(2, -3)
    kitchen.gate.set()
    assert first.result(SECONDS) == [1]
    assert good.result(SECONDS) == [4]
    for one in (bad, both):
        with pytest.raises(LookupError, match=r"\[-3\]"):
            one.result(SECONDS)


def test_too_few_values_are_an_error_of_each_key() -> None:
    """Never another key's value."""
    combiner: Combiner[int, int] = Combiner(lambda _: [], lanes=lambda: 1)
    with pytest.raises(ValueError, match="zip"):
        combiner([1, 2])


def test_a_thread_that_is_interrupted_leaves_its_keys_to_the_others() -> None:
    """KeyboardInterrupt in the thread that works for all: the lane is free again, the others' keys are run."""
    entered, gate = threading.Event(), threading.Event()

    def run(keys: Sequence[int]) -> list[int]:
        if not entered.is_set():
            entered.set()
            assert gate.wait(SECONDS)
            raise KeyboardInterrupt
        return list(keys)

    combiner = Combiner(run, lanes=lambda: 1)
    with ThreadPoolExecutor(2) as pool:
        interrupted = pool.submit(combiner, [1, 2])
        assert entered.wait(SECONDS)
        other = pool.submit(combiner, [2, 3])
        gate.set()
        with pytest.raises(KeyboardInterrupt):
            interrupted.result(SECONDS)
        assert other.result(SECONDS) == [2, 3]


@settings(max_examples=20, deadline=None)
@given(asked=st.lists(st.lists(st.integers(-2, 12), max_size=4), min_size=1, max_size=12), lanes=st.integers(1, 3))
def test_any_calls_from_many_threads_get_their_own_answers(asked: list[list[int]], lanes: int) -> None:
    """Values in order, an error for those with a bad key, never more calls at once than lanes."""
    kitchen = Kitchen()
    kitchen.gate.set()
    combiner = Combiner(kitchen.run, lanes=lambda: lanes)
    with ThreadPoolExecutor(6) as pool:
        futures = [pool.submit(combiner, keys) for keys in asked]
        for keys, future in zip(asked, futures, strict=True):
            if min(keys, default=0) < 0:
                assert isinstance(future.exception(SECONDS), LookupError)
            else:
                assert future.result(SECONDS) == [key * key for key in keys]
    assert kitchen.worst <= lanes
