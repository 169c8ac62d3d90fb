"""Score and probed answer in one number: what each adds, and what decides nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import AnswerNow, SearchState
from policies.calibration import Case, fit_probe_weights
from policies.errors import CalibrationDataError, PolicyParameterError
from policies.probed import Probed, ProbeWeights
from policies.replay import Recorded
from tests.policies.looks import after, says
from tests.policies.strategies import states

WEIGHTS = ProbeWeights(score=1.0, stable=0.5, margin=2.0, unmarked=0.25)
POLICY = Probed(weights=WEIGHTS, answer_at=1.0)


def looked(score: float | None, **values: float) -> SearchState:
    """One turn with this score and probe."""
    return after([score], observed={f"probe.{name}": value for name, value in values.items()})


@pytest.mark.parametrize(
    ("score", "values", "expected"),
    [
        (0.5, {"stable": 1.0, "margin": 0.25}, "answer threshold_met"),
        (0.5, {"stable": 1.0, "margin": 0.2}, "search below_threshold"),
        (0.75, {"stable": 1.0}, "answer threshold_met"),
        (0.7, {"stable": 1.0}, "search below_threshold"),
        (0.7, {"stable": math.e}, "answer threshold_met"),
        (9.0, {"stable": math.nan}, "search not_observed"),
        (9.0, {}, "search not_observed"),
        (None, {"stable": 3.0, "margin": 9.0}, "search score_invalid"),
    ],
)
def test_worked_by_hand(score: float | None, values: dict[str, float], expected: str) -> None:
    """Log-odds add up; a look without score or probe decides nothing (case S04)."""
    assert says(POLICY.decide(looked(score, **values))) == expected


@given(states(), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.floats(0.0, 6.0), st.floats(0.0, 3.0))
def test_a_higher_score_never_takes_an_answer_back(
    state: SearchState, one: float, other: float, stable: float, margin: float
) -> None:
    """Monotone in the score, whatever the probe says."""
    low, high = sorted((one, other))
    seen = {"probe.stable": stable, "probe.margin": margin}
    lower, higher = (
        POLICY.decide(replace(state, scores=(score,), score_invalid=False, observations=seen))
        for score in (low, high)
    )
    assert not isinstance(lower, AnswerNow) or isinstance(higher, AnswerNow)


def test_weights_are_found_again() -> None:
    """Where stability tells and the margin does not, the fit says so; it never turns a sign round."""
    cases = []
    for number in range(60):
        complete = number % 2 == 0
        state = after(
            [0.5 * complete + (number % 5) / 5],
            observed={
                "probe.stable": 3.0 if complete or number % 7 == 0 else 1.0,
                "probe.margin": (number % 3) / 3,
            },
        )
        cases.append(Case(group=str(number), recorded=Recorded([state]), complete=(complete,)))
    found = fit_probe_weights(cases)
    assert found.stable > 0.5
    assert found.score > 0
    assert abs(found.margin) < found.stable
    with pytest.raises(CalibrationDataError, match="probed answer"):
        fit_probe_weights([Case(group="g", recorded=Recorded([after([1.0])]), complete=(True,))])


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"score": -0.1}, "at least 0"), ({"stable": -1.0}, "at least 0"), ({"margin": math.nan}, "finite number")],
)
def test_weights_that_mean_nothing_are_refused(changes: dict[str, float], message: str) -> None:
    """At construction (cases E05, L07)."""
    with pytest.raises(PolicyParameterError, match=message):
        ProbeWeights(**{"score": 1.0, "stable": 1.0, "margin": 1.0, "unmarked": 1.0, **changes})
