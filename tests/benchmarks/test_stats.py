"""Figures of pairs and of records: hand-worked, against SciPy, and by their properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from benchmarks.errors import StatisticsError
from benchmarks.stats import (
    auroc,
    brier_score,
    calibration_error,
    compare,
    group_auroc,
    pairwise_accuracy,
    tie_rate,
)

Records = list[tuple[float, bool, str]]
SCORES = st.integers(-3, 3).map(lambda n: n / 2)
RECORDS = st.lists(st.tuples(SCORES, st.booleans(), st.sampled_from("abc")), max_size=30)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=30)


def test_ties_count_half() -> None:
    """The definition of section 3.2, worked by hand: two wins, a tie and a loss of four pairs."""
    good, bad = [3.0, 1.0, 2.0, 0.0], [1.0, 0.5, 2.0, 4.0]
    assert compare(good, bad).tolist() == [1.0, 1.0, 0.5, 0.0]
    assert pairwise_accuracy(good, bad) == 0.625
    assert tie_rate(good, bad) == 0.25


@given(pairs=PAIRS)
def test_swapping_the_sides_mirrors_the_accuracy(pairs: list[tuple[float, float]]) -> None:
    """Accuracy lies in [0, 1], a scorer turned round gets the rest, and repeating all pairs changes nothing."""
    good, bad = [one for one, _ in pairs], [other for _, other in pairs]
    found, turned = pairwise_accuracy(good, bad), pairwise_accuracy(bad, good)
    assert found is not None
    assert turned is not None
    assert 0 <= found <= 1
    assert found + turned == pytest.approx(1)
    assert pairwise_accuracy(good * 3, bad * 3) == pytest.approx(found)
    assert pairwise_accuracy(good[::-1], bad[::-1]) == found


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named(value: float) -> None:
    """NaN never becomes a figure (case S04): the error names system, pair and side."""
    good, bad = np.zeros((2, 2)), np.zeros((2, 2))
    bad[1, 0] = value
    with pytest.raises(StatisticsError, match="System reader gives the insufficient side of pair q2"):
        compare(good, bad, systems=["reader", "cue"], pairs=["q1", "q2"])
    with pytest.raises(StatisticsError, match="finite"):
        auroc([0.0, value], [True, False])
    with pytest.raises(StatisticsError, match="finite"):
        brier_score([value], [True])


def test_nothing_measured_is_undefined() -> None:
    """Case E02: without records, pairs or one of the labels a figure is None."""
    assert pairwise_accuracy([], []) is None
    assert tie_rate([], []) is None
    assert auroc([], []) is None
    assert auroc([0.2, 0.4], [True, True]) is None
    assert brier_score([], []) is None
    assert calibration_error([], []) is None
    for nothing in (group_auroc([], [], []), group_auroc([0.1, 0.2], [True, False], ["a", "b"])):
        assert (nothing.weighted, nothing.mean, nothing.groups) == (None, None, 0)


@given(records=RECORDS)
def test_pooled_area_equals_mann_whitney(records: Records) -> None:
    """The pooled area is the Mann-Whitney statistic by the number of pairs, as SciPy computes it."""
    good = [score for score, label, _ in records if label]
    bad = [score for score, label, _ in records if not label]
    found = auroc([score for score, _, _ in records], [label for _, label, _ in records])
    if not good or not bad:
        assert found is None
        return
    assert found == pytest.approx(mannwhitneyu(good, bad, method="asymptotic").statistic / (len(good) * len(bad)))


@given(records=RECORDS, seed=st.integers(0, 9))
def test_area_inside_groups_is_the_pairwise_accuracy(records: Records, seed: int) -> None:
    """Weighted by pairs the two are one figure (section 3.2); the order of records does not matter."""
    records = [records[at] for at in np.random.default_rng(seed).permutation(len(records))]
    found = group_auroc(
        [score for score, _, _ in records], [label for _, label, _ in records], [group for _, _, group in records]
    )
    pairs = [
        (one, other)
        for one, good, group in records
        for other, bad, same in records
        if good > bad and group == same
    ]
    assert found.weighted == pairwise_accuracy([one for one, _ in pairs], [other for _, other in pairs])


def test_a_large_group_does_not_outvote_small_ones_in_the_mean() -> None:
    """The unweighted mean counts groups, the weighted one counts pairs; a group with one label counts nowhere."""
    scores = [2.0, 1.0, 1.0, 1.0, 0.0, 5.0, 9.0]
    labels = [True, False, False, False, True, False, True]
    found = group_auroc(scores, labels, ["a", "a", "a", "a", "b", "b", "c"])
    assert (found.weighted, found.mean, found.groups) == (0.75, 0.5, 2)


def test_groups_may_differ_in_level() -> None:
    """What pooling gets wrong (Simpson 1951): right inside every group, wrong over all records together."""
    scores, labels, groups = [9.0, 8.0, 7.0, 1.0, 0.5, 0.1], [True, False, False, True, True, False], "aaabbb"
    assert group_auroc(scores, labels, list(groups)).weighted == 1
    pooled = auroc(scores, labels)
    assert pooled is not None
    assert pooled < 0.6


def test_calibration_by_hand() -> None:
    """Two bins: 0.1 and 0.15 with one of two sufficient (off by 0.375), 1.0 with both (off by 0)."""
    probabilities, labels = [0.1, 0.15, 1.0, 1.0], [True, False, True, True]
    assert calibration_error(probabilities, labels) == pytest.approx(0.375 / 2)
    assert brier_score(probabilities, labels) == pytest.approx((0.81 + 0.0225) / 4)
    assert calibration_error([0.5, 0.5], [True, False]) == 0


@given(records=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=30))
def test_calibration_figures_are_bounded(records: list[tuple[float, bool]]) -> None:
    """Both lie in [0, 1]; with one bin the error is the distance of two means."""
    probabilities, labels = [one for one, _ in records], [label for _, label in records]
    error, brier = calibration_error(probabilities, labels), brier_score(probabilities, labels)
    assert error is not None
    assert brier is not None
    assert 0 <= error <= 1
    assert 0 <= brier <= 1
    whole = calibration_error(probabilities, labels, bins=1)
    assert whole == pytest.approx(abs(np.mean(probabilities) - np.mean(labels)))


def test_scores_that_are_no_probabilities_are_refused() -> None:
    """A score of 1.2 has no Brier score; shapes that do not fit are refused too."""
    with pytest.raises(StatisticsError, match=r"probability 1\.2"):
        calibration_error([1.2], [True])
    with pytest.raises(StatisticsError, match="at least 1"):
        calibration_error([0.2], [True], bins=0)
    with pytest.raises(StatisticsError, match="shape"):
        compare([1.0], [1.0, 2.0])
    with pytest.raises(StatisticsError, match="shape"):
        auroc([1.0], [True, False])
    with pytest.raises(StatisticsError, match="group"):
        group_auroc([1.0], [True], [])
