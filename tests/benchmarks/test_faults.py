"""The fault run: what it counts as right, and that it sees what is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.errors import SettingsError
from benchmarks.faults import FaultOptions, holds, run_faults
from benchmarks.faultserver import all_faults
from benchmarks.output import Report

QUICK = ("fine", "reset-once", "gzip-bomb", "redirect-private", "402", "429-long", "robots-forbids", "bad-head")


@pytest.fixture(scope="module")
def report() -> Report:
    return run_faults(FaultOptions(fetches=24, seed=3, only=QUICK))


def test_each_fetch_ends_as_what_it_is_and_leaves_nothing_behind(report: Report) -> None:
    together, *rows = report.rows
    assert [row["case"] for row in rows] == list(QUICK)
    assert [row["n"] for row in rows] == [3] * 8
    assert report.failures == []
    assert (together["unexpected"], together["not_whole"], together["hangs"], together["tasks_left"]) == (
        0,
        0,
        0,
        0,
    )
    assert holds(report)


def test_a_gigabyte_in_a_megabyte_is_not_unpacked(report: Report) -> None:
    """Memory is that of the caps, not of what servers send."""
    growth = report.rows[0]["memory_growth_mb"]
    assert isinstance(growth, float)
    assert growth < 300


def test_a_failure_and_a_task_that_is_left_do_not_hold(report: Report) -> None:
    together, *rows = report.rows
    assert not holds(replace(report, failures=[{"fault": "fine", "outcome": "hang", "detail": ""}]))
    assert not holds(replace(report, rows=[together | {"tasks_left": 1}, *rows]))


def test_every_outcome_of_the_fetcher_that_a_server_can_cause_is_among_the_faults() -> None:
    outcomes = {fault.outcome for fault in all_faults(0).values()}
    caused = (
        "ok blocked robots_denied rate_limited payment_required too_large timeout low_content unsupported error"
    )
    assert outcomes == set(caused.split())


@pytest.mark.parametrize(
    "options", [FaultOptions(fetches=3, seed=0), FaultOptions(fetches=9, seed=0, only=("fine", "kaputt"))]
)
def test_what_cannot_be_measured_is_said(options: FaultOptions) -> None:
    with pytest.raises(SettingsError, match=r"fewer than|kaputt"):
        run_faults(options)
