"""All cues as systems over the contrasts of one dataset and construction."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.contrasts.model import Contrast, Made
from benchmarks.cues import PROBABILITIES, Lexicon, cue_controlled, cue_scores
from benchmarks.cues.systems import Scores
from benchmarks.errors import SettingsError
from benchmarks.stats import pairwise_accuracy
from tests.benchmarks.sides import contrast, world

PURE = {"cue-size", "cue-min-idf", "cue-mean-idf", "cue-top2-idf", "question-overlap"}


def accuracy(contrasts: list[Contrast], scores: Scores, system: str) -> float:
    found = scores[system]
    pairs = [(found[one.key, good.id], found[one.key, bad.id]) for one in contrasts for good, bad in one.pairs()]
    share = pairwise_accuracy([good for good, _ in pairs], [bad for _, bad in pairs])
    assert share is not None
    return share


def test_every_side_gets_every_cue() -> None:
    """Seven systems; the two classifiers give probabilities, and these only."""
    contrasts = world(10)
    scores = cue_scores(contrasts)
    assert set(scores) == PURE | PROBABILITIES
    records = {(one.key, side.id) for one in contrasts for side in one.sides}
    assert all(set(found) == records for found in scores.values())
    assert all(0 < score < 1 for system in PROBABILITIES for score in scores[system].values())


def test_each_classifier_sees_its_half() -> None:
    """A word planted in the evidence leaves the question-only classifier at chance, exactly, and the other way."""
    in_evidence = world(60, planted="beacon")
    scores = cue_scores(in_evidence)
    assert accuracy(in_evidence, scores, "cue-evidence-only") > 0.9
    assert accuracy(in_evidence, scores, "cue-question-only") == 0.5
    in_question = world(60, asked="beacon")
    assert accuracy(in_question, cue_scores(in_question), "cue-question-only") > 0.9


def test_noise_stays_at_chance() -> None:
    """Without a planted word both classifiers stay within four deviations of 0.5 (120 pairs of 60 groups)."""
    contrasts = world(60)
    assert abs(accuracy(contrasts, cue_scores(contrasts), "cue-evidence-only") - 0.5) < 4 * np.sqrt(0.25 / 60)


def test_additions_are_refitted_and_weighed_as_before() -> None:
    """Passages are added to all sides alike: sizes grow, classifiers change, questions do not."""
    contrasts = world(12, planted="beacon", added=5)
    plain, more = cue_scores(contrasts), cue_scores(contrasts, added=5)
    assert set(plain["cue-size"].values()) == {2.0}
    assert set(more["cue-size"].values()) == {7.0}
    assert plain["cue-question-only"] == more["cue-question-only"]
    assert plain["cue-evidence-only"] != more["cue-evidence-only"]
    assert all(more["cue-min-idf"][record] <= score for record, score in plain["cue-min-idf"].items())


def test_order_of_contrasts_does_not_matter() -> None:
    """The file may be shuffled, the lexicon may be there already: not a digit changes. A seed makes the folds."""
    contrasts = world(12)
    scores = cue_scores(contrasts)
    assert cue_scores(contrasts[::-1], lexicon=Lexicon.of(contrasts)) == scores
    other = cue_scores(contrasts, seed=18)
    assert {system for system in scores if scores[system] != other[system]} == PROBABILITIES


def test_two_processes_agree() -> None:
    """Nothing depends on Python's randomised hash of strings."""
    script = (
        "import json; from benchmarks.cues import cue_scores; from tests.benchmarks.sides import world; "
        "found = cue_scores(world(8, added=2), added=2); "
        "print(json.dumps([list(scores.values()) for _, scores in sorted(found.items())]))"
    )
    there = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
        text=True,
    )
    here = cue_scores(world(8, added=2), added=2)
    assert json.loads(there.stdout) == [list(scores.values()) for _, scores in sorted(here.items())]


def retrieved(systems: tuple[str, ...], top_score: float | None) -> Made:
    return Made(how="retrieved", record="r", systems=systems, top_score=top_score)


def test_retrieval_pairs_have_metadata_baselines() -> None:
    """Who found a set, and how near its best passage is, are scores without a look at the set."""
    sides = [("where", True, ["alder"]), ("where", False, ["elm"])]
    made = [retrieved(("bm25", "rrf"), 0.25), retrieved(("dense",), None)]
    found = cue_scores([contrast("g", *sides, construction="retrieval", made=made)])
    values = {system: [score for _, score in sorted(found[system].items())] for system in found}
    assert values["always-bm25"] == [1.0, 0.0]
    assert values["always-dense"] == [0.0, 1.0]
    assert values["top-score"] == [0.25]
    assert not {"always-bm25", "top-score"} & set(cue_scores([contrast("g", *sides, made=made)]))


def test_nothing_and_one_group_are_defined() -> None:
    """Case E02: no contrast has no score; one group has cues, but nothing to learn from."""
    assert cue_scores([]) == {}
    assert cue_controlled([], {}).tolist() == []
    assert set(cue_scores(world(1))) == PURE


def test_constructions_are_not_mixed() -> None:
    """Classifiers and frequencies belong to one dataset and construction; the error names what was given."""
    sides = [("where", True, ["alder"]), ("where", False, ["elm"])]
    with pytest.raises(SettingsError, match="toy/deletion, toy/substitution"):
        cue_scores([contrast("g", *sides), contrast("g", *sides, construction="deletion")])


def test_controlled_pairs_give_neither_coverage_away() -> None:
    """Kept: a tie and a pair that points the wrong way. Left out: minimum or mean points the right way."""
    asked = "alder elm"
    sides = [
        (asked, True, ["alder", "birch"]),
        (asked, False, ["alder", "cedar"]),  # a tie on both
        (asked, False, ["alder elm", "fir"]),  # minimum ties, mean is higher: the wrong way
        (asked, False, ["gorse", "fir"]),  # minimum ties, mean is lower
    ]
    low = [(asked, True, ["alder", "elm"]), (asked, False, ["alder elm", "fir elm alder", "gorse"])]
    contrasts = [contrast("g1", *sides), contrast("g2", *low)]
    assert cue_controlled(contrasts, cue_scores(contrasts)).tolist() == [True, True, False, False]
