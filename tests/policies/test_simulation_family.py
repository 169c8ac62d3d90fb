"""Whole searches by the rest of the family (cases L01 to L10)."""

from __future__ import annotations

import pytest

from policies import Budget, StopPolicy
from policies.calibrated import Calibration
from policies.chance import RandomStop
from policies.combine import AnswerAtEnd, FirstOf
from policies.decaying import DecayingBar
from policies.dry import UntilDry
from policies.expected import ExpectedUtility
from policies.fixed import FixedK
from policies.gated import Gated
from policies.never import Never
from policies.novelty import NoveltyRate
from policies.opinion import LlmSaysStop
from policies.ragflow import RagflowLadder
from policies.stability import AnswerStability
from policies.stagnation import NoGain
from policies.utility import Utility
from tests.policies.simulation import Simulation, Yield, script, steady

AS_IT_IS = Calibration(kind="isotonic", scores=(0.0, 1.0), probabilities=(0.0, 1.0))
"""The score is the probability."""
WEIGHING = ExpectedUtility(calibration=AS_IT_IS, hazard=(0.6, 0.1), utility=Utility(wrong=1.0))
FAMILY = [
    DecayingBar(start=0.8, end=0.5),
    FixedK(6),
    Gated(FixedK(6), 0.8),
    Gated(NoGain(), None),
    Gated(NoveltyRate(), 0.8),
    RagflowLadder(calibration=AS_IT_IS),
    RandomStop(stop_rate=0.5),
    UntilDry(),
    WEIGHING,
    AnswerAtEnd(AnswerStability()),
    AnswerAtEnd(LlmSaysStop()),
]


@pytest.mark.parametrize("policy", FAMILY, ids=repr)
def test_l01_nothing_anywhere(policy: StopPolicy) -> None:
    """L01: one pass a tier, then `no_evidence`, for the whole family."""
    search = Simulation(policy, [steady(Yield(new=0, score=None))] * 3, Budget(max_calls=8))
    end = search.run()
    assert (end.action, end.reason.code, search.tier_turns) == ("abstain", "no_evidence", [1, 1, 1])


@pytest.mark.parametrize("policy", FAMILY, ids=repr)
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_l02_tiny_budgets(policy: StopPolicy, calls: int) -> None:
    """L02: never more calls than allowed; 0 = decide on the evidence given, here with a score of 0.9."""
    place = steady(Yield(score=0.4))
    search = Simulation(policy, [place], Budget(max_calls=calls), given=Yield(new=2, score=0.9))
    end = search.run()
    assert search.spend.calls <= calls
    assert calls or end.action == "answer" or end.reason.overruled


def test_never_makes_one_call() -> None:
    """The floor still costs the turn after which it is first asked."""
    search = Simulation(Never(), [steady(Yield(score=0.9))] * 2, Budget())
    assert (search.run().reason.code, search.spend.calls) == ("never", 1)


def test_until_dry_reads_all_tiers() -> None:
    """L03: leaves each tier when it is dry and answers from what all of them gave."""
    dry = script(Yield(new=5), Yield(new=2), Yield(new=0), Yield(new=5))
    search = Simulation(UntilDry(), [dry, dry], Budget())
    end = search.run()
    assert (end.action, end.reason.overruled, search.tier_turns) == ("answer", ("stagnation",), [3, 3])


@pytest.mark.parametrize(
    ("answer_at", "expected"), [(None, "answer unchecked_answer"), (0.5, "abstain below_threshold")]
)
def test_l08_low_high_low_low(answer_at: float | None, expected: str) -> None:
    """L08: the good turn resets the counter; after the fourth turn the gate says whether to answer."""
    scores = (0.1, 0.6, 0.1, 0.1)
    policy = Gated(NoGain(patience=2), answer_at)
    search = Simulation(policy, [lambda turn: Yield(score=scores[turn])], Budget())
    end = search.run()
    assert (f"{end.action} {end.reason.code}", len(search.new)) == (expected, 4)
    assert end.reason.overruled == ("no_gain",)


def test_l09_weighing_widens_within_one_budget() -> None:
    """L09: after a poor turn a new tier is worth more; the fourth call is the last, wherever it is made."""
    search = Simulation(WEIGHING, [steady(Yield(score=0.05))] * 6, Budget(max_calls=4))
    end = search.run()
    assert (end.action, end.reason.code, search.spend.calls) == ("abstain", "not_worth_it", 4)
    assert search.tier_turns == [1, 1, 1, 1]


def test_l10_the_answer_is_in_the_third_tier() -> None:
    """L10: near-duplicates fill the first two; it abstains in neither."""
    poor = script(Yield(score=0.05), Yield(new=0, score=0.05))
    search = Simulation(WEIGHING, [poor, poor, steady(Yield(score=0.98))], Budget())
    end = search.run()
    assert (end.action, end.reason.code, search.visited) == ("answer", "worth_answering", 3)


def test_l10_weighing_abstains_after_the_last_tier() -> None:
    """L10: no tier is skipped while its price is worth it."""
    search = Simulation(WEIGHING, [steady(Yield(score=0.05))] * 3, Budget())
    end = search.run()
    assert (end.action, end.reason.code, search.tier_turns) == ("abstain", "not_worth_it", [1, 1, 1])


def test_l06_a_gate_is_not_passed_by_running_out_of_budget() -> None:
    """L06: neither the gate nor the weighing answers a low score because the calls are used up."""
    policies: list[StopPolicy] = [
        Gated(FixedK(6), 0.8),
        WEIGHING,
        FirstOf(DecayingBar(start=0.8, end=0.6)),
        Gated(NoGain(), 0.8),
    ]
    ends = [Simulation(policy, [steady(Yield(score=0.4))], Budget(max_calls=2)).run() for policy in policies]
    assert {end.action for end in ends} == {"abstain"}
