"""Promised risks where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.stopping.simulate import RULES, Population, outcomes, simulate
from policies.calibration.outcomes import play_all
from policies.threshold import ScoreThreshold
from tests.policies.calibration.world import LOOKS, case


def test_the_closed_form_is_the_risk_of_what_is_drawn() -> None:
    """100,000 pairs, three thresholds, within four standard errors."""
    population = Population()
    scores, start = population.draw(100_000, np.random.default_rng(0))
    table = outcomes(scores, start, np.array([1.0, 2.0, 3.0]))
    for column, threshold in enumerate(table.candidates):
        risk, coverage = population.truth(float(threshold))
        seen = table.risk(column)
        assert risk is not None
        assert seen is not None
        assert seen == pytest.approx(risk, abs=4 * math.sqrt(risk * (1 - risk) / (200_000 * coverage)))
        assert table.coverage()[column] == pytest.approx(coverage, abs=4 * math.sqrt(0.25 / 200_000))
    hopeless = (start == population.looks).mean()
    assert hopeless == pytest.approx(population.mu, abs=0.005)


def test_the_fast_way_gives_what_a_replay_gives() -> None:
    """The simulation tests the rule on the outcomes that `sufficit calibrate` would see."""
    population = Population(looks=LOOKS)
    scores, start = population.draw(25, np.random.default_rng(1))
    candidates = [0.0, 1.0, 2.0, 3.0]
    cases = [
        case(f"{pair:02}", [float(score) for score in scores[pair, side]],
             None if start[pair, side] == LOOKS else int(start[pair, side]) + 1)
        for pair in range(25)
        for side in range(2)
    ]  # fmt: skip
    played = play_all(cases, lambda bar: ScoreThreshold(answer_at=bar), candidates)
    fast = outcomes(scores, start, np.array(candidates))
    assert np.array_equal(played.answered, fast.answered)
    assert np.array_equal(played.wrong, fast.wrong)
    assert not played.off_record.any()


def test_the_promise_is_kept_and_often_made() -> None:
    """A small draw of what `python -m benchmarks ltt` does 2,000 times; the rule without a promise breaks it."""
    report = simulate(alphas=(0.2,), pairs=(150,), draws=150, seed=3)
    rows = {str(row["rule"]): row for row in report.rows}
    assert set(rows) == set(RULES)
    for rule in ("ltt", "exact-binomial"):
        assert float(rows[rule]["violations"] or 0) <= float(rows[rule]["violations_at_most"] or 0)
    assert float(rows["observed"]["violations"] or 0) > 0.15
    assert float(rows["ltt"]["certified"] or 0) > 0.8
    for row in rows.values():
        assert float(row["coverage"] or 0) < float(row["coverage_at_most"] or 0)


def test_nothing_certified_leaves_nothing_but_none() -> None:
    """Case E02: a few pairs cannot certify a risk of 1 %."""
    report = simulate(alphas=(0.01,), pairs=(12,), draws=5)
    row = next(row for row in report.rows if row["rule"] == "ltt")
    assert (row["certified"], row["violations"], row["coverage"], row["risk"]) == (0.0, 0.0, None, None)


def test_the_seed_gives_the_same_figures() -> None:
    """And another one others."""
    reports = [simulate(alphas=(0.2,), pairs=(60,), draws=8, seed=seed).rows for seed in (1, 1, 2)]
    assert reports[0] == reports[1] != reports[2]
