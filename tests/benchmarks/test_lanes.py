"""Work in processes of their own: every job has an outcome, whatever the work does."""

from __future__ import annotations

import os
import threading

import pytest

from benchmarks.errors import BenchmarkError, SettingsError
from benchmarks.lanes import Lanes, Lost
from tests.scorers import make_double, make_nothing, make_process_of, make_threads


def run(batches: list[list[int]], *, processes: int, seconds: float = 30.0) -> dict[int, int | Lost]:
    done: dict[int, int | Lost] = {}
    lanes: Lanes[int, int] = Lanes(make_double, processes=processes, seconds=seconds)
    lanes.run(batches, done.__setitem__)
    return done


def test_every_job_ends_whether_it_raises_hangs_or_kills_its_process() -> None:
    """A broken job is told by its kind, and the others of its lane are done all the same."""
    done = run([[1, 13, 2], [14, 3], [15, 4], []], processes=2, seconds=2.0)
    assert {number: done[number] for number in (1, 2, 3, 4)} == {1: 2, 2: 4, 3: 6, 4: 8}
    lost = {number: one for number, one in done.items() if isinstance(one, Lost)}
    assert {number: one.kind for number, one in lost.items()} == {13: "raised", 14: "hung", 15: "died"}
    assert lost[13].detail == "ValueError: thirteen"
    assert "2 s" in lost[14].detail
    assert "status 3" in lost[15].detail


def test_an_invalid_result_costs_no_process() -> None:
    """Only what hung or died is begun again: loading the models for every invalid score would take hours."""
    where: list[str] = []

    def keep(_: int, result: str | Lost) -> None:
        where.append(result.detail if isinstance(result, Lost) else result)

    lanes: Lanes[int, str] = Lanes(make_process_of, processes=1, seconds=30.0)
    lanes.run([[1, 2, 3]], keep)
    assert len(where) == 3
    assert len(set(where)) == 1


def test_work_that_cannot_begin_is_one_error_with_its_cause() -> None:
    """A missing model ends the run at once instead of failing every job."""
    lanes: Lanes[int, int] = Lanes(make_nothing, processes=1, seconds=30.0)
    with pytest.raises(BenchmarkError, match="no model here"):
        lanes.run([[1, 2]], lambda job, result: None)


def test_an_error_of_the_caller_stops_all_lanes_and_is_passed_on() -> None:
    """A full disk while results are written must not be swallowed, nor leave processes behind."""

    def refuse(job: int, result: int | Lost) -> None:
        raise OSError("disk full")

    lanes: Lanes[int, int] = Lanes(make_double, processes=1, seconds=30.0)
    with pytest.raises(OSError, match="disk full"):
        lanes.run([[1], [2], [3]], refuse)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("lane-")]


def test_each_process_computes_with_one_thread_and_the_environment_comes_back() -> None:
    """How many threads share a matrix product shows in its last bits: it must not depend on `processes`."""
    before = os.environ.get("OMP_NUM_THREADS")
    found: list[list[str]] = []

    def keep(job: int, result: list[str] | Lost) -> None:
        assert not isinstance(result, Lost)
        found.append(result)

    lanes: Lanes[int, list[str]] = Lanes(make_threads, processes=1, seconds=30.0)
    lanes.run([[1, 2]], keep)
    assert [one[0] for one in found] == ["1", "1"]
    assert {one[1] for one in found} != {str(os.getpid())}
    assert os.environ.get("OMP_NUM_THREADS") == before


@pytest.mark.parametrize(("processes", "seconds"), [(0, 1.0), (1, 0.0), (1, float("nan"))])
def test_settings_that_cannot_work_are_refused(processes: int, seconds: float) -> None:
    """No process or no time: said at once, with the values."""
    with pytest.raises(SettingsError, match=str(processes)):
        Lanes(make_double, processes=processes, seconds=seconds)
