"""The command itself: what it prints, and that a killed run is taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.contrasts.file import write_contrasts
from tests.benchmarks.sides import world

pytestmark = pytest.mark.usefixtures("quick_lanes")
ROOT = Path(__file__).resolve().parents[2]
SIDES = 36


@pytest.fixture(scope="module")
def contrasts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("a folder") / "c.jsonl"
    write_contrasts(file, world(SIDES // 3, planted="amber", asked="amber", added=5))
    return file


def command(contrasts: Path, scores: Path, *, processes: int) -> list[str]:
    options = ["--contrasts", str(contrasts), "--scorer", "tests.scorers:slow_words", "--scores", str(scores)]
    return ["pairwise", *options, "--processes", str(processes), "--json"]


def finished(contrasts: Path, scores: Path, *, processes: int) -> dict[str, Any]:
    done = CliRunner().invoke(app, command(contrasts, scores, processes=processes))
    assert done.exit_code == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def figures(report: dict[str, Any]) -> list[dict[str, Any]]:
    volatile = ("ms_p50", "ms_p95", "records_per_second")
    return [{name: value for name, value in row.items() if name not in volatile} for row in report["rows"]]


def scored(scores: Path) -> list[str]:
    """Keys of the whole lines."""
    lines = [line for file in scores.glob("*.jsonl") for line in file.read_bytes().splitlines(keepends=True)]
    return [json.loads(line)["key"] for line in lines if line.endswith(b"\n")]


def test_a_killed_run_goes_on_and_ends_with_the_same_digits(contrasts: Path, tmp_path: Path) -> None:
    """A kill -9 loses at most the records in flight; its processes end with it; nothing is scored twice."""
    scores = tmp_path / "killed"
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks", *command(contrasts, scores, processes=2)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while len(scored(scores)) < 6:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for_silence(process.pid)
    before = scored(scores)
    assert 6 <= len(before) < SIDES
    again = finished(contrasts, scores, processes=1)
    after = scored(scores)
    assert after[: len(before)] == before
    assert len(after) == len(set(after)) == SIDES
    assert figures(again) == figures(finished(contrasts, tmp_path / "whole", processes=2))


def _wait_for_silence(group: int) -> None:
    """Until no process of the killed run is left."""
    for _ in range(1000):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    pytest.fail("processes of a killed run live on")


def test_help_teaches() -> None:
    """Every option says what it is for, and there are commands to copy."""
    shown = CliRunner().invoke(app, ["pairwise", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0
    for needed in ("--held-out", "--overlap-with", "minilm-cosine", "python -m benchmarks pairwise --contrasts"):
        assert needed in shown.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--contrasts", "x.jsonl", "--weights", "crag"], "NAME=FOLDER"),
        (["--contrasts", "x.jsonl", "--weights", "crag=folder"], "Known: MoritzLaurer"),
        (["--contrasts", "x.jsonl", "--html", "./x.jsonl"], "is read, or written already"),
        (["--contrasts", "x.jsonl", "--html", "y", "--svg", "y"], "is read, or written already"),
        (["--contrasts", "x.jsonl", "--minutes", "0"], "--minutes above 0"),
        (["--contrasts", "x.jsonl", "--added", "a,b"], "numbers separated by commas"),
        (["--contrasts", "x.jsonl", "--construction", "swap"], "Unknown construction"),
        (["--contrasts", "x.jsonl", "--scorer", "nothing"], "Unknown scorer"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(options: list[str], message: str) -> None:
    """Exit status 2, and what was expected."""
    shown = CliRunner().invoke(app, ["pairwise", *options], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 2
    assert message in shown.output


def test_without_files_the_default_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is absent, the message says what to give; another folder is read like it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shown = CliRunner().invoke(app, ["pairwise"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 2
    assert "--contrasts FILES" in shown.output
    shown = CliRunner().invoke(app, ["pairwise", "--data", str(tmp_path), "--scorer", ""])
    assert shown.exit_code == 1
    assert "hotpotqa_distractor.dev.jsonl.gz" in shown.output


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """Exit status 1 and the path; no traceback."""
    options = ["--contrasts", str(tmp_path / "absent.jsonl"), "--scorer", ""]
    shown = CliRunner().invoke(app, ["pairwise", *options])
    assert shown.exit_code == 1
    assert "absent.jsonl" in shown.output
    assert "Traceback" not in shown.output


def test_people_see_tables(contrasts: Path) -> None:
    """Without --json the same figures stand in tables, cues under additions too."""
    options = ["--contrasts", str(contrasts), "--scorer", ""]
    shown = CliRunner().invoke(app, ["pairwise", *options], env={"COLUMNS": "160", "TERM": "dumb"})
    assert shown.exit_code == 0, shown.output
    for needed in ("cue-min-idf", "shared additions", "cue-size", f"{SIDES // 3 * 2} pairs"):
        assert needed in shown.output
