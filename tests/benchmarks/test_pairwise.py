"""The runner of the sufficiency benchmark: every side is scored once, and nothing decides but the scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Contrast
from benchmarks.errors import BenchmarkError, DatasetError, SettingsError
from benchmarks.output import Report, report_json
from benchmarks.pairwise.run import PairwiseOptions, run_pairwise
from benchmarks.pairwise.scoring import ScoringOptions
from benchmarks.pairwise.systems import resolve
from tests.benchmarks.sides import contrast, world
from tests.scorers import WordScorer

pytestmark = pytest.mark.usefixtures("quick_lanes")
VOLATILE = ("ms_p50", "ms_p95", "records_per_second")
"""Times; everything else must be the same in two runs."""


def run(
    file: Path,
    contrasts: Sequence[Contrast] | None = None,
    *,
    scorers: Sequence[str] = ("tests.scorers:words",),
    processes: int = 1,
    seconds: float = 30.0,
    folder: str = "scores",
    **options: Any,
) -> Report:
    if contrasts is not None:
        write_contrasts(file, contrasts)
    scoring = ScoringOptions(folder=file.parent / folder, processes=processes, seconds=seconds)
    return run_pairwise(
        PairwiseOptions(contrasts=(file,), scorers=tuple(scorers), scoring=scoring, draws=200, **options)
    )


def figures(report: Report) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in VOLATILE} for row in report.rows]


def _by_hand(one: Contrast) -> Iterator[float]:
    """1, 0.5 or 0 for each pair, from the scorer itself."""
    for good, bad in one.pairs():
        high, low = (WordScorer().score(side.question, one.evidence(side)).score for side in (good, bad))
        yield 0.5 if high == low else float(high > low)


def row(report: Report, **wanted: Any) -> dict[str, Any]:
    found = [one for one in report.rows if all(one.get(name) == value for name, value in wanted.items())]
    assert len(found) == 1, found
    return dict(found[0])


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty groups whose sufficient side holds a word that its question asks for."""
    file = tmp_path_factory.mktemp("planted") / "c.jsonl.gz"
    write_contrasts(file, world(40, planted="amber", asked="amber", added=3))
    return file


def test_one_and_two_processes_give_the_same_digits(planted: Path) -> None:
    """Processes change times, nothing else; and a run over known scores computes the same figures again."""
    one = run(planted, processes=1, folder="one", added=(0, 2))
    two = run(planted, processes=2, folder="two", added=(0, 2))
    again = run(planted, processes=2, folder="one", added=(0, 2))
    assert figures(one) == figures(two) == figures(again)
    assert row(again, system="tests.scorers:words", added=0, subset="all", dataset="toy") == row(
        one, system="tests.scorers:words", added=0, subset="all", dataset="toy"
    )


