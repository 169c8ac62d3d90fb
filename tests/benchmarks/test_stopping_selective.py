"""Areas and selective risks with weights, against sums that are written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchmarks.stats import auroc
from benchmarks.stopping.selective import COVERAGES, SELECTIVE, aurc, curve, risk_at, selective, steps

RECORDS = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.5, 0.7]), st.booleans()), min_size=2, max_size=12)


def one(count: int) -> NDArray[np.float64]:
    return np.ones((1, count))


@given(RECORDS)
def test_auroc_equals_that_of_single_records(records: list[tuple[float, bool]]) -> None:
    """Ties count half; with one label only it is undefined."""
    scores, labels = np.array([score for score, _ in records]), np.array([label for _, label in records])
    found = selective(scores, labels, one(len(records)))[0, 0]
    expected = auroc(scores, labels)
    assert np.isnan(found) if expected is None else found == pytest.approx(expected)


@settings(max_examples=30)
@given(RECORDS, st.integers(0, 99))
def test_weights_are_repetitions(records: list[tuple[float, bool]], seed: int) -> None:
    """A record with weight 3 counts as three records would, in every column; weight 0 as none."""
    scores, labels = np.array([score for score, _ in records]), np.array([label for _, label in records])
    weights = np.random.default_rng(seed).integers(0, 4, size=len(records))
    if not weights.any():
        weights[0] = 1
    by_weight = selective(scores, labels, weights[None].astype(float))
    repeated = selective(np.repeat(scores, weights), np.repeat(labels, weights), one(int(weights.sum())))
    assert by_weight == pytest.approx(repeated, nan_ok=True)


def test_the_area_is_that_under_the_curve() -> None:
    """Against a fine sum over the curve, with ties: 1 complete first, then a step of three with one incomplete."""
    scores = np.array([0.9, 0.5, 0.5, 0.5, 0.1])
    complete = np.array([True, True, False, True, False])
    found = steps(scores, complete, one(5))
    at = (np.arange(2_000) + 0.5) / 2_000
    assert aurc(found)[0] == pytest.approx(risk_at(found, at.tolist())[0].mean(), abs=1e-4)
    # at 0.2: 0 of 1; at 0.4: a third of a record is wrong among 2; at 0.8: 1 of 4; at 1: 2 of 5
    assert risk_at(found, [0.2, 0.4, 0.8, 1.0])[0] == pytest.approx([0, 1 / 6, 0.25, 0.4])
    assert curve(scores, complete) == [
        {"coverage": 0.2, "risk": 0.0},
        {"coverage": 0.8, "risk": 0.25},
        {"coverage": 1.0, "risk": 0.4},
    ]


def test_what_has_no_score_comes_last() -> None:
    """A search without a valid score is the least trusted; it is never left out."""
    scores, complete = np.array([np.nan, -9.0]), np.array([False, True])
    assert selective(scores, complete, one(2))[0, 0] == 1.0
    assert risk_at(steps(scores, complete, one(2)), [0.5, 1.0])[0] == pytest.approx([0, 0.5])


def test_undefined_is_nan_inside_and_never_raises() -> None:
    """Case E02: no record, and one label only, in any number of draws; it becomes null in rows."""
    nothing = selective(np.zeros(0), np.zeros(0, dtype=np.bool_), np.ones((3, 0)))
    assert nothing.shape == (3, len(SELECTIVE)) == (3, 2 + len(COVERAGES))
    assert np.isnan(nothing).all()
    alike = selective(np.array([0.1, 0.2]), np.array([True, True]), one(2))[0]
    assert np.isnan(alike[0])
    assert alike[1:] == pytest.approx(0)
    assert curve(np.zeros(0), np.zeros(0, dtype=np.bool_)) == []
