"""What `speed cache` measures, and the commands of the cache. No time is asserted."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.speed.cache import run_speed_cache

RUNNER = CliRunner()


def test_each_size_is_filled_and_asked_and_its_growth_told() -> None:
    """Growth belongs to the larger of two sizes; the smallest has none."""
    report = run_speed_cache(sizes=[40, 80], queries=3, seed=1)
    assert [(row["passages"], row["n"]) for row in report.rows] == [(40, 3), (80, 3)]
    for row in report.rows:
        for name in ("ms_p50", "ms_p95", "cpu_ms_p50", "cpu_ms_p95", "store_seconds", "index_seconds"):
            value = row[name]
            assert isinstance(value, float)
            assert value > 0
    assert [row["growth"] is None for row in report.rows] == [True, False]
    assert [row["cpu_growth"] is None for row in report.rows] == [True, False]


def test_killed_writers_are_reported() -> None:
    """`cache-crash` prints one object; nothing lost is exit status 0."""
    done = RUNNER.invoke(app, ["cache-crash", "--processes", "1", "--seconds", "1", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["benchmark"], found["failures"], found["rows"][0]["lost"]) == ("cache-crash", [], 0)


@pytest.mark.parametrize("command", [["cache-crash"], ["speed", "cache"]])
def test_help_teaches(command: list[str]) -> None:
    done = RUNNER.invoke(app, [*command, "--help"])
    assert done.exit_code == 0
    assert f"python -m benchmarks {' '.join(command)}" in " ".join(done.output.split())
