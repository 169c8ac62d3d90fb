"""RAGFlow's ladder as a rival, and thresholds under the name of their promise."""

from __future__ import annotations

import pytest

from policies import SearchState
from policies.calibrated import Calibration
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.ragflow import RagflowLadder
from policies.threshold import Band, ScoreThreshold
from tests.policies.looks import WEB, after, given, says

AS_IT_IS = Calibration(kind="isotonic", scores=(0.0, 1.0), probabilities=(0.0, 1.0))
"""The score is the probability."""


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (given(0.86), "answer threshold_met"),
        (after([0.85]), "answer threshold_met"),
        (after([0.84]), "search below_threshold"),
        (after([0.0, 0.75]), "answer threshold_met"),
        (after([0.0, 0.2, 0.65]), "answer threshold_met"),
        (after([0.0, 0.2, 0.4, 0.54]), "search below_threshold"),
        (after([0.0, 0.2, 0.4, 0.5, 0.55]), "answer threshold_met"),
        # two turns in a row that gained too little
        (after([0.3, 0.32]), "search below_threshold"),
        (after([0.3, 0.32, 0.33]), "answer unchecked_answer no_gain"),
        (after([0.3, 0.2, 0.1]), "answer unchecked_answer no_gain"),
        (after([0.3, 0.32, 0.4, 0.42]), "search below_threshold"),
        (after([0.3, None, 0.3]), "search below_threshold"),
        # the last turn counts for the tier that it was made in
        (after([0.3, 0.3, 0.3], tier_turns=1), "search below_threshold"),
        # the end of the budget, with and without evidence
        (after([0.3], calls_left=0), "answer unchecked_answer budget_calls below_threshold"),
        (after([0.3], nothing_to_ask=True, tiers_left=WEB), "search below_threshold"),
        (after([None], new=[0], calls_left=0), "search no_evidence"),
        # S04
        (after([0.9], score_invalid=True), "search score_invalid"),
        (
            after([0.9], score_invalid=True, calls_left=0),
            "answer unchecked_answer score_invalid budget_calls score_invalid",
        ),
    ],
)
def test_the_ladder_of_ragflow(state: SearchState, expected: str) -> None:
    """Rungs .85, .75, .65, .55; two gains below .05 end it; it answers whenever it ends."""
    decision = RagflowLadder(calibration=AS_IT_IS).decide(state)
    assert f"{says(decision)} {' '.join(decision.reason.overruled)}".rstrip() == expected


def test_a_promise_is_a_name_and_two_numbers() -> None:
    """The part decides; who reads the reason sees at what risk."""
    band = Band(answer_at=0.8, abstain_below=0.3)
    policy = LttThreshold(part=band, alpha=0.1, delta=0.05)
    for state in (after([0.9]), after([0.5]), after([0.1, 0.1]), after([0.1, 0.1], tiers_left=WEB)):
        alone, promised = band.decide(state), policy.decide(state)
        assert says(alone) == says(promised)
        assert promised.reason.by == f"ltt-0.10/{alone.reason.by}"
        assert promised.reason.values == {**alone.reason.values, "alpha": 0.1, "delta": 0.05}
    assert policy.name == "ltt-0.10"


def test_a_conformal_promise_has_no_delta() -> None:
    """It holds on average over calibration sets."""
    policy = ConformalThreshold(part=ScoreThreshold(answer_at=0.4), alpha=0.2)
    reason = policy.decide(after([0.5])).reason
    assert (policy.name, reason.by) == ("conformal-0.20", "conformal-0.20/threshold")
    assert reason.values == {"score": 0.5, "answer_at": 0.4, "alpha": 0.2}
