"""Rivals in the table: on a tiny model of the right kind here, on groups that all scorers share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.contrasts.file import write_contrasts
from benchmarks.errors import SettingsError
from benchmarks.output import Row
from benchmarks.pairwise.legend import FAIR_READING
from benchmarks.pairwise.published import DATASETS, TABLE_4, with_paper
from benchmarks.pairwise.systems import ODDS, SHIPPED, Weights, resolve, resolve_all
from rinse.baselines.catalog import ENTRIES
from tests.benchmarks.sides import world
from tests.rinse.baselines.tiny_chat import build_tiny_chat

LMS = ("yes-no", "p-true", "flare")
SCORERS = ("tests.scorers:words", "word-overlap", *LMS)
SCORER_OPTIONS = ("--scorer", SCORERS[0], "--scorer", ",".join(SCORERS[1:]))
"""Repeated, or separated by commas: no occurrence is lost."""


@pytest.fixture(scope="module")
def lm(tmp_path_factory: pytest.TempPathFactory, tiny_backbone: Path) -> Path:
    return build_tiny_chat(tmp_path_factory.mktemp("lm") / "tiny-chat", tiny_backbone, positions=2048)


@pytest.fixture(scope="module")
def contrasts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four groups of two headline tests."""
    file = tmp_path_factory.mktemp("rivals") / "c.jsonl"
    tests = [
        *(replace(one, construction="deletion") for one in world(4, planted="amber", asked="amber")),
        *(replace(one, construction="question-swap", dataset="squad2") for one in world(4, seed=2)),
    ]
    write_contrasts(file, tests)
    return file


@pytest.fixture(scope="module")
def scores(contrasts: Path) -> Path:
    return contrasts.parent / "scores"


