"""Falling bars, novelty, and the gate that turns a stop rule into a policy (case L08)."""

from __future__ import annotations

import math

import pytest

from policies import SearchState, StopPolicy, Widen
from policies.decaying import DecayingBar
from policies.fixed import FixedK
from policies.gated import Gated
from policies.novelty import NoveltyRate
from policies.stagnation import NoGain
from tests.policies.looks import HIGH, LOW, MID, WEB, after, given, says


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([0.9]), "answer threshold_met"),
        (after([0.8]), "search below_threshold"),
        (after([0.1, 0.79]), "search below_threshold"),
        (after([0.1, 0.1, 0.75]), "answer threshold_met"),
        (after([0.1, 0.1, 0.1, 0.1, 0.5]), "answer threshold_met"),
        (after([0.1] * 7 + [0.49]), "search below_threshold"),
        (after([0.1] * 7 + [0.5]), "answer threshold_met"),
        (given(0.85), "search below_threshold"),
        (after([math.nan]), "search score_invalid"),
        (after([0.9], score_invalid=True), "search score_invalid"),
        (after([None], new=[0]), "search no_evidence"),
    ],
)
def test_the_bar_falls(state: SearchState, expected: str) -> None:
    """From 0.9 at turn 1 in a line to 0.5 at turn 5, then level."""
    assert says(DecayingBar(start=0.9, end=0.5, turns=5).decide(state)) == expected


@pytest.mark.parametrize(
    ("new", "options", "expected"),
    [
        ([5], {}, "search progress"),
        ([5, 3], {}, "search progress"),
        ([5, 2], {}, "search progress"),
        ([5, 2, 2], {}, "abstain low_novelty"),
        ([5, 2, 3, 2], {}, "search progress"),
        ([2, 1, 1], {}, "search progress"),
        ([5, 2, 2], {"tiers_left": WEB}, "widen low_novelty"),
        # the usual of this tier, not of the one before
        ([9, 2, 2], {"tier_turns": 2}, "search progress"),
        ([9, 0, 0], {"tier_turns": 2}, "abstain low_novelty"),
        ([0, 0], {}, "abstain no_evidence"),
        ([5, 2, 0], {"failed_turns": 1}, "search tier_failed"),
    ],
)
def test_novelty(new: list[int], options: dict[str, int], expected: str) -> None:
    """Gives a tier up after two turns in a row that brought less than half of its best."""
    state = after([MID] * len(new), new=new, **options)  # type: ignore[arg-type]
    assert says(NoveltyRate(at_least=0.5, patience=2).decide(state)) == expected


GAIN = NoGain(patience=2)


@pytest.mark.parametrize(
    ("policy", "state", "expected"),
    [
        # L08: low, high, low, low
        (Gated(GAIN, None), after([LOW, HIGH, LOW]), "search progress"),
        (Gated(GAIN, None), after([LOW, HIGH, LOW, LOW]), "answer unchecked_answer no_gain"),
        (Gated(GAIN, 0.05), after([LOW, HIGH, LOW, LOW]), "answer threshold_met no_gain"),
        (Gated(GAIN, 0.8), after([LOW, HIGH, LOW, LOW]), "abstain below_threshold no_gain"),
        (Gated(GAIN, 0.8), after([LOW, HIGH, LOW, LOW], tiers_left=WEB), "widen below_threshold no_gain"),
        (Gated(GAIN, None), after([LOW, HIGH, LOW, LOW], tiers_left=WEB), "answer unchecked_answer no_gain"),
        # the search ends before the rule would
        (Gated(GAIN, None), after([LOW], calls_left=0), "answer unchecked_answer budget_calls progress"),
        (Gated(GAIN, 0.8), after([HIGH], calls_left=0), "answer threshold_met budget_calls progress"),
        (Gated(GAIN, 0.8), after([LOW], calls_left=0), "abstain below_threshold budget_calls progress"),
        (Gated(GAIN, 0.8), after([HIGH], nothing_to_ask=True, tiers_left=WEB), "search progress"),
        # six calls, then the score decides
        (Gated(FixedK(6), 0.8), after([HIGH], calls=5), "search fixed_k_pending"),
        (Gated(FixedK(6), 0.8), after([HIGH], calls=6), "answer threshold_met fixed_k"),
        (Gated(FixedK(6), 0.8), after([LOW], calls=6), "abstain below_threshold fixed_k"),
        (Gated(FixedK(6), 0.8), after([LOW], calls=6, tiers_left=WEB), "widen below_threshold fixed_k"),
        (Gated(FixedK(6), None), after([LOW], calls=6), "answer fixed_k"),
        # S04, E06: no valid score, no evidence
        (Gated(FixedK(6), 0.8), after([HIGH], calls=6, score_invalid=True), "abstain score_invalid fixed_k"),
        (Gated(FixedK(6), None), after([math.nan], calls=6), "answer fixed_k"),
        (Gated(FixedK(6), None), after([None], new=[0], calls=6), "abstain no_evidence"),
        (Gated(GAIN, None), after([None], new=[0], calls_left=0), "abstain no_evidence budget_calls progress"),
    ],
)
def test_the_rule_says_when_and_the_score_whether(policy: StopPolicy, state: SearchState, expected: str) -> None:
    """The reason of the rule stays known."""
    decision = policy.decide(state)
    assert " ".join((decision.action, decision.reason.code, *decision.reason.overruled)) == expected
    assert "gated/" in decision.reason.by


def test_the_gate_keeps_the_tier_that_was_named_and_the_numbers() -> None:
    """A refusal changes the reason, not the way."""
    leaving = Gated(GAIN, 0.8).decide(after([LOW, LOW, LOW], tiers_left=WEB))
    assert isinstance(leaving, Widen)
    assert leaving.reason.values == {"poor_turns": 2, "patience": 2, "score": LOW, "answer_at": 0.8}
