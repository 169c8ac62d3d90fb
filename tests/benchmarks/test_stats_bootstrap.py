"""The cluster bootstrap: whole clusters, shared draws, intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from benchmarks.errors import StatisticsError
from benchmarks.stats import Interval, bootstrap, macro, worst


def sample(
    clusters: int, systems: int = 2, *, seed: int = 0, name: str = "q"
) -> tuple[list[str], NDArray[np.float64]]:
    """Clusters of one to six pairs, whose wins depend on the cluster."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 7, size=clusters)
    hard = np.repeat(random.uniform(0.3, 0.95, size=clusters), sizes)
    wins = random.choice([0.0, 0.5], size=(len(hard), systems), p=[0.9, 0.1])
    wins[random.random(wins.shape) < hard[:, None]] = 1.0
    return [f"{name}{at}" for at, size in enumerate(sizes) for _ in range(size)], wins


def test_interval_agrees_with_scipy() -> None:
    """The same estimator over clusters in SciPy, with its own draws, gives the same interval within 0.01."""
    clusters, wins = sample(300, 1)
    names = sorted(set(clusters))
    at = np.array([names.index(cluster) for cluster in clusters])
    sums, pairs = np.bincount(at, weights=wins[:, 0]), np.bincount(at)

    def share(won: NDArray[np.float64], all_pairs: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        return np.asarray(won.sum(axis=axis) / all_pairs.sum(axis=axis))

    theirs = stats.bootstrap(
        (sums, pairs),
        share,
        paired=True,
        method="percentile",
        n_resamples=4000,
        rng=np.random.default_rng(1),
        batch=100,
    ).confidence_interval
    ours = bootstrap(clusters, wins).interval(0)
    assert ours.estimate == wins.mean()
    assert ours.lo == pytest.approx(theirs.low, abs=0.01)
    assert ours.hi == pytest.approx(theirs.high, abs=0.01)


def test_pairs_of_a_cluster_are_not_independent() -> None:
    """Ten copies of each pair in its cluster leave the interval as it was: pairs are not drawn one by one."""
    clusters, wins = sample(60)
    assert bootstrap(clusters * 10, np.tile(wins, (10, 1))).interval(0) == bootstrap(clusters, wins).interval(0)


def test_identical_systems_differ_by_exactly_zero() -> None:
    """Case E03: the draws are shared, so that the difference has no spread at all."""
    clusters, wins = sample(200, 1)
    found = bootstrap(clusters, np.tile(wins, (1, 15)))
    for other in range(1, 15):
        assert found.difference(0, other) == Interval(estimate=0.0, lo=0.0, hi=0.0)


def test_paired_differences_are_narrower_than_their_parts() -> None:
    """Two systems that disagree on few pairs differ by little in every draw, however hard the clusters are."""
    clusters, wins = sample(100, 1)
    nearly = wins.copy()
    nearly[:5] = 0.0
    found = bootstrap(clusters, np.hstack([wins, nearly]))
    gap, alone = found.difference(0, 1), found.interval(0)
    assert gap.lo is not None
    assert gap.hi is not None
    assert alone.lo is not None
    assert alone.hi is not None
    assert 0 <= gap.lo <= gap.hi
    assert gap.hi - gap.lo < (alone.hi - alone.lo) / 2
    turned = found.difference(1, 0)
    assert (turned.estimate, turned.lo, turned.hi) == pytest.approx((-(gap.estimate or 0), -gap.hi, -gap.lo))


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), clusters=st.integers(2, 12))
def test_order_of_pairs_and_systems_does_not_matter(seed: int, clusters: int) -> None:
    """Not a digit depends on it, and every draw lies between the worst and the best cluster."""
    names, wins = sample(clusters, 3, seed=seed)
    order = np.random.default_rng(seed).permutation(len(names))
    one = bootstrap(names, wins, draws=50)
    other = bootstrap([names[at] for at in order], wins[order][:, ::-1], draws=50)
    assert one.draws is not None
    assert other.draws is not None
    assert np.array_equal(one.draws, other.draws[:, ::-1])
    assert one.interval(0) == other.interval(2)
    shares = [wins[[name == own for own in names], 0].mean() for name in set(names)]
    assert min(shares) - 1e-12 <= one.draws[:, 0].min() <= one.draws[:, 0].max() <= max(shares) + 1e-12


