"""Baselines: what they say, and that a random stop is random from search to search and never within one."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from policies import AnswerNow, SearchState, build_policy
from policies.chance import RandomStop
from policies.combine import AnswerAtEnd
from policies.dry import UntilDry
from policies.fixed import FixedK
from policies.never import Never
from policies.stagnation import Stagnation
from tests.policies.looks import HIGH, LOW, MID, WEB, after, given, says


@pytest.mark.parametrize(
    "state", [after([HIGH]), after([LOW], tiers_left=WEB), given(HIGH), after([None], new=[0])]
)
def test_never_abstains_at_once(state: SearchState) -> None:
    """Whatever it sees, and without a look at other tiers."""
    assert says(Never().decide(state)) == "abstain never"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (after([LOW]), "search progress"),
        (after([LOW, LOW], new=[5, 0]), "answer unchecked_answer"),
        # a dry tier is left for the next one first
        (after([LOW, LOW], new=[5, 0], tiers_left=WEB), "widen stagnation"),
        # the budget ends, or nothing is left to ask
        (after([LOW], calls_left=0), "answer unchecked_answer"),
        (after([LOW], nothing_to_ask=True), "answer unchecked_answer"),
        (after([LOW], nothing_to_ask=True, tiers_left=WEB), "search progress"),
        # E06: never without evidence
        (after([None], new=[0]), "abstain no_evidence"),
        (after([None], new=[0], calls_left=0), "abstain no_evidence"),
        (after([LOW, LOW], new=[5, 0], failed_turns=1), "search tier_failed"),
    ],
)
def test_until_dry(state: SearchState, expected: str) -> None:
    """Searches until a turn brings nothing new, and says what `AnswerAtEnd(Stagnation(1))` says."""
    decision = UntilDry(1).decide(state)
    composed = AnswerAtEnd(Stagnation(1)).decide(state)
    assert says(decision) == says(composed) == expected
    assert decision.reason.overruled == composed.reason.overruled


def test_until_dry_says_why_it_ended() -> None:
    """The reason of an unchecked answer names the end that it stands over."""
    assert UntilDry(1).decide(after([LOW, LOW], new=[5, 0])).reason.overruled == ("stagnation",)
    assert UntilDry(1).decide(after([LOW], calls_left=0)).reason.overruled == ("budget_calls", "progress")


def test_single_is_one_call() -> None:
    """The one-shot baseline of retrieval-augmented generation."""
    assert build_policy("single", answer_at=0.0, abstain_below=0.0) == FixedK(1)


def _searches(number: int) -> list[list[SearchState]]:
    draw = random.Random(7)  # noqa: S311  no secret
    scores = [[draw.gauss(0, 1) for _ in range(6)] for _ in range(number)]
    return [[after(each[: turn + 1]) for turn in range(6)] for each in scores]


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5, 1.0])
def test_random_stops_at_its_rate_after_every_turn(rate: float) -> None:
    """The share of searches that stop after turn t, of those that came so far, is the rate at each t."""
    policy = RandomStop(stop_rate=rate, seed=1)
    stops = [[isinstance(policy.decide(state), AnswerNow) for state in search] for search in _searches(2000)]
    for turn in range(6):
        reached = [each for each in stops if not any(each[:turn])]
        if reached:
            error = 4 * (rate * (1 - rate) / len(reached)) ** 0.5
            assert abs(fmean(each[turn] for each in reached) - rate) <= error


def test_random_draws_depend_on_seed_and_search_only() -> None:
    """Another seed, another draw; another budget, or being asked twice after a turn, the same draw."""
    state, other = after([MID]), after([MID + 1e-9])
    draws = [RandomStop(stop_rate=0.5, seed=seed).decide(state).reason.values["draw"] for seed in range(20)]
    assert len(set(draws)) == 20
    policy = RandomStop(stop_rate=0.5)
    drawn = [
        policy.decide(seen).reason.values["draw"]
        for seen in (state, after([MID], calls_left=3, nothing_to_ask=True, tiers_left=WEB), other)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_random_answers_where_the_search_ends_and_never_without_a_turn_or_evidence() -> None:
    """Unchecked by the user's choice, like fixed-k; given evidence alone is no turn."""
    patient, hasty = RandomStop(stop_rate=0.0), RandomStop(stop_rate=1.0)
    assert says(patient.decide(after([LOW]))) == "search chance_pending"
    assert says(patient.decide(after([LOW], calls_left=0))) == "answer unchecked_answer"
    assert says(hasty.decide(after([LOW]))) == "answer chance"
    assert says(hasty.decide(given(HIGH))) == "search chance_pending"
    assert says(hasty.decide(after([None], new=[0]))) == "search chance_pending"