def test_cues_are_the_same_in_processes_of_their_own(planted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large work is shared out; not one digit may depend on it."""
    here = run(planted, scorers=())
    monkeypatch.setattr("benchmarks.pairwise.cuework.SMALL", 0)
    assert figures(run(planted, scorers=(), processes=2)) == figures(here)


def test_scores_are_computed_once_and_belong_to_one_fingerprint(planted: Path) -> None:
    """A second run adds no line; a changed scorer has a file of its own."""
    run(planted, folder="once")
    (file,) = (planted.parent / "once").glob("*.jsonl")
    before = file.read_bytes()
    run(planted, folder="once")
    assert file.read_bytes() == before
    assert before.count(b"\n") == 120
    run(planted, folder="once", scorers=("tests.scorers:words", "tests.scorers:words_again"))
    assert len(list((planted.parent / "once").glob("*.jsonl"))) == 2
    assert file.read_bytes() == before


def test_a_scorer_that_reads_is_told_from_cues_and_from_chance(planted: Path) -> None:
    """The planted word lifts who counts words; the number of passages says nothing, and ties count a half."""
    report = run(planted, folder="once")
    words = row(report, system="tests.scorers:words", subset="all", added=0, dataset="toy")
    pairs = [pair for one in world(40, planted="amber", asked="amber", added=3) for pair in _by_hand(one)]
    assert words["pairwise_accuracy"] == sum(pairs) / len(pairs) > 0.6
    assert (words["n"], words["groups"], words["tie_rate"], words["failed"]) == (80, 40, pairs.count(0.5) / 80, 0)
    size = row(report, system="cue-size", subset="all", added=0, dataset="toy")
    assert (size["pairwise_accuracy"], size["tie_rate"], size["auroc"]) == (0.5, 1.0, 0.5)
    assert size["difference"] == 0.5 - words["pairwise_accuracy"]
    assert size["reference"] == "tests.scorers:words"
    assert row(report, system="cue-question-only", subset="all", added=0, dataset="toy")["brier"] is not None
    assert words["brier"] is None


def test_equal_scorers_differ_by_exactly_nothing(planted: Path) -> None:
    """Case E03: the same scores on the same draws give a difference of 0 with the interval 0 to 0."""
    report = run(planted, folder="once", scorers=("tests.scorers:words", "tests.scorers:words_again"))
    again = row(report, system="tests.scorers:words_again", subset="all", added=0, dataset="toy")
    assert (again["difference"], again["difference_lo"], again["difference_hi"]) == (0.0, 0.0, 0.0)


def test_sides_that_raise_hang_die_or_give_no_number_are_listed_and_the_rest_is_scored(tmp_path: Path) -> None:
    """Case S04: NaN and None are `score_invalid`, never a figure; no broken side costs another one its score."""
    evils = ("raise", "hang", "die", "exit", "nan", "none", "reader")
    contrasts = [
        contrast(f"g-{evil}", (f"is {evil} told", True, ["is told"]), ("is it told", False, ["no"]))
        for evil in evils
    ]
    contrasts += [
        contrast(f"ok{n}", (f"is {n} told", True, [f"is {n}"]), (f"is {n}", False, ["no"])) for n in "123"
    ]
    report = run(tmp_path / "c.jsonl", contrasts, scorers=("tests.scorers:invalid",), seconds=1.5, processes=2)
    kinds = {failure["group"].removeprefix("g-"): failure["kind"] for failure in report.failures}
    expected = {"raise": "raised", "hang": "hung", "die": "died", "exit": "raised"}
    expected |= dict.fromkeys(("nan", "none", "reader"), "score_invalid")
    assert kinds == expected
    mine = row(report, system="tests.scorers:invalid", subset="all", added=0, dataset="toy")
    assert (mine["n"], mine["failed"], mine["pairwise_accuracy"]) == (3, 7, 1.0)
    assert row(report, system="cue-size", subset="all", added=0, dataset="toy")["n"] == 10
    assert "NaN" not in report_json(report)


def test_a_side_that_failed_is_tried_again(tmp_path: Path) -> None:
    """A failure is no result: only results are kept."""
    contrasts = world(3)
    broken = contrast("bad", ("raise it", True, ["raise it"]), ("raise", False, ["no"]))
    first = run(tmp_path / "c.jsonl", [*contrasts, broken])
    assert len(first.failures) == 2
    assert len(run(tmp_path / "c.jsonl").failures) == 2
    (file,) = (tmp_path / "scores").glob("*.jsonl")
    assert len(file.read_text().splitlines()) == 9


def test_nothing_measured_is_null_and_never_nan(tmp_path: Path) -> None:
    """Case E02: a scorer that fails on everything has defined counts and undefined figures."""
    contrasts = [contrast("g", ("raise a", True, ["a"]), ("raise b", False, ["b"]))]
    report = run(tmp_path / "c.jsonl", contrasts)
    mine = row(report, system="tests.scorers:words", subset="all", added=0, dataset="toy")
    assert mine["n"] == 0
    assert mine["failed"] == 2
    undefined = ("pairwise_accuracy", "pairwise_accuracy_lo", "tie_rate", "auroc", "difference", "ms_p50")
    assert all(mine[name] is None for name in undefined)
    size = row(report, system="cue-size", subset="all", added=0, dataset="toy")
    assert (size["pairwise_accuracy"], size["pairwise_accuracy_lo"]) == (0.5, None)
    assert json.loads(report_json(report))


def test_a_repeated_contrast_counts_once_and_is_reported(tmp_path: Path) -> None:
    """Case R11: inside a file and across files."""
    contrasts = world(4)
    write_contrasts(tmp_path / "b.jsonl", contrasts[:1])
    write_contrasts(tmp_path / "a.jsonl", [*contrasts, contrasts[2]])
    scoring = ScoringOptions(folder=tmp_path / "scores", processes=1)
    report = run_pairwise(
        PairwiseOptions(
            contrasts=(tmp_path / "a.jsonl", tmp_path / "b.jsonl"), scorers=(), scoring=scoring, draws=10
        )
    )
    assert row(report, system="cue-size", subset="all", added=0, dataset="toy")["groups"] == 4
    assert [(one["kind"], one["file"]) for one in report.failures] == [
        ("repeated_id", "a.jsonl"),
        ("repeated_id", "b.jsonl"),
    ]


def test_probabilities_are_calibrated_only_where_a_scorer_gives_them(planted: Path) -> None:
    """ECE and Brier need a probability; a ranking score is none."""
    report = run(planted, folder="probable", scorers=("tests.scorers:probable",))
    mine = row(report, system="tests.scorers:probable", subset="all", added=0, dataset="toy")
    assert 0.0 <= mine["ece"] <= 1.0
    assert 0.0 <= mine["brier"] <= 1.0


def test_a_probability_outside_its_range_is_no_result(tmp_path: Path) -> None:
    """It would end the table when the figures are computed; it is a failure of that side instead."""
    contrasts = [contrast("g", ("outside a", True, ["a"]), ("is b", False, ["b"])), *world(2)]
    report = run(tmp_path / "c.jsonl", contrasts, scorers=("tests.scorers:probable",))
    assert [failure["kind"] for failure in report.failures] == ["score_invalid"]


def test_held_out_asks_for_a_scorer_without_the_family(tmp_path: Path) -> None:
    """Each dataset is scored by what was not fitted on its family; a scorer that cannot say so is refused."""
    report = run(tmp_path / "c.jsonl", world(2), scorers=("tests.scorers:held_out",), held_out=True)
    assert row(report, system="tests.scorers:held_out", subset="all", added=0, dataset="toy")["held_out"] is True
    with pytest.raises(BenchmarkError, match="without"):
        run(tmp_path / "c.jsonl", scorers=("tests.scorers:words",), held_out=True)


def test_a_scorer_that_cannot_be_made_ends_the_run_with_its_reason(tmp_path: Path) -> None:
    """One message instead of a failure for every side."""
    with pytest.raises(BenchmarkError, match="cannot be made"):
        run(tmp_path / "c.jsonl", world(2), scorers=("tests.scorers:broken",))


@pytest.mark.parametrize(
    "name", ["unknown", "no.such.module:make", "tests.scorers:absent", "tests.scorers:NOT_CALLABLE"]
)
def test_an_unknown_scorer_is_told_with_what_is_known(name: str) -> None:
    """Before anything is computed."""
    with pytest.raises(SettingsError, match=r"scorer|function"):
        resolve(name)


def test_scorers_of_one_name_in_two_modules_are_two_systems() -> None:
    """A table that calls both `make` would show one of them twice."""
    names = [resolve(name).name for name in ("tests.scorers:words", "tests.scorers:words_again")]
    assert names == ["tests.scorers:words", "tests.scorers:words_again"]


def test_more_additions_than_a_file_carries_are_refused_or_told(planted: Path, tmp_path: Path) -> None:
    """A scorer must not vanish from a table without a word."""
    with pytest.raises(SettingsError, match="at most 3"):
        run(planted, folder="once", added=(25,))
    report = run(planted, folder="once", added=(0, 25))
    assert {"kind": "too_few_additions", "dataset": "toy", "construction": "substitution", "added": 25} in list(
        report.failures
    )


def test_a_file_that_holds_no_contrasts_is_told_apart_from_one_that_fits_nothing(tmp_path: Path) -> None:
    """What was found instead, and which command writes such files."""
    (tmp_path / "other.json").write_text('{"data": []}\n')
    with pytest.raises(DatasetError, match=r"other\.json.*bad_fields.*contrasts. writes"):
        run(tmp_path / "other.json")


def test_scores_need_a_folder(tmp_path: Path) -> None:
    """A file in its place is told with what to do."""
    (tmp_path / "scores").write_text("")
    with pytest.raises(SettingsError, match="--scores"):
        run(tmp_path / "c.jsonl", world(2))


def test_what_cannot_be_measured_is_refused(tmp_path: Path) -> None:
    """No input, a scorer twice, an order that does not exist."""
    for options in ({}, {"contrasts": (tmp_path,), "order": "random"}, {"contrasts": (tmp_path,), "added": (-1,)}):
        with pytest.raises(SettingsError):
            PairwiseOptions(**options)
    with pytest.raises(SettingsError, match="once"):
        PairwiseOptions(contrasts=(tmp_path,), scorers=("a", "a"))
