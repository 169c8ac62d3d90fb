"""The command from contrasts to rows, with a server that plays the generator and a scorer that is right."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Contrast
from tests.agent.llm.server import ModelServer, says, serving
from tests.benchmarks.gate_world import judged, training

pytestmark = pytest.mark.usefixtures("quick_lanes")
RECORDS = 3


@pytest.fixture(autouse=True)
def generator(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Answers everything with the name of a town."""
    with serving(says("Ravenna")) as server:
        monkeypatch.setenv("SUFFICIT_LLM_URL", server.url)
        monkeypatch.setenv("SUFFICIT_LLM_MODEL", "scripted")
        yield server


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("a folder")
    made = {"--contrasts": judged(4), "--train-contrasts": training(6)}
    found: dict[str, Path] = {}
    for option, contrasts in made.items():
        found[option] = folder / f"{option.strip('-')}.jsonl"
        write_contrasts(found[option], contrasts)
    return found


def run(files: dict[str, Path], folder: Path, *options: str, scorer: str = "three_readers") -> Any:
    given = [part for option, path in files.items() for part in (option, str(path))]
    fixed = ["--generator", "endpoint", "--scorer", f"tests.scorers:{scorer}", "--records", str(RECORDS)]
    fixed += ["--scores", str(folder / "scores"), "--loss", "0.2", "--json"]
    return CliRunner().invoke(app, ["gate", *given, *fixed, *options], env={"COLUMNS": "200", "TERM": "dumb"})


def report(result: Any) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def timeless(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            name: value
            for name, value in row.items()
            if "ms_p" not in name and not name.startswith(("time", "gener"))
        }
        for row in rows
    ]


def test_a_scorer_that_is_right_prevents_every_answer_and_a_run_is_taken_up(
    files: dict[str, Path], tmp_path: Path
) -> None:
    """The generator refuses nothing, so the gate's decisions are the figures. What a killed run wrote is kept:
    the second run asks only for what is missing, and ends with the same figures.
    """
    out = tmp_path / "gate.jsonl"
    whole = report(run(files, tmp_path, "--out", str(out)))
    row = next(row for row in whole["rows"] if row["dataset"] == "all" and row["split"] == "dev")
    assert (row["n_sufficient"], row["n_insufficient"]) == (RECORDS, RECORDS)
    assert (row["answered_insufficient"], row["gated_answered_insufficient"]) == (1.0, 0.0)
    assert (row["refused_sufficient"], row["refusals_added"], row["answers_prevented"]) == (0.0, 0.0, 1.0)
    assert whole["failures"] == []
    lines = out.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + 2 * 2 * RECORDS
    out.write_bytes(b"".join(lines[:-2]) + lines[-1][:20])
    again = report(run(files, tmp_path, "--out", str(out)))
    kept = out.read_bytes().splitlines(keepends=True)
    assert kept[: len(lines) - 2] == lines[:-2]
    assert len(kept) == len(lines)
    assert timeless(again["rows"]) == timeless(whole["rows"])


def test_thresholds_are_those_of_training_and_said(files: dict[str, Path], tmp_path: Path) -> None:
    """The lowest sufficient training score of six at a loss of 0.2; rows of training say what it stops."""
    found = report(run(files, tmp_path))
    assert 0.8 < found["settings"]["thresholds"]["toy, several passages"] < 1.8
    rows = [row for row in found["rows"] if row["split"] == "train"]
    assert [row["dataset"] for row in rows] == ["toy", "all"]
    assert {row["stopped_sufficient"] for row in rows} == {0.0}


def test_the_judged_records_choose_no_threshold(files: dict[str, Path], tmp_path: Path) -> None:
    """Training contrasts that ask a judged question are refused; exit status 2 says why."""
    same = files | {"--train-contrasts": files["--contrasts"]}
    shown = run(same, tmp_path)
    assert shown.exit_code == 2
    assert "chosen on other records" in " ".join(shown.output.replace("│", " ").split())


def test_too_few_training_records_for_a_loss_are_told(files: dict[str, Path], tmp_path: Path) -> None:
    """Six records promise no loss below 1/7: exit status 2 says how many it takes, before any is scored."""
    shown = run(files, tmp_path, "--loss", "0.1")
    assert shown.exit_code == 2
    assert "takes 9 sufficient training records" in " ".join(shown.output.replace("│", " ").split())
    assert not (tmp_path / "scores").exists()


def test_a_record_that_cannot_be_scored_is_a_failure(tmp_path: Path) -> None:
    """It is in no figure, and listed; the others are measured."""
    contrasts: list[Contrast] = judged(RECORDS)
    broken = [spoiled(contrasts[0]), *contrasts[1:]]
    files = {"--contrasts": tmp_path / "c.jsonl", "--train-contrasts": tmp_path / "t.jsonl"}
    write_contrasts(files["--contrasts"], broken)
    write_contrasts(files["--train-contrasts"], training(4))
    found = report(run(files, tmp_path))
    row = next(row for row in found["rows"] if row["dataset"] == "all" and row["split"] == "dev")
    assert row["n_sufficient"] + row["n_insufficient"] == 2 * RECORDS - 1
    assert [failure["kind"] for failure in found["failures"]] == ["raised"]


def spoiled(contrast: Contrast) -> Contrast:
    """Its sufficient side asks what the scorer raises on."""
    first, *others = contrast.sides
    return replace(contrast, sides=(replace(first, question=f"{first.question} raise"), *others))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--loss", "1"], "--loss is a share"),
        (["--loss", "0"], "--loss is a share"),
        (["--records", "0"], "at least 1 record"),
        (["--scorer", "nothing"], "Unknown scorer"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_done(options: list[str], message: str) -> None:
    """Exit status 2, and what was expected."""
    shown = CliRunner().invoke(app, ["gate", *options], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 2
    assert message in shown.output


def test_help_teaches() -> None:
    """Every figure that is printed first is explained, and there are commands to copy."""
    shown = CliRunner().invoke(app, ["gate", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0
    for needed in ("answers_prevented", "time_saved", "--held-out", "python -m benchmarks gate --out gate.jsonl"):
        assert needed in shown.output
