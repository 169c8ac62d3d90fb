"""`python -m benchmarks`: what it prints, where, and how it exits."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks import quick
from benchmarks.cli import app
from benchmarks.errors import RunFileError
from benchmarks.output import Report

RUNNER = CliRunner()


def answering(report: Report | BaseException, monkeypatch: pytest.MonkeyPatch) -> list[quick.QuickOptions]:
    """Put this in the place of the run; returns the options that it was given."""
    seen: list[quick.QuickOptions] = []

    def run_quick(options: quick.QuickOptions) -> Report:
        seen.append(options)
        print("a library talks")  # noqa: T201
        if isinstance(report, BaseException):
            raise report
        return report

    monkeypatch.setattr(quick, "run_quick", run_quick)
    return seen


def test_help_teaches_with_examples_and_loads_no_model_library() -> None:
    """`--help` is instant: it imports neither torch nor numpy nor the loop."""
    commands = [[], ["--help"], ["quick", "--help"], ["heartbeat", "--help"]]
    code = (
        "import sys\n"
        "from benchmarks.cli import main\n"
        f"for arguments in {commands}:\n"
        "    sys.argv[1:] = arguments\n"
        "    try:\n        main()\n"
        "    except SystemExit:\n        print('next command')\n"
        "    assert not {'torch', 'numpy', 'agent', 'transformers'} & set(sys.modules), 'heavy import'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    shown = done.stdout.split("next command")[:-1]
    assert done.stderr == ""
    assert len(shown) == len(commands)
    assert all("python -m benchmarks" in one for one in shown)


def test_json_is_all_of_stdout_even_if_a_library_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    """One object on stdout; what a library prints lands on stderr."""
    answering(Report(benchmark="quick", settings={}, seed=3, rows=[{"n": 0, "f1": None}]), monkeypatch)
    done = RUNNER.invoke(app, ["quick", "--json", "--seed", "3"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["rows"] == [{"n": 0, "f1": None}]
    assert "a library talks" in done.stderr


def test_people_get_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --json."""
    answering(Report(benchmark="quick", settings={}, seed=0, rows=[{"n": 7, "f1": 0.25}]), monkeypatch)
    done = RUNNER.invoke(app, ["quick"])
    assert done.exit_code == 0
    assert "0.250" in done.stdout


def test_options_reach_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Policies and files may be repeated; a policy named twice runs once."""
    seen = answering(Report(benchmark="quick", settings={}, seed=0, rows=[]), monkeypatch)
    arguments = "--questions a --questions b --corpus c --policy fixed-2 --policy band --policy fixed-2 --limit 5"
    RUNNER.invoke(app, ["quick", *arguments.split(), "--out", str(tmp_path / "run.jsonl"), "--concurrency", "2"])
    RUNNER.invoke(app, ["quick"])
    assert seen == [
        quick.QuickOptions(
            questions=(Path("a"), Path("b")),
            corpus=Path("c"),
            policies=("fixed-2", "band"),
            limit=5,
            out=tmp_path / "run.jsonl",
            concurrency=2,
        ),
        quick.QuickOptions(),
    ]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["quick", "--questions", "a"], "--corpus"),
        (["quick", "--corpus", "a"], "--questions"),
        (["quick", "--questions", "a", "--corpus", "b", "--index", "c"], "--index"),
        (["quick", "--limit", "0"], "--limit"),
        (["quick", "--concurrency", "0"], "--concurrency"),
        (["nothing"], "nothing"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_to_change(arguments: list[str], named: str) -> None:
    """Nothing runs, nothing is on stdout."""
    done = RUNNER.invoke(app, arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert named in done.stderr


def test_a_failure_exits_with_1_and_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """An expected error is one line, no traceback."""
    answering(RunFileError("run.jsonl belongs to another run"), monkeypatch)
    done = RUNNER.invoke(app, ["quick", "--json"])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "error: run.jsonl belongs to another run"


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C; the run file holds what was finished."""
    answering(KeyboardInterrupt(), monkeypatch)
    done = RUNNER.invoke(app, ["quick", "--json"])
    assert (done.exit_code, done.stdout) == (130, "")


def test_a_fault_of_ours_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error must not look like an expected one."""
    answering(ZeroDivisionError("ours"), monkeypatch)
    done = RUNNER.invoke(app, ["quick"])
    assert isinstance(done.exception, ZeroDivisionError)
