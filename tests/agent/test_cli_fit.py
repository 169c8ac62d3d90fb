"""`sufficit fit` from the command line to a score, on tiny models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agent.cli_fit
from agent.cli import app
from retrieval import EvidenceSet, Passage
from retrieval.index import TransformerEncoder
from rinse import RinseScorer
from rinse.paper.scorer import PaperScorer
from rinse.profile import Profile
from tests.rinse.paper.tiny_models import TinyModels, write_tiny_models
from tests.towns import need_model

runner = CliRunner()


@pytest.fixture(scope="module")
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> TinyModels:
    """Folders of the four tiny models."""
    return write_tiny_models(tmp_path_factory.mktemp("tiny-cli"))


def _pairs(path: Path, *, begin: int = 0) -> str:
    lines = [
        {
            "question": f"who built the {what} in the city",
            "sufficient": [f"the king built the {what} {begin + number}"],
            "insufficient": [f"the {what} is old {begin + number}"],
            "answers": ["king"],
        }
        for number, what in enumerate(("bridge", "tower", "castle"))
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def _command(folder: Path, models: TinyModels) -> list[str]:
    return [
        "fit", "--profile", "paper", "--pairs", _pairs(folder / "a.jsonl"), _pairs(folder / "b.jsonl", begin=3),
        "--out", str(folder / "profile"), "--words", str(models.words), "--reranker", str(models.reranker),
        "--span", str(models.span), "--latent", str(models.latent), "--layer", "2", "--padding", "2,3",
    ]  # fmt: skip


def test_from_pairs_to_a_score(tmp_path: Path, tiny_models: TinyModels) -> None:
    """The recipe of docs/fit.md; JSON alone on stdout, progress on stderr; a second run has nothing to do."""
    command = _command(tmp_path, tiny_models)
    done = runner.invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["fitted"]
    assert report["families"] == {"own": 6}
    assert report["records"] == 6 * 2 * 3
    assert "Reading groups" in done.stderr
    assert "Warning: Fitted on 6 questions (own 6)." in done.stderr
    assert [warning in done.stderr for warning in report["warnings"]] == [True]
    evidence = EvidenceSet.of([Passage(text="the king built the bridge")])
    score = PaperScorer.load(Path(report["profiles"][0])).score("who built the bridge", evidence)
    assert [reader.reader for reader in score.readers] == ["content", "span", "latent"]
    again = runner.invoke(app, command)
    assert again.exit_code == 0
    assert "Nothing to do" in again.stdout
    changed = runner.invoke(app, [*command, "--seed", "1"])
    assert changed.exit_code == 0
    assert "these settings changed: seed, training." in changed.stdout


def test_the_default_profile_is_fitted_and_scores(tmp_path: Path) -> None:
    """A user's own pairs, two options, no model to name: the recipe of docs/fit.md."""
    need_model()
    command = ["fit", "--pairs", _pairs(tmp_path / "a.jsonl"), "--out", str(tmp_path / "mine"), "--padding", "1,2"]
    command += ["--work", str(tmp_path / "work"), "--json"]
    done = runner.invoke(app, command)
    assert done.exit_code == 0, done.output
    [file] = json.loads(done.stdout)["profiles"]
    assert json.loads(done.stdout)["odds"] == [str(tmp_path / "mine" / "mine-odds.json")]
    assert "Warning: Fitted on 3 questions (own 3)." in done.stderr
    assert file == str(tmp_path / "mine" / "mine.json")
    scorer = RinseScorer(TransformerEncoder.named(), Profile.load(Path(file)))
    sides = (Passage(text="the king built the bridge 7"), Passage(text="the bridge is old 7"))
    good, bad = (scorer.score("who built the bridge in the city", EvidenceSet.of([one])).score for one in sides)
    assert good > bad
    assert not json.loads(runner.invoke(app, command).stdout)["fitted"]
    assert "log-odds  " in runner.invoke(app, command[:-1]).stdout


def test_an_interrupt_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit status 130, and a folder that the same command goes on with (see tests/rinse/fit)."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(agent.cli_fit, "FITTERS", {"small": interrupted})
    done = runner.invoke(app, ["fit", "--pairs", _pairs(tmp_path / "a.jsonl"), "--out", str(tmp_path / "p")])
    assert done.exit_code == 130
    assert "the same command goes on" in done.stderr


@pytest.mark.parametrize(
    ("wrong", "message", "status"),
    [
        (["--profile", "huge"], "there are paper, small", 2),
        (["--layer", "3"], "--layer belongs to --profile paper", 2),
        (["--no-train-span"], "Usage: --no-train-span belongs to --profile paper", 2),
        (["--train-span"], "Usage: --train-span belongs to --profile paper", 2),
        (
            ["--no-train-span", "--profile", "small", "--span", "x", "--latent", "y"],
            "--no-train-span, --span, --latent belong to --profile paper",
            2,
        ),
        (["--profile", "paper", "--lineage", "a=b"], "--lineage belongs to --profile small", 2),
        (["--lineage", "musique"], "FAMILY=A,B", 2),
        (["--padding", "0"], "numbers from 1 to 1000", 2),
        (["--padding", "five"], "numbers from 1 to 1000", 2),
        (["--family", "squad1"], "OLD=NEW", 2),
        (["--profile", "paper", "--device", "tpu"], "cpu or cuda", 2),
        (["--without", "own"], "No pair is left", 1),
        (["absent.jsonl"], "Cannot read absent.jsonl", 1),
    ],
)
def test_what_is_refused_is_said_in_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: list[str], message: str, status: int
) -> None:
    """Before a model is loaded or fetched."""
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, ["fit", "--pairs", _pairs(tmp_path / "a.jsonl"), *wrong, "--out", "p"])
    assert done.exit_code == status, done.output
    assert message in done.stderr


def test_help_teaches_with_an_example() -> None:
    """A newcomer needs the form of a line and one command."""
    text = " ".join(runner.invoke(app, ["fit", "--help"]).stdout.split())
    assert "sufficit fit --pairs pairs.jsonl --out my.profile" in text
    assert '"insufficient": ["It is red."]' in text
