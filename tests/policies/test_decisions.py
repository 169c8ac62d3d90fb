"""What each policy says: one line of data a case."""

from __future__ import annotations

import math

import pytest

from policies import SearchState, StopPolicy
from policies.fixed import FixedK
from policies.stagnation import NoGain, Stagnation
from policies.threshold import Band, ScoreThreshold
from tests.policies.looks import HIGH, LOW, MID, WEB, after, given, says


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([LOW]), "search below_threshold"),
        (after([LOW, HIGH]), "answer threshold_met"),
        (after([0.8]), "answer threshold_met"),
        (after([math.nextafter(0.8, 0)]), "search below_threshold"),
        (after([HIGH, LOW]), "search below_threshold"),
        # S04: nothing rests on a score that is missing or not finite
        (after([None], new=[0]), "search no_evidence"),
        (after([HIGH, None], score_invalid=True), "search score_invalid"),
        (after([HIGH], score_invalid=True), "search score_invalid"),
        (after([math.nan]), "search score_invalid"),
        (after([math.inf]), "search score_invalid"),
        (after([-math.inf]), "search score_invalid"),
        (after([], passages=3), "search score_invalid"),
        # E06: a score of no evidence is no reason to answer
        (after([HIGH], new=[0]), "search no_evidence"),
        # L07: the minimum is enforced, also against given evidence that is already good
        (given(HIGH), "search min_turns"),
        # L02: unless no turn is possible; then the given evidence is judged
        (given(HIGH, calls_left=0), "answer threshold_met"),
        (given(LOW, calls_left=0), "search below_threshold"),
        (given(HIGH, nothing_to_ask=True), "answer threshold_met"),
    ],
)  # fmt: skip
def test_threshold(state: SearchState, expected: str) -> None:
    """Answers from 0.8 up and never gives up by itself."""
    assert says(ScoreThreshold(answer_at=0.8).decide(state)) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([MID]), "search in_band"),
        (after([0.3]), "search in_band"),
        (after([HIGH]), "answer threshold_met"),
        (after([LOW]), "search below_band"),
        (after([LOW, LOW]), "abstain below_band"),
        (after([LOW, MID, LOW]), "search below_band"),
        (after([MID, LOW, LOW]), "abstain below_band"),
        # L10: the tiers come first, the abstention last
        (after([LOW, LOW], tiers_left=WEB), "widen below_band"),
        (after([LOW, LOW, LOW], tier_turns=1), "search below_band"),
        (after([LOW, LOW, LOW, LOW], tier_turns=2), "abstain below_band"),
        # L03: the unchanged score of a turn without new passages is not held against the tier twice
        (after([LOW, LOW], new=[5, 0]), "search below_band"),
        (after([LOW, LOW, LOW], new=[5, 0, 1]), "abstain below_band"),
        # S04: a missing score neither adds to the row nor breaks it, and decides nothing
        (after([LOW, None], score_invalid=True), "search score_invalid"),
        (after([LOW, None, LOW]), "abstain below_band"),
        (after([LOW, math.nan, LOW]), "abstain below_band"),
        (after([None], new=[0]), "search no_evidence"),
        (given(LOW), "search below_band"),
    ],
)
def test_band(state: SearchState, expected: str) -> None:
    """Answers from 0.8 up, gives up after two scores in a row below 0.3, goes on in between."""
    assert says(Band(answer_at=0.8, abstain_below=0.3, patience=2).decide(state)) == expected


def test_band_minimum_holds_back_an_abstention_too() -> None:
    """L07: neither answer nor abstention before the minimum; leaving the tier is allowed."""
    band = Band(answer_at=0.8, abstain_below=0.3, min_turns=3, patience=1)
    assert says(band.decide(after([LOW]))) == "search min_turns"
    assert says(band.decide(after([HIGH, HIGH]))) == "search min_turns"
    assert says(band.decide(after([LOW], tiers_left=WEB))) == "widen below_band"
    assert says(band.decide(after([LOW] * 3))) == "abstain below_band"
    assert band.decide(after([LOW])).reason.overruled == ("below_band",)


@pytest.mark.parametrize(
    ("new", "options", "expected"),
    [
        ([5], {}, "search progress"),
        ([5, 0], {}, "search progress"),
        ([5, 0, 0], {}, "abstain stagnation"),
        ([5, 0, 0], {"tiers_left": WEB}, "widen stagnation"),
        ([5, 0, 2, 0], {}, "search progress"),
        ([5, 0, 0], {"tier_turns": 1}, "search progress"),
        ([5, 0, 0], {"tier_turns": 0}, "search progress"),
        ([5, 0, 0, 0], {"tier_turns": 2}, "abstain stagnation"),
        # a history that is shorter than the turns on the tier is looked at as far as it goes
        ([0, 0], {"tier_turns": 3, "passages": 2}, "abstain stagnation"),
        # L01: an empty search is empty, not stagnant
        ([0, 0], {}, "abstain no_evidence"),
        # a failing tier says nothing about what it holds
        ([5, 0, 0], {"failed_turns": 1}, "search tier_failed"),
    ],
)
def test_stagnation(new: list[int], options: dict[str, int], expected: str) -> None:
    """L03: gives a tier up after two turns in a row without a new passage."""
    state = after([MID] * len(new), new=new, **options)  # type: ignore[arg-type]
    assert says(Stagnation(2).decide(state)) == expected


