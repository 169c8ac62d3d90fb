"""The simulator whole: every strategy on one small stream, with the real server, cache, scorer and policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.coverage.layout import StreamOptions
from benchmarks.coverage.lines import CoverageFile
from benchmarks.coverage.origin import Counts
from benchmarks.coverage.runs import miscounts
from benchmarks.coverage.simulation import CoverageOptions, run_coverage
from benchmarks.errors import SettingsError
from benchmarks.output import Report, Row
from retrieval.cache.records import Tally
from tests.benchmarks.coverage_towns import write_records
from tests.towns import need_model


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> CoverageOptions:
    need_model()
    folder = tmp_path_factory.mktemp("towns")
    stream = StreamOptions(records=(write_records(folder / "towns.jsonl"),), questions=6, seed=8)
    return CoverageOptions(stream=stream, out=folder / "run.jsonl")


@pytest.fixture(scope="module")
def report(options: CoverageOptions) -> Report:
    return run_coverage(options)


def _by_name(report: Report) -> dict[str, dict[str, object]]:
    return {str(row["strategy"]): dict(row) for row in report.rows}


def test_every_strategy_has_its_figures_and_the_counts_agree(report: Report) -> None:
    """The cache's own counters are those of the origin: anything else is a failure of the report."""
    assert report.failures == []
    names = ["always", "coverage", "ttl", "oracle", "http"]
    assert list(_by_name(report))[:5] == names
    assert "similarity-passage-matched-sparing" in _by_name(report)
    assert [row["questions"] for row in report.rows] == [3] * len(report.rows)


def test_always_fetches_most_and_the_oracle_never_errs(report: Report) -> None:
    rows = _by_name(report)
    assert rows["always"]["hits"] == 0.0
    assert rows["oracle"]["false_hits_counted"] == rows["oracle"]["false_misses_counted"] == 0
    fetches = {name: rows[name]["fetches"] for name in ("always", "http", "coverage", "oracle")}
    assert max(fetches.values()) == fetches["always"]  # type: ignore[type-var]


def test_a_run_is_taken_up_again_and_says_the_same(options: CoverageOptions, report: Report) -> None:
    """Every strategy is in the file, so nothing is searched twice and each figure stays, times included."""
    again = run_coverage(options)
    assert list(again.rows) == list(report.rows)


def test_a_strategy_that_is_run_again_does_the_same(options: CoverageOptions, report: Report) -> None:
    """On each question, from an empty cache: only times differ, and the figures of the others stay."""
    assert options.out is not None
    other = options.out.with_name("other.jsonl")
    lines = options.out.read_text().splitlines(keepends=True)
    other.write_text("".join(line for line in lines if '"strategy":"coverage"' not in line))
    again = run_coverage(replace(options, out=other))
    assert [untimed(row) for row in again.rows] == [untimed(row) for row in report.rows]


def untimed(row: Row) -> Row:
    """What does not depend on the machine."""
    return {name: value for name, value in row.items() if not name.startswith("seconds")}


def test_only_whole_strategies_count(tmp_path: Path) -> None:
    """What a stopped run left of a strategy is not taken for it."""
    file = CoverageFile(tmp_path / "run.jsonl", {"seed": 0})
    assert file.whole("coverage", 0) == ()
    assert file.whole("coverage", 2) is None


def test_a_cache_that_counts_otherwise_is_told() -> None:
    before, after = Tally(requests=2, bytes=10), Tally(requests=5, bytes=30, revalidations=1)
    assert miscounts("coverage", before, after, Counts(pages=3, bytes=20, not_modified=1)) == []
    assert miscounts("coverage", before, after, Counts(pages=4, bytes=20, not_modified=1)) == [
        {"strategy": "coverage", "miscounted": "requests", "by_cache": 3, "by_origin": 4}
    ]


def test_each_stream_has_its_own_seed_and_file(options: CoverageOptions) -> None:
    """A stream is an independent draw, and can be taken up again by itself."""
    parts = replace(options, streams=2).parts()
    assert [part.stream.seed for part in parts] == [8, 9]
    files = [part.out for part in parts]
    assert [file.name for file in files if file] == ["run.jsonl", "run-1.jsonl"]


def test_a_run_without_a_stream_is_refused() -> None:
    with pytest.raises(SettingsError, match="at least 1 stream"):
        CoverageOptions(stream=StreamOptions(records=()), streams=0)
