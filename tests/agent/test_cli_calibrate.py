"""`sufficit calibrate` from the command line to a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from agent.certify import load_certificate
from agent.cli_calibrate import add_calibrate
from policies.calibration import Case
from tests.agent.labelled_world import episodes, gold, write_run, write_traces
from tests.policies.calibration.world import case, pairs

runner = CliRunner()
app = typer.Typer(rich_markup_mode=None)
add_calibrate(app)
app.callback()(lambda: None)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that can be certified at 0.2."""
    return write_run(tmp_path_factory.mktemp("good") / "dev.run", episodes(pairs(120, seed=0)))


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, empty."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _labels(path: Path, cases: list[Case], *, without: int = 0) -> Path:
    lines = {
        one.group: {"question": f"Where is {one.group}?", "support": [gold(one.group)]} for one in cases[without:]
    }
    path.write_text("\n".join(map(json.dumps, lines.values())), encoding="utf-8")
    return path


def test_from_a_run_to_a_certificate(good: Path, tmp_path: Path) -> None:
    """The file can be loaded; stdout is one JSON object; the table says what is feasible first."""
    out = tmp_path / "certificate.json"
    command = ["calibrate", str(good), "--risk", "0.2", "--out", str(out)]
    done = runner.invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["promised"]
    assert report["out"] == str(out)
    assert report["certificate"]["policy"]["name"] == "threshold"
    assert load_certificate(out).policy.answer_at == report["control"]["parameter"]
    told = runner.invoke(app, command).stdout
    assert told.index("feasible at risk 0.2") < told.index("threshold ")
    assert "Certified: at most 0.2 of the answered searches lack support, with confidence 0.95" in told


def test_what_cannot_be_certified_is_not_written(tmp_path: Path) -> None:
    """Exit status 1, the number of groups that would do, and a guess only on demand."""
    run = write_run(tmp_path / "small.run", episodes(pairs(12, seed=1)))
    out = tmp_path / "c.json"
    done = runner.invoke(app, ["calibrate", str(run), "--risk", "0.2", "--out", str(out)])
    assert done.exit_code == 1
    assert "Not certified: 12 groups are too few to tell. About" in done.stdout
    assert not out.exists()
    again = runner.invoke(app, ["calibrate", str(run), "--risk", "0.2", "--out", str(out), "--uncertified"])
    assert again.exit_code == 1
    assert load_certificate(out).kind == "uncertified"


def test_scores_that_say_nothing_are_told_apart_from_few_questions(tmp_path: Path) -> None:
    """More questions would not help."""
    run = write_run(tmp_path / "noise.run", episodes(pairs(60, seed=1, gain=0.0)))
    done = runner.invoke(app, ["calibrate", str(run), "--out", str(tmp_path / "c.json")])
    assert done.exit_code == 1
    assert "More questions like these would not help" in " ".join(done.stdout.split())


def test_no_support_anywhere(tmp_path: Path) -> None:
    """Case E02: nothing may be answered; figures are null, never NaN."""
    run = write_run(tmp_path / "none.run", episodes([case(str(i), [1.0, 2.0], None) for i in range(20)]))
    done = runner.invoke(app, ["calibrate", str(run), "--out", str(tmp_path / "c.json"), "--json"])
    assert done.exit_code == 1
    report = json.loads(done.stdout, parse_constant=pytest.fail)
    assert report["feasible"] == {"mu": 1.0, "coverage_at_most": 0.0, "abstention_at_least": 1.0}


def test_own_traces_with_labels(tmp_path: Path) -> None:
    """Support by text; questions without a label are counted, not dropped in silence."""
    cases = pairs(120, seed=0)
    traces = write_traces(tmp_path / "traces", cases)
    labels = _labels(tmp_path / "labels.jsonl", cases, without=4)
    out = tmp_path / "c.json"
    done = runner.invoke(
        app,
        ["calibrate", "--traces", str(traces), "--labels", str(labels), "--risk", "0.2", "--out", str(out)],
    )
    assert done.exit_code == 0, done.output
    assert "its question has no label" in done.stderr
    certificate = load_certificate(out)
    assert certificate.data.searches == 236
    assert certificate.data.groups == 118
    assert list(certificate.search) == ["scorer", "tiers", "budget"]


def test_a_conformal_threshold(good: Path, tmp_path: Path) -> None:
    """Another promise, in other words."""
    out = tmp_path / "c.json"
    command = ["calibrate", str(good), "--refuse-at-most", "0.1", "--policy", "threshold", "--out", str(out)]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "Conformal: on average at most 0.1 of the searches with support are refused" in done.stdout
    assert load_certificate(out).kind == "conformal"