@pytest.mark.parametrize(
    ("scores", "options", "expected"),
    [
        ([LOW], {}, "search progress"),
        ([LOW, HIGH], {}, "search progress"),
        ([LOW, HIGH, LOW], {}, "search progress"),
        ([LOW, HIGH, LOW, LOW], {}, "abstain no_gain"),
        ([LOW, HIGH, LOW, LOW], {"tiers_left": WEB}, "widen no_gain"),
        ([LOW, LOW, HIGH, LOW], {}, "search progress"),
        ([LOW, LOW, LOW], {}, "abstain no_gain"),
        # better than the turn before is not better than the best
        ([HIGH, LOW, MID], {}, "abstain no_gain"),
        # less than min_gain is no gain, but small gains add up
        ([MID, MID + 0.04, MID + 0.08], {}, "abstain no_gain"),
        ([MID, MID + 0.06, MID + 0.12], {}, "search progress"),
        # counted on the present tier only, against the best of the whole search
        ([HIGH, LOW, LOW, LOW], {"tier_turns": 1}, "search progress"),
        ([HIGH, LOW, LOW, LOW], {"tier_turns": 2}, "abstain no_gain"),
        ([LOW, LOW, MID, LOW], {"tier_turns": 2}, "search progress"),
        # S04: a turn without a valid score counts neither way
        ([MID, None, LOW], {}, "search progress"),
        ([MID, math.nan, LOW, None, LOW], {}, "abstain no_gain"),
        ([None, None, None], {}, "search progress"),
        ([MID, MID, MID], {"failed_turns": 1}, "search tier_failed"),
    ],
)
def test_no_gain(scores: list[float | None], options: dict[str, int], expected: str) -> None:
    """L08: the counter of poor turns resets after a good one."""
    state = after(scores, **options)  # type: ignore[arg-type]
    assert says(NoGain(min_gain=0.1, patience=2).decide(state)) == expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([LOW] * 2, calls=4), "search fixed_k_pending"),
        (after([LOW] * 3, calls=6), "answer fixed_k"),
        (after([LOW] * 3, calls=7), "answer fixed_k"),
        (after([None] * 3, calls=6, score_invalid=True), "answer fixed_k"),
        # the search ends before k calls: the user chose not to check
        (after([LOW] * 2, calls=4, calls_left=0), "answer unchecked_answer"),
        (after([LOW] * 2, calls=4, nothing_to_ask=True), "answer unchecked_answer"),
        (after([LOW] * 2, calls=4, nothing_to_ask=True, tiers_left=WEB), "search fixed_k_pending"),
        # E06: never without evidence
        (after([None] * 3, new=[0] * 3, calls=6), "abstain no_evidence"),
        (after([None] * 3, new=[0] * 3, calls=6, tiers_left=WEB), "widen no_evidence"),
        (after([None] * 3, new=[0] * 3, calls=6, tiers_left=WEB, failed_turns=1), "widen tier_failed"),
        (after([None] * 2, new=[0] * 2, calls=4, calls_left=0), "search fixed_k_pending"),
    ],
)
def test_fixed_k(state: SearchState, expected: str) -> None:
    """Six calls, whatever the score says."""
    assert says(FixedK(6).decide(state)) == expected


def test_reasons_carry_what_they_rest_on() -> None:
    """A trace shows the numbers of a decision, not only its name."""
    band = Band(answer_at=0.8, abstain_below=0.3).decide(after([LOW, LOW])).reason
    assert band.by == "band"
    assert band.values == {"score": 0.1, "answer_at": 0.8, "abstain_below": 0.3, "low_turns": 2, "patience": 2}
    assert FixedK(6).decide(after([LOW], calls=2)).reason.values == {"calls": 2, "k": 6}
    assert Stagnation(3).decide(after([MID] * 2, new=[5, 0])).reason.values == {"poor_turns": 1, "patience": 3}


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        (FixedK(6), "fixed-6"),
        (ScoreThreshold(answer_at=1.0), "threshold"),
        (Band(answer_at=1.0, abstain_below=0.0), "band"),
        (Stagnation(), "stagnation"),
        (NoGain(), "no_gain"),
    ],
)
def test_names_are_stable(policy: StopPolicy, name: str) -> None:
    """Traces and tables are compared across versions by these names."""
    assert isinstance(policy, StopPolicy)
    assert policy.name == name
    assert policy.requires == frozenset()
    assert policy.decide(after([LOW], calls=2)).reason.by == name
