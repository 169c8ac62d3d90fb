"""Learn then Test on recorded searches. That the promise holds is simulated in tests/benchmarks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from policies import StopPolicy, build_policy
from policies.calibration import Case, control_risk
from policies.calibration.betting import best_bets, groups_for, losses, p_values
from policies.calibration.outcomes import play_all
from policies.errors import CalibrationDataError, PolicyParameterError
from tests.policies.calibration.world import case, pairs, threshold


def _never(_: float) -> StopPolicy:
    return build_policy("never", answer_at=0.0, abstain_below=0.0)


_losses = arrays(np.float64, st.tuples(st.integers(0, 30), st.integers(1, 4)), elements=st.floats(-0.2, 0.8))


def test_good_searches_are_certified() -> None:
    """The threshold keeps the risk on the data, and says how it was found."""
    found = control_risk(pairs(200, seed=0), threshold, alpha=0.2, delta=0.05)
    assert found.parameter is not None
    assert found.parameter == found.best
    assert found.risk is not None
    assert found.risk < 0.2
    assert found.coverage > 0.3
    assert found.p_value is not None
    assert found.p_value <= 0.05
    assert (found.learned, found.tested, found.groups) == (67, 133, 200)
    assert 0 < found.certified <= found.candidates
    assert found.groups_needed is None


def test_the_same_seed_gives_the_same_whatever_the_order() -> None:
    """A certificate can be made again."""
    cases = pairs(60, seed=4)
    found = [control_risk(order, threshold, alpha=0.2, delta=0.05, seed=7) for order in (cases, cases[::-1])]
    assert found[0] == found[1]


def test_a_parameter_need_not_be_a_score() -> None:
    """E.g. by how much bars are raised: the candidates are given then."""
    found = control_risk(
        pairs(100, seed=0, gain=5.0), lambda raise_by: threshold(2 + raise_by), alpha=0.3, delta=0.05,
        candidates=[0.0, 0.5, 1.0],
    )  # fmt: skip
    assert found.candidates == 3
    assert found.parameter in {0.0, 0.5, 1.0}


def test_scores_that_say_nothing_certify_nothing() -> None:
    """And no number of such groups would help."""
    found = control_risk(pairs(150, seed=1, gain=0.0), threshold, alpha=0.1, delta=0.05)
    assert found.parameter is None
    assert found.groups_needed is None
    assert found.risk is not None
    assert found.risk > 0.1


def test_too_few_groups_certify_nothing_and_more_would() -> None:
    """So many do certify, in about 4 of 5 samples or more."""
    few = control_risk(pairs(15, seed=2, gain=5.0), threshold, alpha=0.2, delta=0.05)
    assert few.parameter is None
    assert few.groups_needed is not None
    assert 15 < few.groups_needed < 400
    samples = [pairs(few.groups_needed, seed=100 + seed, gain=5.0) for seed in range(8)]
    many = [control_risk(sample, threshold, alpha=0.2, delta=0.05) for sample in samples]
    assert sum(one.parameter is not None for one in many) >= 4


def test_what_is_asked_for_must_mean_something() -> None:
    """Typed errors, before anything is replayed."""
    with pytest.raises(CalibrationDataError, match="no recorded search"):
        control_risk([], threshold, alpha=0.1, delta=0.05)
    for alpha, delta in ((0.0, 0.05), (1.0, 0.05), (0.1, math.nan), (0.1, 1.5)):
        with pytest.raises(PolicyParameterError, match="between 0 and 1"):
            control_risk(pairs(2, seed=0), threshold, alpha=alpha, delta=delta)


@pytest.mark.parametrize("scores", [[math.nan] * 3, [None] * 3])
def test_without_a_valid_score_nothing_is_certified(scores: list[float | None]) -> None:
    """Case S04: no candidate, no threshold, no crash."""
    found = control_risk([case(str(i), scores, 1) for i in range(30)], threshold, alpha=0.2, delta=0.05)
    assert (found.parameter, found.best, found.candidates, found.risk) == (None, None, 0, None)


def test_a_policy_that_never_answers_has_no_risk() -> None:
    """Case E02: zero coverage; undefined is None, never NaN."""
    found = control_risk(pairs(40, seed=0), _never, alpha=0.2, delta=0.05)
    assert (found.parameter, found.risk, found.coverage, found.p_value) == (None, None, 0.0, None)


def test_a_search_that_leaves_the_record_counts_as_wrong() -> None:
    """Its budget had more calls than were recorded: what it would have answered is not known."""
    table = play_all([case("a", [0.0, 0.0], 1, horizon=6), case("b", [0.0, 9.0], 1)], threshold, [5.0])
    assert table.off_record.tolist() == [[1.0], [0.0]]
    assert table.answered.tolist() == [[1.0], [1.0]]
    assert table.wrong.tolist() == [[1.0], [0.0]]
    assert table.risk(0) == 0.5


def test_it_is_the_stop_that_counts() -> None:
    """First crossing: complete later does not help, incomplete later does not harm."""
    early = case("early", [2.0, 0.0, 3.0], 3)
    late = case("late", [0.0, 2.0, 0.0], 2)
    table = play_all([early, late], threshold, [1.0, 2.5])
    assert table.answered.tolist() == [[1, 1], [1, 0]]
    assert table.wrong.tolist() == [[1, 0], [0, 0]]


@settings(max_examples=60)
@given(loss=_losses)
def test_p_values_are_shares_and_more_errors_make_them_no_smaller(loss: NDArray[np.float64]) -> None:
    """A group that loses more is evidence against the policy, never for it."""
    bets, growths = best_bets(loss, 0.2)
    assert np.all((bets >= 0) & (bets < 1 / 0.8))
    assert np.all(np.isfinite(growths))
    p = p_values(loss, bets)
    assert np.all((p > 0) & (p <= 1))
    assert np.all(p_values(np.minimum(loss + 0.1, 0.8), bets) >= p)


def test_without_groups_there_is_no_evidence() -> None:
    """Neither to learn from nor to test on."""
    nothing = np.zeros((0, 3))
    bets, growths = best_bets(nothing, 0.1)
    assert (bets.tolist(), growths.tolist()) == ([0, 0, 0], [0, 0, 0])
    assert p_values(nothing, bets).tolist() == [1, 1, 1]
    assert groups_for(np.zeros(5), 0.1, 0.05) is None


def test_the_test_keeps_its_level_at_the_edge() -> None:
    """True risk exactly alpha, pairs that depend on each other: rejected in at most 5 % of 1,000 samples."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(1_000):
        wrong = np.repeat(rng.random((80, 1)) < 0.2, 2, axis=1).mean(axis=1, keepdims=True)
        loss = losses(np.ones((80, 1)), wrong, 0.2)
        rejected += bool(p_values(loss[30:], best_bets(loss[:30], 0.2)[0])[0] <= 0.05)
    assert rejected / 1_000 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1_000)


def test_every_case_counts_once_whatever_its_group_is_called() -> None:
    """Groups with three variants weigh as those with one."""
    cases: list[Case] = [case("a", [1.0], 1)] * 3 + [case("b", [1.0], None)]
    assert play_all(cases, threshold, [0.0]).risk(0) == 0.5