def test_runs_of_different_searches_are_not_mixed(good: Path, tmp_path: Path) -> None:
    """Other questions may come together, other searches may not."""
    more = write_run(tmp_path / "dev.run", episodes(pairs(20, seed=5), "villages"), questions={})
    out = str(tmp_path / "c.json")
    both = runner.invoke(app, ["calibrate", str(good), str(more), "--risk", "0.2", "--out", out, "--json"])
    assert json.loads(both.stdout)["certificate"]["data"]["datasets"] == {"towns": 240, "villages": 40}
    one = runner.invoke(app, ["calibrate", str(good), "--dataset", "villages", "--out", out])
    assert one.exit_code == 1
    assert "There are: towns" in one.stderr
    other = write_run(tmp_path / "other.run", episodes(pairs(3, seed=5)), planner="llm")
    done = runner.invoke(app, ["calibrate", str(good), str(other), "--out", out])
    assert done.exit_code == 1
    assert "differ in planner" in done.stderr


def test_broken_lines_are_faults_not_the_end(tmp_path: Path) -> None:
    """A line that is cut, one with labels that do not fit, one of another scorer."""
    searches = episodes(pairs(8, seed=0))
    short = searches[0].model_copy(update={"id": "short", "found": (1,)})
    strange = searches[1].model_copy(update={"id": "strange", "scorer": "00" * 32})
    run = write_run(tmp_path / "dev.run", [short, strange, *searches])
    with run.open("a") as file:
        file.write('{"type": "search", "dataset"\n')
    done = runner.invoke(app, ["calibrate", str(run), "--out", str(tmp_path / "c.json"), "--json"])
    report = json.loads(done.stdout)
    assert report["searches"] == 16
    faults = " ".join(report["warnings"])
    assert "line 2: A search of group" in faults
    assert "line 3: the search 'strange' was scored by another scorer" in faults
    assert "line 20: Invalid JSON" in faults


@pytest.mark.parametrize(
    ("arguments", "message", "status"),
    [
        ([], "Nothing to calibrate on", 2),
        (["GOOD", "--traces", "t", "--labels", "l"], "either RUN files, or --traces", 2),
        (["--traces", "t"], "Nothing to calibrate on", 2),
        (["--traces", "t", "--labels", "l"], "Cannot read l", 1),
        (["GOOD", "--risk", "0.1", "--refuse-at-most", "0.1"], "two different promises", 2),
        (["GOOD", "--policy", "band"], "Pass --abstain-below", 2),
        (["GOOD", "--risk", "7"], "risk must be between 0 and 1", 2),
        (["GOOD", "--confidence", "1"], "delta (1 - confidence) must be between 0 and 1", 2),
        (["GOOD", "--policy", "fixed-6"], "holds no score against a threshold", 2),
        (["absent.run"], "Cannot read absent.run", 1),
        (["LABELS"], "is no run with labels", 1),
    ],
)
def test_what_is_refused_is_said_in_one_message(
    good: Path, in_folder: Path, arguments: list[str], message: str, status: int
) -> None:
    """Usage is 2, what cannot be read is 1."""
    labels = _labels(in_folder / "labels.jsonl", pairs(2, seed=0))
    names = {"GOOD": str(good), "LABELS": str(labels)}
    done = runner.invoke(app, ["calibrate", *(names.get(one, one) for one in arguments), "--out", "c.json"])
    assert done.exit_code == status, done.output
    assert message in done.stderr
    assert not Path("c.json").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "Who?"}', 'a question without support needs "answerable": false'),
        ('{"question": " ", "support": ["x"]}', "question is blank"),
        ('{"question": "Who?", "support": ["x"], "answer": "y"}', "answer is no field of this format"),
        ('{"question": "Who?", "answerable": false}\n{"question": "Who? ", "answerable": false}', "line 2"),
    ],
)
def test_labels_that_are_none(tmp_path: Path, line: str, message: str) -> None:
    """File, line and what is wrong."""
    labels = tmp_path / "labels.jsonl"
    labels.write_text(line)
    (tmp_path / "traces").mkdir()
    done = runner.invoke(
        app, ["calibrate", "--traces", str(tmp_path / "traces"), "--labels", str(labels), "--out", "c.json"]
    )
    assert done.exit_code == 1
    assert message in done.stderr


def test_help_teaches_with_an_example() -> None:
    """A newcomer needs the form of a label and one command."""
    text = " ".join(runner.invoke(app, ["calibrate", "--help"]).stdout.split())
    assert "sufficit calibrate --traces traces --labels labels.jsonl --risk 0.2" in text
    assert '"support": ["Ann Lee built it in 1784."]' in text


def test_a_band_takes_its_second_threshold_from_the_user(good: Path, tmp_path: Path) -> None:
    """Only the first one is looked for."""
    out = tmp_path / "c.json"
    command = [
        "calibrate",
        str(good),
        "--risk",
        "0.2",
        "--policy",
        "band",
        "--abstain-below",
        "-3",
        "--out",
        str(out),
    ]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    policy = load_certificate(out).policy
    assert (policy.name, policy.abstain_below) == ("band", -3)
