"""The size correction and its fit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rinse.size import SizeCorrection, fit_size_correction


def test_the_formula_of_the_paper() -> None:
    correction = SizeCorrection(alpha=1.0, beta=2.0, mu=0.5, sigma=4.0)
    assert correction.apply(10.0, 4) == pytest.approx((10.0 - 1.0 - 2.0 * math.log(5) - 0.5) / 4.0)


def test_the_fit_finds_the_trend_within_questions_whatever_their_difficulty() -> None:
    """Hard questions come with large sets here; a trend across questions would see scores fall."""
    random = np.random.default_rng(5)
    raw, sizes, groups = [], [], []
    for question in range(200):
        ease = random.normal() - 0.05 * question
        for size in (question % 7 + 1 + question // 10, 20 + question):
            raw.append(ease + 0.7 * math.log1p(size))
            sizes.append(size)
            groups.append(str(question))
    assert fit_size_correction(raw, sizes, groups).beta == pytest.approx(0.7)


def test_corrected_training_scores_have_mean_zero_and_deviation_one() -> None:
    random = np.random.default_rng(7)
    sizes = [int(size) for size in random.integers(1, 50, 400)]
    groups = [str(number // 4) for number in range(400)]
    raw = [0.2 * math.log1p(size) + random.normal() for size in sizes]
    fit = fit_size_correction(raw, sizes, groups)
    scores = [fit.apply(value, size) for value, size in zip(raw, sizes, strict=True)]
    assert np.mean(scores) == pytest.approx(0.0, abs=1e-9)
    assert np.std(scores) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("raw", "sizes", "groups"),
    [([1.0], [1], ["a"]), ([1.0, 2.0], [1, 2], ["a", "b"]), ([1.0, 2.0], [1], ["a", "a"])],
)
def test_what_cannot_be_fitted_is_refused(raw: list[float], sizes: list[int], groups: list[str]) -> None:
    with pytest.raises(ValueError, match=r"at least two|No group"):
        fit_size_correction(raw, sizes, groups)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_that_would_give_nan_is_refused(sigma: float) -> None:
    with pytest.raises(ValueError, match="sigma"):
        SizeCorrection(alpha=0.0, beta=0.0, mu=0.0, sigma=sigma)
