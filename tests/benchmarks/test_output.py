"""What benchmarks print: one JSON object with null for the undefined, or a table."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from benchmarks.output import Report, emit, report_json, report_table


def report(**changes: Any) -> Report:
    full: dict[str, Any] = {
        "benchmark": "toy",
        "settings": {"limit": None, "policies": ("band", "fixed-2")},
        "seed": 7,
        "rows": [
            {"dataset": "a", "n": 2, "f1": 0.5, "risk": None},
            {"dataset": "b", "n": 0, "f1": None, "recall@5": 0.25},
        ],
        "failures": [{"id": "q1", "error": "ValueError: bad [bracket]"}],
    }
    return Report(**(full | changes))


def test_the_object_has_the_documented_keys_and_flat_rows() -> None:
    """architecture.md, "What a benchmark prints"."""
    data = json.loads(report_json(report()))
    assert list(data) == ["benchmark", "settings", "seed", "rows", "failures", "versions", "machine"]
    assert data["rows"][0] == {"dataset": "a", "n": 2, "f1": 0.5, "risk": None}
    assert data["settings"]["policies"] == ["band", "fixed-2"]
    assert data["versions"]["sufficit"]
    assert data["versions"]["python"]
    assert data["machine"]["cores"] >= 1
    assert data["machine"]["processor"]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(bad: float) -> None:
    """Case E02: NaN is no JSON. It becomes null wherever it stands."""
    text = report_json(report(rows=[{"f1": bad}], settings={"deep": [{"x": bad}]}))
    assert json.loads(text, parse_constant=pytest.fail)["rows"] == [{"f1": None}]
    assert json.loads(text)["settings"] == {"deep": [{"x": None}]}


def test_json_is_all_of_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    """A program reads stdout: one object, one line, nothing else."""
    emit(report(), as_json=True)
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out)["benchmark"] == "toy"


def test_people_get_the_same_figures_and_the_failures(capsys: pytest.CaptureFixture[str]) -> None:
    """Every figure and every failure is shown; the undefined is a dash; brackets are text, not markup."""
    emit(report(), as_json=False)
    out = capsys.readouterr().out
    for shown in ("toy", "recall@5", "0.250", "0.500", "-", "bad [bracket]"):
        assert shown in out


def test_many_rows_stand_one_below_the_other() -> None:
    """Few rows with more figures than fit a line are columns; all others are lines."""
    wide = {f"figure{n}": n / 10 for n in range(11)}
    few = report_table(report(rows=[wide, wide]))
    some = report_table(report())
    many = report_table(report(rows=[{"dataset": str(n), "f1": n / 10} for n in range(10)]))
    assert (len(few.columns), few.row_count) == (3, 11)
    assert (len(some.columns), some.row_count) == (5, 2)
    assert (len(many.columns), many.row_count) == (2, 10)


def test_a_report_without_rows_is_still_a_report() -> None:
    """An empty file of questions gives an empty table, not a traceback."""
    assert report_table(report(rows=[])).row_count == 0
    assert json.loads(report_json(report(rows=[])))["rows"] == []
