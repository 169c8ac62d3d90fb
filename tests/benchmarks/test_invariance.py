"""The check that a score depends on question and set alone, on scorers that pass it and on scorers that don't."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.contrasts.file import write_contrasts
from benchmarks.errors import DatasetError, SettingsError
from benchmarks.invariance import InvarianceOptions, draw_jobs, holds, run_invariance, turns_of
from benchmarks.speed.texts import Writer
from tests.benchmarks.sides import world
from tests.scorers import forgetful, words

CASES = ["built up", "from scratch", "at once", "one thread", "two threads", "another process"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("invariance") / "c.jsonl"
    write_contrasts(path, world(10, planted="amber"))
    return path


def test_a_function_of_the_set_passes(file: Path) -> None:
    """Every way of scoring has its row, and nothing differs."""
    report = run_invariance(words, InvarianceOptions(contrasts=(file,), records=30))
    assert [row["case"] for row in report.rows] == CASES
    assert [row["n"] for row in report.rows] == [30, 3, 30, 30, 30, 30]
    assert {row["largest_difference"] for row in report.rows} == {0.0}
    assert {row["decisions_changed"] for row in report.rows} == {None}  # no thresholds belong to this scorer
    assert holds(report)


def test_a_scorer_that_depends_on_its_past_is_found(file: Path) -> None:
    """One whose score moves with every call differs wherever calls come in another order."""
    report = run_invariance(forgetful, InvarianceOptions(contrasts=(file,), records=30))
    rows = {row["case"]: row for row in report.rows}
    assert not holds(report)
    for case in ("built up", "another process"):
        assert not rows[case]["within_bound"]
        assert float(rows[case]["largest_difference"] or 0) >= 1e-4


def test_the_same_seed_draws_the_same_records(file: Path) -> None:
    """Whole groups in the drawn order, each record once, never more than asked for."""
    options = InvarianceOptions(contrasts=(file, file), records=8, seed=1)
    jobs, _ = draw_jobs(options)
    again, _ = draw_jobs(options)
    other, _ = draw_jobs(InvarianceOptions(contrasts=(file,), records=8, seed=2))
    assert [job.key for job in jobs] == [job.key for job in again]
    assert [job.key for job in jobs] != [job.key for job in other]
    assert len({job.key for job in jobs}) == 8
    assert len({job.record[0] for job in jobs}) == 3  # three sides a group


@pytest.mark.parametrize("count", [0, 1, 2, 5, 12])
def test_turns_bring_every_passage_and_repeat_some(count: int) -> None:
    """Another order, in the end the same set."""
    passages = Writer("turns").passages(count)
    turns = list(turns_of(passages, random.Random(1)))  # noqa: S311  no secret
    seen = [passage for turn in turns for passage in turn]
    assert {passage.id for passage in seen} == {passage.id for passage in passages}
    assert len(seen) == count + len(turns)


def test_what_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    """No records, no file, nothing in it."""
    with pytest.raises(SettingsError):
        InvarianceOptions(contrasts=(), records=1)
    with pytest.raises(SettingsError):
        InvarianceOptions(contrasts=(tmp_path,), records=0)
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(DatasetError):
        draw_jobs(InvarianceOptions(contrasts=(tmp_path / "empty.jsonl",)))


@pytest.mark.parametrize(("scorer", "status"), [("words", 0), ("forgetful", 1)])
def test_the_exit_status_tells(file: Path, scorer: str, status: int) -> None:
    """The report is printed either way."""
    options = ["--contrasts", str(file), "--records", "6", "--scorer", f"tests.scorers:{scorer}", "--json"]
    shown = CliRunner().invoke(app, ["invariance", *options])
    assert shown.exit_code == status
    assert json.loads(shown.stdout)["benchmark"] == "invariance"
