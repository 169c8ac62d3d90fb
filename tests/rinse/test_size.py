"""The size correction and its fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rinse.size import SizeCorrection, fit_padded_correction, fit_size_correction, fit_size_curve

_FINITE = st.floats(-5, 5)


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


@st.composite
def _curves(draw: st.DrawFn, *, rising: bool = False) -> SizeCorrection:
    """Corrections with a limit and a curve; `rising`: the trend never falls."""
    steps = draw(st.lists(st.tuples(st.floats(0.1, 2), _FINITE), min_size=2, max_size=6))
    heights = [abs(step) if rising else step for _, step in steps]
    beta = draw(_FINITE)
    return SizeCorrection(
        alpha=draw(_FINITE),
        beta=abs(beta) if rising else beta,
        mu=draw(_FINITE),
        sigma=draw(st.floats(0.1, 5)),
        limit=draw(st.integers(0, 60)),
        knots=tuple(np.cumsum([gap for gap, _ in steps]).tolist()),
        values=tuple(np.cumsum(heights).tolist()),
    )


@given(_curves(), _FINITE)
def test_the_curve_joins_the_line_where_it_begins(curve: SizeCorrection, raw: float) -> None:
    """A set that grows past the largest training set must not jump."""
    assert curve.limit is not None
    line = SizeCorrection(alpha=curve.alpha, beta=curve.beta, mu=curve.mu, sigma=curve.sigma)
    assert curve.apply(raw, curve.limit) == line.apply(raw, curve.limit)
    x = math.log1p(curve.limit)
    step = np.interp(math.log1p(curve.limit + 1), curve.knots, curve.values) - np.interp(
        x, curve.knots, curve.values
    )
    assert curve.trend(curve.limit + 1) - curve.trend(curve.limit) == pytest.approx(step, abs=1e-9)


@given(_curves(rising=True), st.integers(0, 500))
def test_a_rising_curve_never_falls(curve: SizeCorrection, passages: int) -> None:
    """Interpolation invents no bumps."""
    assert curve.trend(passages + 1) >= curve.trend(passages) - 1e-9


@given(_curves(), st.integers(10**6, 10**9))
def test_beyond_the_last_knot_the_trend_is_flat(curve: SizeCorrection, passages: int) -> None:
    """Where no record was, nothing is extrapolated."""
    assert curve.trend(passages) == pytest.approx(curve.trend(10 * passages))


def test_a_limit_without_a_curve_is_a_flat_tail() -> None:
    """The paper's simplest variant for sets larger than the training sets."""
    correction = SizeCorrection(alpha=1.0, beta=2.0, mu=0.0, sigma=1.0, limit=22)
    assert correction.trend(22) == correction.trend(120) == pytest.approx(1.0 + 2.0 * math.log(23))


@pytest.mark.parametrize(
    "wrong",
    [
        {"knots": (1.0, 2.0), "values": (0.0, 1.0)},
        {"limit": 5, "knots": (1.0, 2.0), "values": (0.0,)},
        {"limit": 5, "knots": (2.0, 1.0), "values": (0.0, 1.0)},
        {"limit": 5, "knots": (1.0,), "values": (0.0,)},
        {"limit": 5, "knots": (1.0, 2.0), "values": (0.0, math.nan)},
        {"limit": -1},
    ],
)
def test_a_curve_that_contradicts_itself_is_refused(wrong: dict[str, object]) -> None:
    """A profile's file is untrusted."""
    with pytest.raises(ValueError, match=r"limit|knots|curve"):
        SizeCorrection(**{"alpha": 0.0, "beta": 0.0, "mu": 0.0, "sigma": 1.0} | wrong)  # type: ignore[arg-type]


def _padded(records: int = 60) -> tuple[list[float], list[int], list[str], list[bool]]:
    """Records of 2 to 20 passages and their copies with 5 to 100 more; slope 3 to 20 passages, 1 beyond."""
    random = np.random.default_rng(11)
    raw, sizes, groups, padded = [], [], [], []
    for record in range(records):
        base, ease = int(random.integers(2, 21)), float(random.normal())
        for more in (0, 5, 20, 50, 100):
            x, bend = math.log1p(base + more), math.log1p(20)
            raw.append(ease + 3 * min(x, bend) + max(x - bend, 0.0))
            sizes.append(base + more)
            groups.append(str(record))
            padded.append(more > 0)
    return raw, sizes, groups, padded


def test_the_curve_finds_a_bend_within_records_whatever_their_ease() -> None:
    """The paper's finding: a steep trend for small sets, a flat one for large ones."""
    raw, sizes, groups, _ = _padded()
    knots, values = fit_size_curve(raw, sizes, groups)
    slope = np.diff(values) / np.diff(knots)
    assert knots[0] == pytest.approx(math.log1p(min(sizes)))
    assert knots[-1] == pytest.approx(math.log1p(max(sizes)))
    assert slope[0] == pytest.approx(3.0, abs=0.1)
    assert slope[-1] == pytest.approx(1.0, abs=0.1)


def test_the_whole_correction_levels_padded_records() -> None:
    """With the curve a record scores the same at every size; with the line alone large sets score too low."""
    raw, sizes, groups, padded = _padded()
    curve = fit_padded_correction(raw, sizes, groups, padded=padded, curve=True)
    line = fit_padded_correction(raw, sizes, groups, padded=padded, curve=False)
    assert curve.limit == max(size for size, more in zip(sizes, padded, strict=True) if not more)
    assert line.limit is None
    small, large = raw[0], raw[4]
    assert curve.apply(large, sizes[4]) == pytest.approx(curve.apply(small, sizes[0]), abs=0.2)
    assert line.apply(large, sizes[4]) < line.apply(small, sizes[0]) - 0.5
    plain = [curve.apply(h, n) for h, n, more in zip(raw, sizes, padded, strict=True) if not more]
    assert np.mean(plain) == pytest.approx(0.0, abs=1e-9)
    assert np.std(plain) == pytest.approx(1.0)


def test_no_fit_swallows_nan() -> None:
    """NaN never decides."""
    for fit in (fit_size_correction, fit_size_curve):
        with pytest.raises(ValueError, match="finite"):
            fit([1.0, math.nan], [1, 2], ["a", "a"])
