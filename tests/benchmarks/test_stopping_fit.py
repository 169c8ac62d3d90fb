"""The default policy: bars that are better than one for all, judged on other groups, written in one step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.errors import RunFileError, SettingsError
from benchmarks.stopping.climbing import climb
from benchmarks.stopping.fit import FOLDS, StopFitOptions, run_stop_fit
from benchmarks.stopping.runs import Search, reduced
from benchmarks.stopping.tuning import Tuner
from policies.bars import Bars
from policies.shipped import read_shipped, shipped, shipped_json, shipped_scorers
from policies.utility import Utility
from tests.benchmarks.episodes_world import world, write_run

EVEN = Utility(wrong=1.0)


def tuner(count: int = 8, *, signal: float = 4.0) -> Tuner:
    some: list[Search] = [reduced(one) for one in world(count, split="train", signal=signal)]
    return Tuner(some, EVEN)


def test_bars_are_no_worse_than_one_bar_for_all_turns() -> None:
    """What is climbed to beats what it began with, and any threshold that waits as long."""
    on = tuner()
    found = on.merit(climb(on))
    levels = on.on.fine
    flat = [on.merit(Bars(answer_at=(None, None, level), abstain_below=(None, None, level))) for level in levels]
    assert found is not None
    assert found >= max(merit for merit in flat if merit is not None)


def test_a_price_on_refusals_buys_answers() -> None:
    """Where scores say little, fewer searches with support are refused the more a refusal costs."""
    on = tuner(signal=0.5)
    free, dear = climb(on), climb(on, refusal_price=20.0)
    assert on.refused(dear) <= on.refused(free)
    assert on.refused(dear) == 0.0


def test_the_choice_is_written_and_read_back(tmp_path: Path) -> None:
    """Entries of other scorers stay, the old one of this scorer goes; two runs give the same figures."""
    run = write_run(tmp_path / "train.run.jsonl", world(5, split="train"))
    out = tmp_path / "shipped.json"
    other = shipped_json(next(one for name in shipped_scorers() if (one := shipped(name))))
    old = {**other, "scorer": "toy-scorer", "found_on": "the day before"}
    out.write_text(json.dumps({"format": 1, "shipped": [old, other]}))
    report = run_stop_fit(StopFitOptions(runs=(run,), out=out))
    entries = [read_shipped(one) for one in json.loads(out.read_text())["shipped"]]
    assert [one.scorer for one in entries] == [other["scorer"], "toy-scorer"]
    assert entries[1].found_on.startswith("10 searches of toy")
    assert shipped_json(entries[1]).items() <= dict(report.settings).items()
    assert [(row["dataset"], row["n"], row["folds"]) for row in report.rows] == [
        ("toy", 10, FOLDS),
        ("all", 10, FOLDS),
    ]
    again = run_stop_fit(StopFitOptions(runs=(run,), out=tmp_path / "again.json"))
    assert again.rows == report.rows


def test_what_cannot_be_fitted_or_written_is_refused(tmp_path: Path) -> None:
    """No search, scores of two scorers, or a file that is something else: an error before anything is replaced."""
    empty = write_run(tmp_path / "empty.run.jsonl", [])
    with pytest.raises(SettingsError, match="those of 0"):
        run_stop_fit(StopFitOptions(runs=(empty,), out=tmp_path / "out.json"))
    run = write_run(tmp_path / "train.run.jsonl", world(6, split="train"))
    foreign = tmp_path / "notes.json"
    foreign.write_text("[]")
    with pytest.raises(RunFileError, match="no file of shipped policies"):
        run_stop_fit(StopFitOptions(runs=(run,), out=foreign))
    assert foreign.read_text() == "[]"
