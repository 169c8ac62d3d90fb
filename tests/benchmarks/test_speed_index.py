"""What `speed index` measures: texts, rivals, and what is made of the times. No time is asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.cli import app
from benchmarks.errors import SettingsError
from benchmarks.output import Row
from benchmarks.speed import index as speed
from benchmarks.speed.index import CASES, IndexSpeedOptions, growth, race, run_speed_index
from benchmarks.speed.index_rivals import CANDIDATES, NumpyDot, RankBm25, best
from benchmarks.speed.index_texts import PASSAGE_WORDS, QUERY_WORDS, write_passages, write_queries

pytestmark = pytest.mark.usefixtures("quick_lanes")


def test_texts_are_seeded_and_their_words_as_uneven_as_those_of_a_language() -> None:
    """A few long lists and many short ones are what an index is slow or fast on."""
    some = list(write_passages(2_500, seed=1))
    assert some == list(write_passages(2_500, seed=1))
    assert len({one.id for one in (*some, *write_passages(2_500, seed=2))}) == 5_000
    words = [one.text.split() for one in some]
    assert np.mean([len(one) for one in words]) == pytest.approx(PASSAGE_WORDS, abs=2)
    counts = np.sort(np.unique([word for one in words for word in one], return_counts=True)[1])[::-1]
    assert 0.05 < counts[0] / counts.sum() < 0.08
    assert np.mean(counts == 1) > 0.3
    queries = write_queries(5, seed=1)
    assert queries == write_queries(5, seed=1)
    assert {len(one.split()) for one in queries} == {QUERY_WORDS}


def test_rivals_find_what_they_should() -> None:
    """A rival that finds something else measures something else."""
    texts = [one.text for one in write_passages(300, seed=0)]
    assert RankBm25(texts).search(texts[7])[0] == 7
    dot = NumpyDot(300, 16, seed=0)
    assert len(dot.search("a query")) == CANDIDATES
    scores = np.array([0.1, 0.5, -1.0, 0.3])
    assert best(scores).tolist() == [1, 3, 0, 2]


def test_a_slow_rival_is_asked_less_and_the_index_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """How many queries each was asked is told, so that a quantile over three is known for one."""
    monkeypatch.setattr(speed, "RIVAL_SECONDS", 0.0)
    asked: list[str] = []
    times = race({"sparse": asked.append, "rank_bm25": lambda _: None}, ["a", "b", "c", "d", "e"])
    assert (len(times["sparse"]), len(times["rank_bm25"])) == (5, speed.RIVAL_LEAST)
    assert asked == ["a", "a", "b", "c", "d", "e"]


def test_growth_is_the_exponent_between_neighbours() -> None:
    """Ten times the passages: ten times the build is 1, an equal query 0."""
    rows: list[Row] = [
        {"case": "encoder", "passages": 64},
        {"case": "build", "passages": 1_000, "build_seconds": 100.0},
        {"case": "build", "passages": 10_000, "build_seconds": 1_000.0},
        {"case": "build", "passages": 100, "build_seconds": 10.0},
        {"case": "sparse", "passages": 100, "ms_p50": 3.0},
        {"case": "sparse", "passages": 1_000, "ms_p50": 3.0},
    ]
    found = growth(rows)
    assert [(row["of"], row["from"], row["passages"]) for row in found] == [
        ("build", 100, 1_000),
        ("build", 1_000, 10_000),
        ("sparse", 100, 1_000),
    ]
    assert [row["exponent"] for row in found] == pytest.approx([1, 1, 0])


def test_two_small_indexes_in_a_process_of_their_own(tiny_backbone: object) -> None:
    """A row for each case and size; every figure is a positive number."""
    report = run_speed_index(IndexSpeedOptions(sizes=(200, 100), queries=3), encoder=str(tiny_backbone))
    assert report.failures == []
    cases = [(row["case"], row["passages"]) for row in report.rows]
    assert cases[0] == ("encoder", speed.ENCODED)
    assert cases[1:9] == [(case, size) for size in (100, 200) for case in ("build", *CASES)]
    assert {case for case, _ in cases[9:]} == {"growth"}
    for row in report.rows[:9]:
        assert all(value > 0 for value in row.values() if isinstance(value, int | float))
    assert report.rows[2]["n"] == report.rows[2]["rank_bm25_n"] == 3
    json.dumps(report.settings)


def test_a_missing_model_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be measured is named with its reason; the rest is measured."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    report = run_speed_index(IndexSpeedOptions(sizes=(100,), queries=1), encoder="/absent/model")
    (failure,) = report.failures
    assert failure["case"] == "encoder"
    assert "/absent/model" in str(failure["reason"])
    assert [row["case"] for row in report.rows] == ["build", *CASES]


def test_options_out_of_range_are_usage_errors() -> None:
    """A size below the number of candidates would compare unlike work."""
    with pytest.raises(SettingsError, match="at least 100"):
        IndexSpeedOptions(sizes=(99,))
    done = CliRunner().invoke(app, ["speed", "index", "--queries", "0", "--json"])
    assert done.exit_code == 2
    assert done.stdout == ""
