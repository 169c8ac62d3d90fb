"""The command line end to end, on a small corpus of our own and the real model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli import app
from agent.config import Settings
from tests.towns import CORPUS, write_corpus

runner = CliRunner()


@pytest.fixture(scope="module")
def index(town_index: Path) -> Path:
    return town_index


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"SUFFICIT_{name.upper()}", raising=False)


def test_index_build_says_what_it_built_and_a_second_time_finds_it_there(index: Path, tmp_path: Path) -> None:
    """`index` is only here to skip the test where the model is missing."""
    arguments = [
        "index",
        "build",
        str(write_corpus(tmp_path / "corpus.jsonl")),
        "--out",
        str(tmp_path / "i"),
        "--json",
    ]
    first, second = runner.invoke(app, arguments), runner.invoke(app, arguments)
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert json.loads(first.stdout)["passages"] == len(CORPUS)
    shown = runner.invoke(app, ["index", "info", str(tmp_path / "i")])
    assert "all-MiniLM-L6-v2" in shown.stdout


def test_ask_json_prints_one_object_and_nothing_else(index: Path) -> None:
    done = runner.invoke(app, ["ask", "In which town was Orla Venn born?", "--index", str(index), "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert result["action"] in {"answer", "abstain"}
    assert result["evidence"]
    assert result["turns"][0]["queries"] == ["In which town was Orla Venn born?"]


def test_ask_shows_a_row_a_turn_then_the_answer_with_citations(index: Path) -> None:
    done = runner.invoke(
        app,
        [
            "ask",
            "In which town was Orla Venn born?",
            "--index",
            str(index),
            "--answer-at=-9",
            "--abstain-below=-99",
        ],
    )
    assert done.exit_code == 0, done.output
    assert "Answer:" in done.stdout
    assert "[1] Orla Venn" in done.stdout
    assert "threshold_met" in done.stdout


def test_ask_says_what_is_missing_and_what_was_not_tried(index: Path) -> None:
    arguments = ["--index", str(index), "--answer-at=99", "--abstain-below=98", "--max-turns", "1"]
    done = runner.invoke(app, ["ask", "Which queen visited Marrowby?", *arguments])
    assert done.exit_code == 0, done.output
    assert "No answer:" in done.stdout
    assert "Missing:" in done.stdout
    assert "Tiers not tried: none" in done.stdout


def test_a_recorded_search_is_shown_as_it_looked(index: Path, tmp_path: Path) -> None:
    file = tmp_path / "search.jsonl"
    question = "In which town was Orla Venn born?"
    asked = runner.invoke(app, ["ask", question, "--index", str(index), "--trace", str(file)])
    shown = runner.invoke(app, ["trace", "show", str(file)])
    assert (asked.exit_code, shown.exit_code) == (0, 0), asked.output + shown.output
    assert shown.stdout == asked.stdout
    with_texts = runner.invoke(app, ["trace", "show", str(file), "--passages"])
    assert CORPUS[0][1] in " ".join(with_texts.stdout.split())


def test_score_names_the_gap(tmp_path: Path) -> None:
    """The part of the question that no passage covers."""
    file = tmp_path / "passages.jsonl"
    file.write_text(json.dumps({"id": "1", "title": CORPUS[0][0], "text": CORPUS[0][1]}) + "\n")
    question = "Which volcano erupted near the birthplace of Orla Venn?"
    done = runner.invoke(app, ["score", "--question", question, "--passages", str(file), "--json"])
    assert done.exit_code == 0, done.output
    scored = json.loads(done.stdout)
    assert scored["passages"] == 1
    assert any("volcano" in gap["text"] for gap in scored["gaps"])
    assert all(question[gap["start"] : gap["end"]] == gap["text"] for gap in scored["gaps"])


def test_score_tells_log_odds_on_demand(tmp_path: Path) -> None:
    """The score that compares questions, called by its name; gaps are the same."""
    file = tmp_path / "passages.jsonl"
    file.write_text(json.dumps({"id": "1", "title": CORPUS[0][0], "text": CORPUS[0][1]}) + "\n")
    command = ["score", "--question", "Where was Orla Venn born?", "--passages", str(file)]
    ranked, odds = (runner.invoke(app, [*command, *more, "--json"]) for more in ([], ["--odds"]))
    assert odds.exit_code == 0, odds.output
    first, second = json.loads(ranked.stdout), json.loads(odds.stdout)
    assert first["score"] != second["score"]
    assert first["gaps"] == second["gaps"]
    told = runner.invoke(app, [*command, "--odds"]).stdout.splitlines()[0]
    assert told == f"log-odds  {second['score']:.3f}"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["ask", "q"], 2, "No index is named"),
        (["ask", "q", "--index", "nowhere"], 1, "nowhere"),
        (["ask", " ", "--index", "{index}"], 2, "question is empty"),
        (["ask", "q", "--index", "{index}", "--policy", "hope"], 2, "Unknown policy 'hope'"),
        (["ask", "q", "--index", "{index}", "--k", "0"], 2, "'k'"),
        (["ask"], 2, "Missing argument"),
        (["index", "build", "nowhere.jsonl", "--out", "x"], 1, "nowhere.jsonl"),
        (["index", "info", "nowhere"], 1, "nowhere"),
        (["trace", "show", "nowhere"], 1, "Cannot read the trace"),
        (["score", "--question", "q", "--passages", "nowhere.jsonl"], 1, "Cannot read nowhere.jsonl"),
        (["score", "--question", "q", "--passages", "."], 1, "Is a directory"),
    ],
)
def test_a_fault_is_one_message_on_stderr_and_a_status(
    index: Path, arguments: list[str], status: int, message: str
) -> None:
    done = runner.invoke(app, [argument.replace("{index}", str(index)) for argument in arguments])
    assert done.exit_code == status, done.output
    assert done.stdout == ""
    assert message in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


def test_doctor_looks_at_every_part_and_fails_when_one_is_bad(index: Path) -> None:
    well = runner.invoke(app, ["doctor", "--index", str(index), "--json"])
    assert well.exit_code == 0, well.output
    assert {"model", "profile", "index"} <= {finding["part"] for finding in json.loads(well.stdout)["findings"]}
    ill = runner.invoke(app, ["doctor", "--index", "nowhere"])
    assert ill.exit_code == 1
    assert "BAD  index" in ill.stdout


@pytest.mark.parametrize("command", [[], ["ask"], ["index", "build"], ["score"], ["trace", "show"], ["doctor"]])
def test_help_teaches_with_an_example(command: list[str]) -> None:
    shown = runner.invoke(app, [*command, "--help"])
    assert shown.exit_code == 0
    assert "sufficit " in shown.stdout
    assert "Example" in shown.stdout or not command


def test_an_interrupt_ends_with_130(index: Path, tmp_path: Path) -> None:
    """Ctrl-C during a search: status 130, no traceback, the trace stays readable."""
    trace = tmp_path / "interrupted.jsonl"
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may start its jobs without it
        "from retrieval.index import LocalIndex\n"
        "slow = LocalIndex.warm\n"
        "LocalIndex.warm = lambda self: (slow(self), print('warm', file=sys.stderr, flush=True), time.sleep(60))\n"
        "from agent.cli import main\n"
        "main()\n"
    )
    arguments = ["ask", "Who was Orla Venn?", "--index", str(index), "--trace", str(trace)]
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "warm" not in (process.stderr.readline()):
            assert process.poll() is None
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
