"""Whole searches without text: a policy, tiers that yield numbers, a budget (cases L01 to L10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import Abstain, AnswerNow, Budget, StopPolicy, build_policy
from policies.combine import FirstOf
from policies.stagnation import NoGain
from policies.threshold import Band, ScoreThreshold
from tests.policies.simulation import Simulation, Tier, Yield, script, steady
from tests.policies.strategies import policies, scores

NOTHING = steady(Yield(new=0, score=None))
DEFAULT = build_policy(answer_at=0.8, abstain_below=0.3)
ALL = [
    DEFAULT,
    *(build_policy(name, answer_at=0.8, abstain_below=0.3) for name in ("threshold", "fixed-6")),
    build_policy(answer_at=0.8, abstain_below=0.3, patience=1, unchecked=True),
    build_policy(answer_at=0.8, abstain_below=0.3, min_turns=4),
]


def yields() -> st.SearchStrategy[Yield]:
    small = st.integers(min_value=0, max_value=5)
    calls = st.integers(min_value=1, max_value=2)
    return st.builds(Yield, new=small, score=scores(), failed=st.booleans(), calls=calls)


def tiers() -> st.SearchStrategy[Tier]:
    """Tiers that repeat themselves for ever, and tiers that run dry."""
    several = st.lists(yields(), max_size=6).map(lambda found: script(*found))
    return several | st.builds(steady, yields())


@given(
    policies(),
    st.lists(tiers(), min_size=1, max_size=3),
    st.integers(min_value=0, max_value=6),
    st.integers(min_value=0, max_value=9),
    st.none() | yields(),
)
def test_every_search_ends_within_its_budget(
    policy: StopPolicy, places: list[Tier], max_turns: int, max_calls: int, start: Yield | None
) -> None:
    """L02, L09: any policy, any tiers, any budget; an answer has evidence."""
    search = Simulation(policy, places, Budget(max_turns=max_turns, max_calls=max_calls), given=start)
    end = search.run()
    assert isinstance(end, AnswerNow | Abstain)
    assert len(search.new) <= max_turns
    assert search.spend.calls <= max_calls
    assert search.visited <= len(places)
    assert isinstance(end, Abstain) or search.passages > 0


@pytest.mark.parametrize("policy", ALL, ids=repr)
def test_l01_nothing_anywhere(policy: StopPolicy) -> None:
    """L01: one pass a tier, then `no_evidence`, whatever the policy's patience."""
    search = Simulation(policy, [NOTHING] * 3, Budget(max_calls=8))
    end = search.run()
    assert (end.action, end.reason.code) == ("abstain", "no_evidence")
    assert search.tier_turns == [1, 1, 1]


@pytest.mark.parametrize("score", [0.1, 0.5])
@pytest.mark.parametrize("name", ["band", "threshold"])
def test_l03_the_same_passages_for_ever(name: str, score: float) -> None:
    """L03: five passages, then never a new one: ends as `stagnation` within the patience, low score or not."""
    policy = build_policy(name, answer_at=0.8, abstain_below=0.3, patience=2)
    search = Simulation(policy, [lambda turn: Yield(new=0 if turn else 5, score=score)], Budget())
    end = search.run()
    assert (end.action, end.reason.code, len(search.new)) == ("abstain", "stagnation", 3)


def test_l05_and_l06_the_budget_ends_inside_the_band() -> None:
    """L05, L06: it abstains and says where the score stood; with `unchecked` it answers and says so."""
    place, budget = steady(Yield(new=2, score=0.5)), Budget(max_calls=4)
    end = Simulation(DEFAULT, [place], budget).run()
    assert (end.action, end.reason.code, end.reason.overruled) == ("abstain", "budget_calls", ("in_band",))
    assert end.reason.values == {"score": 0.5, "answer_at": 0.8, "abstain_below": 0.3}
    allowed = build_policy(answer_at=0.8, abstain_below=0.3, unchecked=True)
    end = Simulation(allowed, [place], budget).run()
    assert (end.action, end.reason.code) == ("answer", "unchecked_answer")
    assert end.reason.overruled == ("budget_calls", "in_band")


@pytest.mark.parametrize(("turns", "expected"), [(3, "budget_turns"), (8, "no_gain")])
def test_l08_the_counter_of_poor_turns_resets(turns: int, expected: str) -> None:
    """L08: low, high, low, low with patience 2 ends after turn 4, not after turn 3."""
    places = [lambda turn: Yield(score=(0.1, 0.6, 0.1, 0.1)[turn])]
    policy = FirstOf(ScoreThreshold(answer_at=0.8), NoGain(patience=2))
    search = Simulation(policy, places, Budget(max_turns=turns))
    end = search.run()
    assert (end.reason.code, len(search.new)) == (expected, min(turns, 4))


def test_l09_widening_resets_counters_of_the_tier_but_no_budget() -> None:
    """L09: three tiers that score low take two turns each, and the sixth call is the last."""
    search = Simulation(DEFAULT, [steady(Yield(score=0.1))] * 4, Budget(max_calls=6))
    end = search.run()
    assert search.tier_turns == [2, 2, 2]
    assert (end.action, end.reason.code) == ("abstain", "budget_calls")


@pytest.mark.parametrize("score", [0.1, 0.5])
@pytest.mark.parametrize("new", [0, 3])
def test_l10_the_answer_is_in_the_third_tier(score: float, new: int) -> None:
    """L10: near-duplicates fill the first two; no abstention before the third was asked."""
    poor = script(Yield(score=score), Yield(new=new, score=score), Yield(new=new, score=score))
    search = Simulation(DEFAULT, [poor, poor, steady(Yield(score=0.9))], Budget())
    end = search.run()
    assert (end.action, end.reason.code, search.visited) == ("answer", "threshold_met", 3)


def test_l10_abstains_after_the_last_tier() -> None:
    """L10: below the band everywhere."""
    search = Simulation(DEFAULT, [steady(Yield(score=0.1))] * 3, Budget())
    end = search.run()
    assert (end.action, end.reason.code, search.tier_turns) == ("abstain", "below_band", [2, 2, 2])


def test_l11_a_failing_tier_is_left_and_the_last_one_tried_once_more() -> None:
    """L11: a tier that fails does not end a search that has others; the last one gets a second try."""
    down = steady(Yield(failed=True))
    end = Simulation(DEFAULT, [down, steady(Yield(score=0.9))], Budget()).run()
    assert (end.action, end.reason.code) == ("answer", "threshold_met")
    search = Simulation(DEFAULT, [down, down], Budget())
    end = search.run()
    assert (end.action, end.reason.code, search.tier_turns) == ("abstain", "tier_failed", [1, 2])


def test_a_recovering_tier_is_used() -> None:
    """L11: a single failure in the only tier ends nothing."""
    place = script(Yield(failed=True), Yield(score=0.5), Yield(score=0.9))
    band = Band(answer_at=0.8, abstain_below=0.3, patience=1)
    end = Simulation(band, [place], Budget()).run()
    assert (end.action, end.reason.code) == ("answer", "threshold_met")


def test_fixed_k_makes_exactly_k_calls_under_a_budget_of_k() -> None:
    """The baseline is comparable: two calls a turn, an odd k."""
    policy = build_policy("fixed-5", answer_at=0.8, abstain_below=0.3)
    search = Simulation(policy, [steady(Yield(score=0.1, calls=2))], Budget(max_calls=5))
    assert search.run().action == "answer"
    assert search.spend.calls == 5
