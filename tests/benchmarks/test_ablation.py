"""What each reader brings, and what shared additions cost: further rows of the same report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchmarks.contrasts.file import write_contrasts
from benchmarks.contrasts.model import Contrast
from benchmarks.output import Report
from benchmarks.pairwise.run import PairwiseOptions, run_pairwise
from benchmarks.pairwise.scoring import ScoringOptions
from benchmarks.pairwise.table import pairwise_tables
from tests.benchmarks.sides import world
from tests.benchmarks.test_pairwise_rows import named, rows

pytestmark = pytest.mark.usefixtures("quick_lanes")
FIGURES = ("n", "pairwise_accuracy", "pairwise_accuracy_lo", "pairwise_accuracy_hi", "tie_rate", "auroc")


def report(folder: Path, contrasts: list[Contrast], *scorers: str, **options: Any) -> Report:
    write_contrasts(folder / "c.jsonl", contrasts)
    scoring = ScoringOptions(folder=folder / "scores", processes=1)
    names = tuple(f"tests.scorers:{scorer}" for scorer in scorers)
    return run_pairwise(
        PairwiseOptions(contrasts=(folder / "c.jsonl",), scorers=names, scoring=scoring, draws=50, **options)
    )


@pytest.fixture(scope="module")
def ablated(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Two headline tests, one that is none, one scorer of three readers and one of a single reader."""
    contrasts = [
        *named(world(8, planted="amber", seed=1), "a", construction="hard-substitution"),
        *named(world(8, planted="amber", seed=2), "b", construction="deletion"),
        *named(world(8, seed=3), "c", construction="substitution"),
    ]
    return report(tmp_path_factory.mktemp("ablation"), contrasts, "three_readers", "words", ablation=True)


def test_every_set_of_readers_has_its_rows(ablated: Report) -> None:
    """Headline constructions, mean and minimum; the system keeps its name, and nothing counts twice."""
    found = [row for row in ablated.rows if row.get("readers") and row["system"] == "tests.scorers:three_readers"]
    names = ["content", "span", "latent", "content+span", "content+latent", "span+latent", "content+span+latent"]
    assert list(dict.fromkeys(row["readers"] for row in found)) == names
    tests = {(row["dataset"], row["construction"]) for row in found}
    assert tests == {
        ("a", "hard-substitution"),
        ("b", "deletion"),
        ("macro", "headline"),
        ("worst", "headline"),
    }
    assert not any(row["headline"] for row in found)


@pytest.mark.parametrize(("scorer", "readers"), [("three_readers", "content+span+latent"), ("words", "words")])
def test_all_readers_together_are_the_scorer(ablated: Report, scorer: str, readers: str) -> None:
    """To the last digit; with one reader this is the only set."""
    system = f"tests.scorers:{scorer}"
    for dataset in ("a", "b", "macro", "worst"):
        place = {"system": system, "dataset": dataset, "subset": "all", "added": 0}
        (whole,) = (row for row in rows(ablated, **place) if not row.get("readers"))
        (together,) = rows(ablated, **place, readers=readers)
        assert {name: whole.get(name) for name in FIGURES} == {name: together.get(name) for name in FIGURES}
        assert together["difference"] == 0.0


def test_a_reader_alone_is_measured_by_its_corrected_value(ablated: Report) -> None:
    """The planted word is in every sufficient side and in no other: its reader orders all pairs, size none."""
    place = {"system": "tests.scorers:three_readers", "dataset": "a", "subset": "all"}
    (span,) = rows(ablated, **place, readers="span")
    (latent,) = rows(ablated, **place, readers="latent")
    assert (span["pairwise_accuracy"], latent["pairwise_accuracy"], latent["tie_rate"]) == (1.0, 0.5, 1.0)


def test_the_fall_under_additions_is_paired(tmp_path: Path) -> None:
    """Accuracy without additions less that with them, by dataset and for the mean over datasets."""
    contrasts = [
        *named(world(10, asked="amber", planted="amber", seed=1, added=20), "a"),
        *named(world(10, asked="amber", planted="amber", seed=2, added=20), "b"),
    ]
    found = report(tmp_path, contrasts, cues_added=(0, 20))
    system = {"system": "cue-min-idf", "subset": "all"}
    falls = []
    for dataset in ("a", "b"):
        (alone,) = rows(found, **system, dataset=dataset, added=0)
        (added,) = rows(found, **system, dataset=dataset, added=20)
        assert added["fall"] == pytest.approx(alone["pairwise_accuracy"] - added["pairwise_accuracy"])
        assert added["fall_lo"] <= added["fall"] <= added["fall_hi"]
        assert "fall" not in alone
        falls.append(added["fall"])
    (mean,) = rows(found, **system, dataset="mean", added=20)
    assert mean["fall"] == pytest.approx(sum(falls) / 2)
    assert (mean["n"], mean["headline"]) == (2, False)
    (size,) = rows(found, system="cue-size", subset="all", dataset="mean", added=20)
    assert (size["fall"], size["fall_lo"], size["fall_hi"]) == (0.0, 0.0, 0.0)


def test_people_see_readers_and_falls_in_sections_of_their_own(ablated: Report, tmp_path: Path) -> None:
    """And the headline table is what it is without them."""
    contrasts = named(world(6, seed=1, added=20), "a")
    added = report(tmp_path, contrasts, cues_added=(0, 20))
    console = Console(width=200, record=True, file=(tmp_path / "shown").open("w"))
    for table in [*pairwise_tables(ablated.rows), *pairwise_tables(added.rows)]:
        console.print(table)
    shown = console.export_text()
    console.file.close()
    assert "Readers of tests.scorers:three_readers" in shown
    assert "content+latent" in shown
    assert "Fall of the accuracy from +0 to +20" in shown
    plain = [row for row in ablated.rows if not row.get("readers")]
    assert len(pairwise_tables(plain)[0].columns) == len(pairwise_tables(ablated.rows)[0].columns)
