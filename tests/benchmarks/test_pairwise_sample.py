"""The sample that all scorers share: who is in it, in which order it is scored, what a time budget leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Construction, Contrast
from benchmarks.output import Report
from benchmarks.pairwise.plan import make_plan
from benchmarks.pairwise.run import PairwiseOptions, run_pairwise
from benchmarks.pairwise.sample import SUBSET, draw_sample, finished
from benchmarks.pairwise.scored import scored_by
from benchmarks.pairwise.scoring import Outcome, Outcomes, ScoringOptions, Task
from benchmarks.pairwise.systems import System
from rinse import SufficiencyScorer
from tests import scorers
from tests.benchmarks.sides import world
from tests.benchmarks.test_pairwise_rows import retrieved


def _words(_: str | None) -> SufficiencyScorer:
    return scorers.words()


FAST = System(name="fast", make=_words)
SLOW = System(name="slow", make=_words, fitted=False, sampled=True)


def contrasts_of(dataset: str, *constructions: Construction, groups: int = 9, added: int = 0) -> list[Contrast]:
    return [
        replace(one, dataset=dataset, construction=construction)
        for construction in constructions
        for one in world(groups, added=added)
    ]


CONTRASTS = [
    *contrasts_of("a", "hard-substitution", "deletion", "substitution"),
    *contrasts_of("b", "question-swap", groups=4),
]


def plan(sample: Sequence[Contrast], **options: Any) -> list[list[Task]]:
    chosen: dict[str, Any] = {"added": (0,), "order": "bm25", "held_out": False, "seed": 17} | options
    return make_plan(CONTRASTS, [FAST, SLOW], sample=sample, **chosen)


@given(st.integers(1, 12), st.integers(0, 5))
def test_a_sample_is_one_pair_of_so_many_groups_of_each_headline_test(groups: int, seed: int) -> None:
    """The tests of one dataset share their groups, and a larger sample keeps what a smaller one drew."""
    sample = draw_sample(CONTRASTS, groups, seed=seed)
    drawn = {kind: [one for one in sample if one.key[:2] == kind] for kind in {one.key[:2] for one in sample}}
    assert {kind: len(same) for kind, same in drawn.items()} == {
        ("a", "hard-substitution"): min(groups, 9),
        ("a", "deletion"): min(groups, 9),
        ("b", "question-swap"): min(groups, 4),
    }
    assert all([side.sufficient for side in one.sides] == [True, False] for one in sample)
    hard, deleted = ({one.group for one in drawn["a", name]} for name in ("hard-substitution", "deletion"))
    assert hard == deleted
    assert {one.key for one in sample} <= {one.key for one in draw_sample(CONTRASTS, groups + 1, seed=seed)}


def test_which_groups_are_drawn_depends_on_no_other_data() -> None:
    """Another dataset beside it, or another order, changes nothing."""
    alone = draw_sample([one for one in CONTRASTS if one.dataset == "a"], 3, seed=17)
    among = [one for one in draw_sample(CONTRASTS[::-1], 3, seed=17) if one.dataset == "a"]
    assert sorted(one.key for one in alone) == sorted(one.key for one in among)


def test_retrieval_pairs_are_one_test_where_there_are_enough() -> None:
    """All datasets together have so many groups; too few pairs for a headline are not read at all."""
    many = [*retrieved(90, "many"), *retrieved(60, "few")]
    assert len(draw_sample(many, 40, seed=17)) == 40
    assert {one.dataset for one in draw_sample(many, 40, seed=17)} == {"many", "few"}
    assert draw_sample(many[1:], 40, seed=17) == []


def test_groups_of_the_sample_are_finished_by_all_scorers_before_others_begin() -> None:
    """Wherever a run stops, what is done can be compared in pairs; a slow scorer reads nothing else."""
    sample = draw_sample(CONTRASTS, 2, seed=17)
    batches = plan(sample)
    sides = {(one.key, side.id) for one in sample for side in one.sides}
    first, rest = batches[:4], batches[4:]
    assert [batch[0].job.record[0][0] for batch in first] == ["a", "b", "a", "b"]
    assert {task.job.record for batch in first for task in batch} == sides
    for batch in first:
        assert len({task.job.record[0][2] for task in batch}) == 1
        jobs = [[task.job.record for task in batch if task.who[0] == name] for name in ("fast", "slow")]
        assert jobs[0] == jobs[1]
    assert {task.who[0] for batch in rest for task in batch} == {"fast"}
    everything = {(one.key, side.id) for one in CONTRASTS for side in one.sides}
    assert {task.job.record for batch in rest for task in batch} == everything


def test_a_sample_carries_no_additions_and_its_sides_are_those_of_the_whole() -> None:
    """The same content under the same key: nothing is scored twice."""
    sample = draw_sample(CONTRASTS, 2, seed=17)
    keys = {task.job.record: task.job.key for batch in plan((), added=(0,)) for task in batch}
    for task in (task for batch in plan(sample)[:4] for task in batch):
        assert task.job.added == 0
        assert task.job.key == keys[task.job.record]


def test_only_what_is_fitted_is_made_once_for_each_family() -> None:
    """A rival that we never fitted is the same for every dataset: one copy of its model, not four."""
    whos = {task.who for batch in plan(draw_sample(CONTRASTS, 2, seed=17), held_out=True) for task in batch}
    assert whos == {("fast", "a"), ("fast", "b"), ("slow", None)}


def test_what_waits_is_told_once_and_its_groups_are_left_out_of_the_sample() -> None:
    """A group that one scorer has not reached would compare figures over different groups."""
    sample = draw_sample(CONTRASTS, 2, seed=17)
    batches = plan(sample)
    outcome: Outcome = {"score": 1.0, "ms": 1.0, "readers": {}}
    known = {(task.who, task.job.key): outcome for batch in batches[:3] for task in batch}
    known |= {(task.who, task.job.key): outcome for task in batches[3] if task.who[0] == "fast"}
    both = [scored_by(system, batches, Outcomes(known=known), added=(0,)) for system in (FAST, SLOW)]
    assert {one.key for one in finished(sample, both)} == {
        task.job.record[0] for batch in batches[:3] for task in batch
    }
    (failure,) = both[1].failures
    assert (failure["kind"], failure["system"], failure["sides"]) == ("not_scored", "slow", 2)
    assert "goes on" in failure["detail"]


def run(file: Path, **options: Any) -> Report:
    scoring = ScoringOptions(folder=file.parent / "scores", processes=1)
    return run_pairwise(
        PairwiseOptions(contrasts=(file,), scorers=("tests.scorers:words",), scoring=scoring, draws=20, **options)
    )


@pytest.mark.usefixtures("quick_lanes")
def test_a_time_budget_that_is_used_up_leaves_a_report_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """No figure is made of what was not scored; nothing else is lost."""
    file = tmp_path / "c.jsonl"
    write_contrasts(file, contrasts_of("a", "deletion", groups=3))
    stopped = run(file, minutes=1e-9)
    (failure,) = stopped.failures
    assert (failure["kind"], failure["sides"]) == ("not_scored", 9)
    (mine,) = [
        row
        for row in stopped.rows
        if (row["system"], row.get("dataset"), row.get("subset")) == ("tests.scorers:words", "a", "all")
    ]
    assert (mine["n"], mine["failed"], mine["pairwise_accuracy"]) == (0, 9, None)
    assert not run(file).failures


@pytest.mark.usefixtures("quick_lanes")
def test_without_a_slow_scorer_there_is_no_sample(tmp_path: Path) -> None:
    """Rows as ever, the table's legend behind them, and the scores' spread for a picture."""
    file = tmp_path / "c.jsonl"
    write_contrasts(file, contrasts_of("a", "deletion", groups=3))
    report = run(file)
    assert report.settings["sample_subset"] is None
    assert not [row for row in report.rows if row.get("subset") == SUBSET]
    (legend,) = [row for row in report.rows if row.get("kind") == "system"]
    assert (legend["system"], legend["status"]) == ("tests.scorers:words", "run")
    (spread,) = report.settings["histograms"]
    assert (sum(spread["sufficient"]), sum(spread["insufficient"])) == (3, 6)
    assert len(spread["edges"]) == len(spread["sufficient"]) + 1
