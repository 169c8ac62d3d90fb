"""Many searches: each counted once, resumable, the same whenever they are repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from agent import SearchResult
from benchmarks.datasets import Question
from benchmarks.errors import RunFileError
from benchmarks.outcome import Failure, Outcome
from benchmarks.runfile import RunFile
from benchmarks.runner import search_all
from benchmarks.summary import rows
from tests.benchmarks.toy import FERRY, LAKE, agent, outcome_of, question, run, searching


def test_every_question_meets_every_policy_whatever_the_concurrency() -> None:
    """Order of completion changes nothing that is reported but times."""
    questions = [question(f"q{n}") for n in range(7)]
    searches = {"eager": searching([LAKE], score=1.0), "patient": searching([LAKE], [FERRY])}
    tables = []
    for concurrency in (1, 3, 50):
        records = run(questions, searches, concurrency=concurrency)
        outcomes = [record for record in records if isinstance(record, Outcome)]
        assert len({outcome.key for outcome in outcomes}) == len(records) == 14
        tables.append(rows(reversed(outcomes), []))
    for table in tables:
        for row in table:
            row.pop("seconds_per_turn")
    assert tables[0] == tables[1] == tables[2]
    assert [row["policy"] for row in tables[0]] == ["eager", "patient"]


def test_a_search_that_raises_is_a_failure_and_the_others_go_on() -> None:
    """Counted by name, in no figure."""

    async def broken(asked: str) -> SearchResult:
        if "second" in asked:
            raise RuntimeError("no room")
        return await agent([LAKE, FERRY]).run(asked)

    questions = [question("q1"), question("q2", question="The second one?"), question("q3")]
    records = run(questions, {"band": broken}, concurrency=2)
    failures = [record for record in records if isinstance(record, Failure)]
    outcomes = [record for record in records if isinstance(record, Outcome)]
    assert [(failure.id, failure.error) for failure in failures] == [("q2", "RuntimeError: no room")]
    (row,) = rows(outcomes, failures)
    assert (row["n"], row["failures"], row["all_support"]) == (2, 1, 1.0)


def test_cancelling_stops_every_search() -> None:
    """Control-C leaves no search behind; what was finished was reported."""
    started = asyncio.Event()

    async def endless(_asked: str) -> SearchResult:
        started.set()
        await asyncio.sleep(3600)
        raise AssertionError

    async def main() -> int:
        records: list[Outcome | Failure] = []
        work = search_all([question(), question("q2")], {"band": endless}, concurrency=2, on_record=records.append)
        task = asyncio.create_task(work)
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(records) + len(asyncio.all_tasks()) - 1

    assert asyncio.run(main()) == 0


def known(file: RunFile) -> Callable[[str, Question], bool]:
    return lambda policy, asked: (policy, asked.dataset, asked.id) in file.outcomes


def test_a_run_taken_up_again_counts_every_question_once(tmp_path: Path) -> None:
    """Case R11: stopped after 7 of 10, killed in the middle of a line, then finished."""
    path = tmp_path / "run.jsonl"
    questions = [question(f"q{n}") for n in range(10)]
    searches = {"threshold": searching([LAKE, FERRY])}
    first = RunFile(path, {"index": "abc"})
    asyncio.run(search_all(questions[:7], searches, concurrency=2, on_record=first.append))
    with path.open("ab") as file:
        file.write(b'{"type":"outcome","policy":"thr')

    second = RunFile(path, {"index": "abc"})
    assert len(second.outcomes) == 7
    records = run(questions, searches, skip=known(second))
    assert len(records) == 3
    for record in records:
        second.append(record)

    third = RunFile(path, {"index": "abc"})
    assert {outcome.id for outcome in third.outcomes.values()} == {asked.id for asked in questions}
    assert third.faults == []
    assert len(path.read_bytes().splitlines()) == 11


def test_a_failed_search_is_tried_again(tmp_path: Path) -> None:
    """Its outcome counts once it has one."""
    path = tmp_path / "run.jsonl"
    asked = question()
    file = RunFile(path, {})
    file.append(Failure(policy="threshold", dataset="toy", split="dev", id="q1", error="OSError: x"))
    again = RunFile(path, {})
    assert not known(again)("threshold", asked)
    again.append(outcome_of(asked, [LAKE, FERRY]))
    assert known(RunFile(path, {}))("threshold", asked)


def test_repeated_and_broken_lines_of_a_run_file_are_named(tmp_path: Path) -> None:
    """Case R11: the first outcome of a question counts; nothing is dropped in silence."""
    path = tmp_path / "run.jsonl"
    file = RunFile(path, {})
    found = outcome_of(question(), [LAKE, FERRY])
    file.append(found)
    file.append(found.model_copy(update={"calls": 99}))
    with path.open("ab") as raw:
        raw.write(b'not json\n{"type":"outcome"}\n')
    again = RunFile(path, {})
    assert [outcome.calls for outcome in again.outcomes.values()] == [found.calls]
    assert [(fault.line, fault.kind) for fault in again.faults] == [
        (3, "repeated_id"),
        (4, "bad_record"),
        (5, "bad_record"),
    ]


def test_another_run_or_another_file_is_refused(tmp_path: Path) -> None:
    """Outcomes of two indexes are never mixed, and no foreign file is overwritten."""
    path = tmp_path / "run.jsonl"
    RunFile(path, {"index": "abc", "k": 5})
    with pytest.raises(RunFileError, match="differs in index"):
        RunFile(path, {"index": "xyz", "k": 5})
    foreign = tmp_path / "notes.txt"
    foreign.write_text("my notes\n")
    with pytest.raises(RunFileError, match="no run file"):
        RunFile(foreign, {})
    assert foreign.read_text() == "my notes\n"
    unfinished = tmp_path / "unfinished.txt"
    unfinished.write_text("my notes without a line end")
    with pytest.raises(RunFileError, match="no run file"):
        RunFile(unfinished, {})
    assert unfinished.read_text() == "my notes without a line end"
    with pytest.raises(RunFileError, match="Cannot use"):
        RunFile(tmp_path, {})