class Here:
    """Lanes in this process, which has the libraries loaded; that they run in others is tested elsewhere."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], **_: Any) -> None:
        self._make = make

    def run(self, batches: Iterable[Sequence[Any]], on_done: Callable[[Any, Any], None]) -> None:
        work = self._make()
        for batch in batches:
            for job in batch:
                on_done(job, work(job))


@pytest.fixture(scope="module")
def one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.pairwise.scoring.Lanes", Here)
        yield


@pytest.fixture(scope="module")
def report(contrasts: Path, scores: Path, lm: Path, one_process: None) -> dict[str, Any]:
    done = CliRunner().invoke(app, command(contrasts, scores, lm, "--json"))
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def command(contrasts: Path, scores: Path, lm: Path, *more: str) -> list[str]:
    options = ["--contrasts", str(contrasts), *SCORER_OPTIONS, "--limit-lm", "2", "--lm", str(lm)]
    return ["pairwise", *options, "--scores", str(scores), "--processes", "1", *more]


def rows(report: dict[str, Any], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in report["rows"] if all(row.get(name) == value for name, value in wanted.items())]


def test_all_scorers_are_compared_on_the_same_pairs(report: dict[str, Any]) -> None:
    """Two groups of each test, one pair each; every difference to the first scorer is paired on them."""
    sample = rows(report, subset="lm-sample", dataset="toy") + rows(report, subset="lm-sample", dataset="squad2")
    assert {row["system"] for row in sample} >= {*SCORERS, "cue-size", "question-overlap"}
    assert {(row["n"], row["groups"], row["failed"], row["headline"]) for row in sample} == {(2, 2, 0, True)}
    assert {row["reference"] for row in sample} == {SCORERS[0]}
    assert not report["failures"]


def test_what_is_cheap_is_measured_on_everything_too(report: dict[str, Any]) -> None:
    """A scorer that reads the sample alone has no row beside those that read all."""
    whole = {row["system"]: row["n"] for row in rows(report, subset="all", dataset="toy", added=0)}
    assert whole["word-overlap"] == whole["tests.scorers:words"] == 8
    assert not set(LMS) & set(whole)


def test_mean_and_worst_are_of_the_sample_with_its_times(report: dict[str, Any]) -> None:
    """Over its two headline tests, for every scorer; times over the sides of both."""
    for system in SCORERS:
        (mean,) = rows(report, dataset="macro", subset="lm-sample", system=system)
        single = [
            row["pairwise_accuracy"] for row in rows(report, subset="lm-sample", system=system, headline=True)
        ]
        assert mean["n"] == 2
        assert mean["pairwise_accuracy"] == pytest.approx(sum(single[:2]) / 2)
        assert 0 < mean["ms_p50"] <= mean["ms_p95"]
        assert mean["records_per_second"] > 0
    (difference,) = rows(report, dataset="macro", subset="lm-sample", system=SCORERS[0])
    assert (difference["difference"], difference["difference_lo"]) == (0.0, 0.0)


def test_who_stands_in_the_table(report: dict[str, Any]) -> None:
    """Each with its backbone and what it reads; beside it what the paper prints for the method."""
    legend = {row["system"]: row for row in rows(report, kind="system")}
    assert list(legend) == list(SCORERS)
    assert (legend["p-true"]["backbone"], legend["p-true"]["reads"]) == ("tiny-chat", "answer")
    assert (legend["p-true"]["paper_backbone"], legend["p-true"]["paper_average"]) == ("1.5B", 0.635)
    assert legend["word-overlap"]["backbone"] is None
    assert "paper_average" not in legend["word-overlap"]
    (swap,) = rows(report, subset="lm-sample", dataset="squad2", system="flare")
    assert (swap["paper"], swap["paper_backbone"]) == (0.586, "1.5B")


def test_the_spread_of_both_sides_is_kept_in_few_bins(report: dict[str, Any]) -> None:
    """One system has the same edges on all tests of a subset, so that pictures share an axis."""
    spread = [one for one in report["settings"]["histograms"] if one["system"] == "flare"]
    assert {(one["subset"], sum(one["sufficient"]), sum(one["insufficient"])) for one in spread} == {
        ("lm-sample", 2, 2)
    }
    assert spread[0]["edges"] == spread[1]["edges"]
    assert len(spread[0]["sufficient"]) <= 20


@pytest.mark.usefixtures("report", "one_process")
def test_a_rerun_generates_and_scores_nothing_and_shows_people_the_same(
    contrasts: Path, scores: Path, lm: Path, tmp_path: Path
) -> None:
    """One answer a side for all scorers that read answers; a second run changes no file; pictures are written."""
    files = {path: path.read_bytes() for path in scores.rglob("*.json*")}
    sides, loading = 8, 1
    assert len([path for path in files if "answers" in path.parts]) == sides + loading
    page, figure = tmp_path / "a page.html", tmp_path / "figure.svg"
    options = command(contrasts, scores, lm, "--html", str(page), "--svg", str(figure))
    shown = CliRunner().invoke(app, options, env={"COLUMNS": "300", "TERM": "dumb"})
    assert shown.exit_code == 0, shown.output
    assert {path: path.read_bytes() for path in scores.rglob("*.json*")} == files
    for needed in ("tiny-chat", "Sample for scorers that take seconds", FAIR_READING.split(".", maxsplit=1)[0]):
        assert needed in shown.output
    assert "p-true" in page.read_text()
    assert figure.read_text().startswith("<svg")


def test_the_names_for_many_leave_out_what_is_not_here() -> None:
    """`all` begins with ours; what lacks weights is told, and named by itself it is refused with the remedy."""
    run_here, absent = resolve_all(["all"], Weights())
    assert [one.name for one in run_here][:1] == ["rinse-small"]
    assert (
        {one.name for one in (*run_here, *absent)}
        == set(SHIPPED)
        == {"rinse-small", *(one.name for one in ENTRIES)}
    )
    assert "crag" in {one.name for one in absent}
    with pytest.raises(SettingsError, match="--weights NAME=FOLDER"):
        resolve_all(["crag"], Weights())
    with pytest.raises(SettingsError, match="once"):
        resolve_all(["word-overlap", "word-overlap"], Weights())
    assert [one.name for one in resolve_all(["word-overlap", "rivals"], Weights())[0]].count("word-overlap") == 1


def test_weights_of_ones_own_stand_in_for_a_name(lm: Path) -> None:
    """A folder makes a rival run that is not here; its row names the folder, not where it lies."""
    folders = (("crag-evaluator-t5-large", str(lm)),)
    system = resolve("crag", Weights(folders=folders))
    assert (system.missing, system.backbone) == ((), "tiny-chat")


def test_table_4_is_copied_without_a_slip() -> None:
    """Average and minimum of each line follow from its six figures; each rival of the table is one of ours."""
    assert set(TABLE_4) <= set(SHIPPED)
    for method in TABLE_4.values():
        assert len(method.accuracies) == len(DATASETS)
        assert method.average == pytest.approx(sum(method.accuracies) / 6, abs=6e-4)
        assert method.worst == min(method.accuracies)
        assert method.interval[0] - 0.005 <= method.average <= method.interval[1] + 0.005


def test_only_a_test_of_the_same_rule_stands_beside_the_paper() -> None:
    """Our hard substitution is another test than the paper's substitution: no figure beside it."""
    row: Row = {
        "dataset": "hotpotqa",
        "construction": "substitution",
        "subset": "all",
        "added": 0,
        "system": "upr",
    }
    assert with_paper(row)["paper"] == 0.712
    assert "paper" not in with_paper(row | {"construction": "hard-substitution"})
    assert "paper" not in with_paper(row | {"added": 5})
    assert "paper" not in with_paper(row | {"subset": "cue-controlled"})
    assert with_paper(row | {"system": "cue-size"})["paper"] == 0.5


def test_log_odds_are_named_and_stand_in_no_table_of_all() -> None:
    """They compare questions: in a table of pairs they would look worse than they are, so they are asked for."""
    one = resolve(ODDS)
    assert one.who("squad") == (ODDS, "squad")
    assert (one.sampled, one.missing) == (False, ())
    run, absent = resolve_all(["all"], Weights())
    assert ODDS not in {system.name for system in (*run, *absent)}
    with pytest.raises(SettingsError, match=ODDS):
        resolve("nothing")
