"""Which rows a table has: what counts, what is pooled, what is left out of a subset."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Added, Contrast, Made
from benchmarks.output import Report, report_json
from benchmarks.pairwise.run import PairwiseOptions, run_pairwise
from benchmarks.pairwise.scoring import ScoringOptions
from benchmarks.pairwise.table import pairwise_tables
from tests.benchmarks.sides import contrast, world

pytestmark = pytest.mark.usefixtures("quick_lanes")


def cues(folder: Path, contrasts: Sequence[Contrast], **options: Any) -> Report:
    write_contrasts(folder / "c.jsonl", contrasts)
    scoring = ScoringOptions(folder=folder / "scores", processes=1)
    return run_pairwise(
        PairwiseOptions(contrasts=(folder / "c.jsonl",), scorers=(), scoring=scoring, draws=50, **options)
    )


def named(contrasts: Sequence[Contrast], dataset: str, **changes: Any) -> list[Contrast]:
    return [replace(one, dataset=dataset, **changes) for one in contrasts]


def retrieved(count: int, dataset: str, *, better: str = "dense") -> list[Contrast]:
    """One pair a group: the set of one retriever suffices, that of the other does not."""
    other = {"dense": "bm25", "bm25": "dense"}[better]
    made = [
        Made(how="retrieved", record="r", systems=(better, "rrf"), top_score=0.6),
        Made(how="retrieved", record="r", systems=(other,), top_score=0.8),
    ]
    pairs = [
        contrast(
            f"{dataset}{at}",
            (f"where is w{at}", True, [f"w{at} is in a{at}"]),
            (f"where is w{at}", False, [f"b{at} is there"]),
            construction="retrieval",
            made=made,
        )
        for at in range(count)
    ]
    return named(pairs, dataset)


def rows(report: Report, **wanted: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in report.rows if all(row.get(name) == value for name, value in wanted.items())]


def test_retrieval_pairs_are_pooled_and_small_datasets_have_no_row_of_their_own(tmp_path: Path) -> None:
    """Above 100 pairs a dataset has a row; all together are the headline, from 150 pairs on."""
    report = cues(tmp_path, [*retrieved(101, "many"), *retrieved(60, "few", better="bm25")])
    size = {row["dataset"]: row for row in rows(report, system="cue-size", subset="all")}
    assert set(size) == {"many", "pooled", "macro", "worst"}
    assert (size["pooled"]["n"], size["pooled"]["headline"]) == (161, True)
    assert (size["many"]["n"], size["many"]["headline"]) == (101, False)
    (always,) = rows(report, system="always-dense", dataset="pooled")
    assert always["pairwise_accuracy"] == 101 / 161
    (never,) = rows(report, system="always-bm25", dataset="pooled")
    assert never["pairwise_accuracy"] == 60 / 161
    (top,) = rows(report, system="top-score", dataset="pooled")
    assert top["pairwise_accuracy"] == 0.0
    assert not report.failures


def test_too_few_retrieval_pairs_are_no_headline_and_said_so(tmp_path: Path) -> None:
    """The row is there, it does not count, and the report says how many were expected."""
    report = cues(tmp_path, retrieved(149, "one"))
    (pooled,) = rows(report, system="cue-size", dataset="pooled")
    assert pooled["headline"] is False
    assert not rows(report, dataset="macro")
    assert report.failures == [
        {"kind": "too_few_pairs", "construction": "retrieval", "pairs": 149, "expected": 150}
    ]


def test_macro_and_worst_are_over_headline_rows_only(tmp_path: Path) -> None:
    """Plain substitution and what the datasets bring stand beside; they move neither mean nor minimum."""
    hard = named(world(8, planted="amber", seed=1), "a", construction="hard-substitution")
    swap = named(world(8, planted="amber", seed=2), "b", construction="question-swap")
    plain = named(world(8, seed=3), "c", construction="substitution")
    report = cues(tmp_path, [*hard, *swap, *plain])
    counted = [
        row["pairwise_accuracy"]
        for row in rows(report, system="cue-min-idf", added=0, subset="all", headline=True)
    ]
    (mean,) = rows(report, system="cue-min-idf", dataset="macro")
    (worst,) = rows(report, system="cue-min-idf", dataset="worst")
    figures = counted[:2]
    assert len(counted) == 4
    assert mean["pairwise_accuracy"] == pytest.approx(sum(figures) / 2)
    assert worst["pairwise_accuracy"] == min(figures)
    assert mean["n"] == 2
    assert mean["pairwise_accuracy_lo"] <= mean["pairwise_accuracy"] <= mean["pairwise_accuracy_hi"]


def test_groups_that_share_text_with_a_fit_are_left_out_of_one_subset(tmp_path: Path) -> None:
    """The subset `no-overlap` loses the group whose gold sentence stands in the other file, and no other one."""
    sentence = "The tall lighthouse of Vennmark was lit by whale oil until nineteen hundred."
    gold = contrast("shared", ("what lit it", True, [sentence]), ("what lit it", False, ["nothing"]))
    gold = replace(gold, sides=(replace(gold.sides[0], support=gold.sides[0].passages), gold.sides[1]))
    line = {"id": "x", "dataset": "fit", "split": "train", "question": "Who?", "answers": [], "answerable": True}
    line |= {"group": "x", "passages": [{"text": f"Before. {sentence}", "title": "", "is_support": True}]}
    fitted = tmp_path / "fit.jsonl.gz"
    fitted.write_bytes(gzip.compress(json.dumps(line).encode()))
    report = cues(tmp_path, [gold, *world(3)], overlap_with=(fitted,))
    (whole,) = rows(report, system="cue-size", subset="all", added=0)
    (free,) = rows(report, system="cue-size", subset="no-overlap", added=0)
    assert (whole["groups"], free["groups"]) == (4, 3)


def test_a_flagged_addition_costs_its_group_the_screened_subset(tmp_path: Path) -> None:
    """With k additions only the first k count (RINSE, appendix F)."""
    contrasts = world(3, added=5)
    first = contrasts[0]
    flagged = (*first.added[:4], Added(passage=first.added[4].passage, flags=("answer",)))
    report = cues(tmp_path, [replace(first, added=flagged), *contrasts[1:]], cues_added=(0, 4, 5))
    (four,) = rows(report, system="cue-size", subset="screened", added=4)
    (five,) = rows(report, system="cue-size", subset="screened", added=5)
    assert (four["groups"], five["groups"]) == (3, 2)


def test_an_unrelated_question_has_no_rows_with_additions(tmp_path: Path) -> None:
    """It stands there for one cross-check."""
    report = cues(tmp_path, named(world(3, added=5), "a", construction="unrelated-swap"))
    assert {row["added"] for row in report.rows} == {0}


def test_the_paper_stands_beside_the_test_of_its_rule_only(tmp_path: Path) -> None:
    """Its figure belongs to HotpotQA, substitution, that cue and that number of additions."""
    report = cues(tmp_path, named(world(6, added=20), "hotpotqa"))
    paper = {(row["system"], row["added"]): row["paper"] for row in report.rows if row.get("paper") is not None}
    assert paper["cue-min-idf", 0] == 0.941
    assert paper["cue-min-idf", 20] == 0.510
    assert ("cue-mean-idf", 0) not in paper
    titles = [str(table.title) for table in pairwise_tables(report.rows)]
    assert any("paper" in title for title in titles)
    assert json.loads(report_json(report))["benchmark"] == "pairwise"


def test_a_sample_draws_whole_groups(tmp_path: Path) -> None:
    """A larger limit keeps what a smaller one drew; the settings tell apart what was measured."""
    few = cues(tmp_path, world(9), limit=3)
    more = cues(tmp_path, world(9), limit=5)
    (three,) = rows(few, system="cue-size", subset="all", added=0)
    (five,) = rows(more, system="cue-size", subset="all", added=0)
    assert (three["groups"], five["groups"], three["n"]) == (3, 5, 6)
    assert few.settings["contrasts_digest"] != more.settings["contrasts_digest"]
