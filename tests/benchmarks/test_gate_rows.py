"""The gate's figures, held against cases worked by hand."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from benchmarks.gate.rows import Case, gate_rows, training_rows
from benchmarks.gate.table import gate_tables
from benchmarks.gate.threshold import Ground, Point
from tests.benchmarks.gate_world import record


def case(group: str, *, sufficient: bool, refused: bool, stopped: bool, seconds: float = 2.0) -> Case:
    return Case(
        record=record(group, sufficient=sufficient),
        refused=refused,
        seconds=seconds,
        stopped=stopped,
        score_seconds=0.5,
    )


CASES = [
    case("a", sufficient=False, refused=False, stopped=True),
    case("b", sufficient=False, refused=False, stopped=False, seconds=4.0),
    case("c", sufficient=False, refused=True, stopped=True),
    case("a", sufficient=True, refused=False, stopped=False),
    case("b", sufficient=True, refused=False, stopped=True),
    case("c", sufficient=True, refused=True, stopped=False),
    case("d", sufficient=True, refused=False, stopped=False),
]


def test_figures_of_cases_worked_by_hand() -> None:
    """Two of three insufficient records are answered and the gate prevents one of the two; of four sufficient ones
    one is refused and one stopped; six of sixteen seconds are not generated, and seven scores take half a second.
    """
    row = gate_rows(CASES, {"generator": "toy"}, draws=200, seed=17)[-1]
    assert row["dataset"] == "all"
    assert (row["n_sufficient"], row["n_insufficient"], row["groups"]) == (4, 3, 4)
    assert row["answered_insufficient"] == pytest.approx(2 / 3)
    assert row["gated_answered_insufficient"] == pytest.approx(1 / 3)
    assert row["answers_prevented"] == pytest.approx(1 / 2)
    assert row["refused_sufficient"] == pytest.approx(1 / 4)
    assert row["gated_refused_sufficient"] == pytest.approx(2 / 4)
    assert row["refusals_added"] == pytest.approx(1 / 4)
    assert row["generation_skipped"] == pytest.approx(6 / 16)
    assert row["time_saved"] == pytest.approx((6 - 3.5) / 16)
    assert (row["ms_p50"], row["score_ms_p50"], row["gated_ms_p50"]) == (2000.0, 500.0, 2500.0)


def test_a_gate_that_stops_nothing_costs_its_own_time_only() -> None:
    """The same reply serves with and without the gate: figures are equal in every draw, time is lost."""
    open_gate = [
        case(one.record.contrast.group, sufficient=one.record.side.sufficient, refused=one.refused, stopped=False)
        for one in CASES
    ]
    row = gate_rows(open_gate, {}, draws=200, seed=17)[-1]
    for name in ("answered_insufficient", "refused_sufficient"):
        for end in ("", "_lo", "_hi"):
            assert row[f"{name}{end}"] == row[f"gated_{name}{end}"]
    assert row["answers_prevented"] == row["refusals_added"] == row["generation_skipped"] == 0.0
    assert row["time_saved"] == pytest.approx(-0.25)


def test_what_was_not_measured_is_none() -> None:
    """Without an insufficient record nothing is said about them; without any case there is no row."""
    (row, _) = gate_rows(CASES[3:], {}, draws=50, seed=17)
    assert row["answered_insufficient"] is row["answers_prevented"] is row["answers_prevented_lo"] is None
    assert gate_rows([], {}, draws=50, seed=17) == []


def test_rows_of_training_say_what_to_expect() -> None:
    """For each threshold the shares that it stops, by test and over all of its ground."""
    found = [
        Point(test=("a", "deletion"), sufficient=sufficient, score=score)
        for sufficient, score in ((True, 1.0), (True, 3.0), (False, 0.0), (False, 4.0))
    ]
    ground = Ground(name="a", without=None, training=())
    rows = training_rows({"a": ground}, {"a": found}, {"a": 2.0}, {"split": "train"})
    assert [(row["dataset"], row["construction"]) for row in rows] == [("a", "deletion"), ("all", "all")]
    assert {(row["stopped_sufficient"], row["stopped_insufficient"], row["auroc"]) for row in rows} == {
        (0.5, 0.5, 0.5)
    }


def test_people_see_what_the_gate_changes() -> None:
    """One table a generator with every test, figures without and with the gate side by side; then training."""
    judged = gate_rows(CASES, {"system": "words", "generator": "toy [1]"}, draws=50, seed=17)
    point = Point(test=("a", "deletion"), sufficient=True, score=1.0)
    ground = Ground(name="a", without=None, training=())
    rows = [*judged, *training_rows({"a": ground}, {"a": [point]}, {"a": 2.0}, {})]
    console = Console(width=200, record=True, file=StringIO())
    for table in gate_tables(rows):
        console.print(table)
    shown = console.export_text()
    for needed in (
        "words in front of toy [1]",
        "toy, hard-substitution",
        "0.667 to 0.333",
        "2,000 to 2,500",
        "1.000",
    ):
        assert needed in shown
    assert gate_tables([]) == []