def test_blocks_do_not_change_a_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are made in blocks for the memory's sake; the size of a block is not a setting of the figure."""
    clusters, wins = sample(50)
    whole = bootstrap(clusters, wins, draws=100)
    monkeypatch.setattr("benchmarks.stats.resampling._CELLS", 350)
    parts = bootstrap(clusters, wins, draws=100)
    assert whole.draws is not None
    assert parts.draws is not None
    assert np.array_equal(whole.draws, parts.draws)


def test_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Of 200 samples of 80 clusters with a known share of wins, 90 to 98 percent of the intervals hold it."""
    random = np.random.default_rng(3)
    held = 0
    for _ in range(200):
        wins = (random.random((80, 1)) < 0.7).astype(float)
        found = bootstrap([f"c{at}" for at in range(80)], wins, draws=400).interval(0)
        assert found.lo is not None
        assert found.hi is not None
        held += found.lo <= 0.7 <= found.hi
    assert 180 <= held <= 196


def test_seed_and_clusters_decide_the_draws() -> None:
    """The same seed repeats itself, another one does not; other clusters draw independently."""
    clusters, wins = sample(40)
    assert bootstrap(clusters, wins).interval(0) == bootstrap(clusters, wins).interval(0)
    assert bootstrap(clusters, wins).interval(0) != bootstrap(clusters, wins, seed=18).interval(0)
    one, other = bootstrap(clusters, wins).draws, bootstrap([f"x{name}" for name in clusters], wins).draws
    assert one is not None
    assert other is not None
    assert abs(np.corrcoef(one[:, 0], other[:, 0])[0, 1]) < 0.1


def test_undefined_is_none() -> None:
    """Case E02: no pair, no figure; one cluster, no interval."""
    nothing = bootstrap([], np.zeros((0, 2)))
    assert nothing.interval(0) == nothing.difference(0, 1) == Interval(estimate=None, lo=None, hi=None)
    alone = bootstrap(["a", "a"], [[1.0, 0.5], [0.0, 0.5]])
    assert alone.interval(0) == Interval(estimate=0.5, lo=None, hi=None)
    assert alone.difference(0, 1) == Interval(estimate=0.0, lo=None, hi=None)
    assert macro([]).interval(0) == worst([]).interval(0) == Interval(estimate=None, lo=None, hi=None)
    assert macro([bootstrap(*sample(5)), nothing]).interval(0).estimate is None
    assert worst([bootstrap(*sample(5)), alone]).interval(1).lo is None


def test_macro_and_worst_over_rows() -> None:
    """The mean of the rows is narrower than a row; the minimum lies at or below each of them."""
    rows = [bootstrap(*sample(80, seed=seed, name=f"row{seed}-")) for seed in range(4)]
    singles = [row.interval(1) for row in rows]
    mean, low = macro(rows).interval(1), worst(rows).interval(1)
    assert mean.estimate == pytest.approx(np.mean([one.estimate or 0 for one in singles]))
    assert low.estimate == min(one.estimate or 0 for one in singles)
    widths = [(one.hi or 0) - (one.lo or 0) for one in singles]
    assert (mean.hi or 0) - (mean.lo or 0) == pytest.approx(np.sqrt(np.square(widths).sum()) / 4, rel=0.15)
    assert (low.lo or 0) <= min(one.lo or 0 for one in singles)
    twice = [row.columns(1, 1) for row in rows]
    assert twice[0].interval(0) == singles[0]
    assert macro(twice).difference(0, 1) == worst(twice).difference(0, 1) == Interval(estimate=0.0, lo=0.0, hi=0.0)


def test_what_does_not_fit_is_refused() -> None:
    """Wins are 0, 0.5 or 1, one row a pair; a draw is needed."""
    with pytest.raises(StatisticsError, match=r"0\.25 wins"):
        bootstrap(["a"], [[0.25]])
    with pytest.raises(StatisticsError, match="nan wins"):
        bootstrap(["a"], [[np.nan]])
    with pytest.raises(StatisticsError, match="shape"):
        bootstrap(["a", "b"], [[1.0]])
    with pytest.raises(StatisticsError, match="draws"):
        bootstrap(["a"], [[1.0]], draws=0)
    with pytest.raises(StatisticsError, match=r"\[1, 2\] systems"):
        macro([bootstrap(*sample(5, 1)), bootstrap(*sample(5, 2))])
    with pytest.raises(StatisticsError, match=r"\[10, 20\] draws"):
        worst([bootstrap(*sample(5), draws=20), bootstrap(*sample(5), draws=10)])
