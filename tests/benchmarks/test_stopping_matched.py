"""Rivals at the same mean number of calls: the random stop in expectation, the frontier of mixtures."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.stopping.board import make_board, play
from benchmarks.stopping.matched import frontier_at, matched_rate, random_mean, stop_shares
from benchmarks.stopping.runs import reduced
from policies.chance import RandomStop
from tests.benchmarks.episodes_world import world


def test_shares_of_a_random_stop_are_a_distribution() -> None:
    """Geometric, cut at the last look."""
    assert stop_shares(0.5, 3) == pytest.approx([0.5, 0.25, 0.25])
    assert stop_shares(1.0, 3) == pytest.approx([1, 0, 0])
    assert stop_shares(0.0, 3) == pytest.approx([0, 0, 1])


@given(st.floats(0, 1), st.lists(st.floats(-5, 5), min_size=1, max_size=7))
def test_horner_equals_the_sum_over_looks(rate: float, values: list[float]) -> None:
    """The same expectation, computed in two ways."""
    mean = random_mean(np.array([values]), np.array([rate]))[0]
    assert mean == pytest.approx(float(stop_shares(rate, len(values)) @ values), abs=1e-9)


@given(st.floats(1, 6))
def test_the_rate_gives_the_calls_that_are_wanted(wanted: float) -> None:
    """To many digits; what no rate reaches gets the nearest end."""
    calls = np.array([[1.0, 2, 3, 4, 5, 6]])
    assert random_mean(calls, matched_rate(calls, np.array([wanted])))[0] == pytest.approx(wanted, abs=1e-9)
    assert matched_rate(calls, np.array([0.5]))[0] == pytest.approx(1)
    assert matched_rate(calls, np.array([9.0]))[0] == pytest.approx(0)


def test_the_expectation_is_the_mean_over_seeds_of_the_real_policy() -> None:
    """`RandomStop`, played over 40 searches with 60 seeds, has the calls and decisions that it says."""
    searches = [reduced(one) for one in world(20)]
    board = make_board(searches)
    looks = np.array([board.calls.mean(axis=0)]), np.array([board.complete.mean(axis=0)])
    expected = [float(random_mean(table, np.array([0.3]))[0]) for table in looks]
    found = []
    for seed in range(60):
        played = play(RandomStop(stop_rate=0.3, seed=seed), searches)
        assert played.answered.all()
        found.append((board.at(board.calls, played.look).mean(), board.at(board.complete, played.look).mean()))
    assert np.mean(found, axis=0) == pytest.approx(expected, abs=0.06)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.floats(1, 6), st.floats(0, 1)), min_size=1, max_size=6),
    st.floats(1, 6),
)
def test_the_frontier_is_the_best_mixture_of_two(points: list[tuple[float, float]], wanted: float) -> None:
    """Against all mixtures of one or two points with at most so many calls, on a grid of shares."""
    calls, values = (np.array([column]) for column in zip(*points, strict=True))
    found = frontier_at(calls, values, np.array([wanted]))[0]
    grid = [
        (share * a[0] + (1 - share) * b[0], share * a[1] + (1 - share) * b[1])
        for a, b in [*combinations(points, 2), *((one, one) for one in points)]
        for share in np.linspace(0, 1, 201)
    ]
    within = [value for at, value in grid if at <= wanted]
    if not within:
        assert np.isnan(found) or found == pytest.approx(min(points)[1], abs=1e-6)
        return
    assert found >= max(within) - 1e-9
    assert found <= max(value for _, value in points) + 1e-9
    reach = [value for at, value in grid if at <= wanted + 0.05]
    assert found <= max(reach) + 1e-9


def test_the_random_stop_never_lies_above_the_frontier() -> None:
    """It is a mixture of fixed numbers of calls, which is why the frontier needs no point of it."""
    calls = np.array([[1.0, 2, 3, 4, 5, 6]])
    values = np.array([[0.1, 0.5, 0.4, 0.7, 0.72, 0.6]])
    for rate in np.linspace(0.01, 1, 40):
        at = random_mean(calls, np.array([rate]))
        assert random_mean(values, np.array([rate]))[0] <= frontier_at(calls, values, at)[0] + 1e-12
