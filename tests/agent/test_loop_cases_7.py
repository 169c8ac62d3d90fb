"""Loop cases L05 to L10 with the real policies and several tiers."""

from __future__ import annotations

from typing import Any

import pytest

from agent import SearchResult
from agent.seams import Plan
from agent.wire import result_json
from policies import Abstain, Budget, Decision, Reason, SearchOn, SearchState, StopPolicy, Widen
from policies.combine import AnswerAtEnd, FirstOf
from policies.replay import Recorded, Stop
from policies.stagnation import NoGain, Stagnation
from policies.threshold import Band, ScoreThreshold
from retrieval import EvidenceSet, Passage, Spend, Tier
from tests.fakes import (
    ChargingRetriever,
    PolicyFrom,
    QuoteAnswerer,
    ScriptedPlanner,
    ScriptedScorer,
    agent,
    passages,
    requests_of,
    run,
    tier,
)

FIVE = passages("a", "b", "c", "d", "e")


def ended(result: SearchResult) -> tuple[str, str]:
    return result.action, result.reason.code


def replays(result: SearchResult, policy: StopPolicy) -> bool:
    """Whether the recorded states lead the policy to the end that the live search had."""
    end = Recorded([turn.state for turn in result.turns]).play(policy)
    last = result.turns[-1]
    return isinstance(end, Stop) and (end.look, end.decision) == (len(result.turns) - 1, last.decision)


@pytest.mark.parametrize("policy", [ScoreThreshold(answer_at=9.0), Band(answer_at=9.0, abstain_below=1.0)])
@pytest.mark.parametrize("budget", [Budget(max_turns=2), Budget(max_calls=2), Budget(max_tokens=15)])
def test_l05_l06_only_a_user_who_allows_it_gets_an_unchecked_answer(policy: StopPolicy, budget: Budget) -> None:
    """L05, L06: below the threshold, or inside the band, at the end of a budget; the outcome is complete."""
    for allowed, action in ((False, "abstain"), (True, "answer")):
        answerer, chosen = QuoteAnswerer(), AnswerAtEnd(policy) if allowed else policy
        charging = Tier(name="local", retriever=ChargingRetriever(Spend(tokens=8)))
        result = run(agent(charging, policy=chosen, answerer=answerer), budget=budget)
        assert (result.action, len(answerer.asked)) == (action, int(allowed))
        assert (result.reason.code == "unchecked_answer") == allowed
        assert any(code.startswith("budget_") for code in (result.reason.code, *result.reason.overruled))
        assert len(result.evidence) == 2
        assert result.gaps
        assert replays(result, chosen)


def test_l07_the_minimum_of_turns_is_kept_where_given_evidence_would_do() -> None:
    """L07: with min_turns = 1 no score of the evidence that was given ends the search."""
    policy = ScoreThreshold(answer_at=1.0, min_turns=1)
    result = run(agent(tier("local", FIVE), policy=policy), evidence=FIVE[:2])
    assert ended(result) == ("answer", "threshold_met")
    assert [turn.number for turn in result.turns] == [0, 1]


def test_l08_a_good_turn_sets_the_count_of_poor_ones_back() -> None:
    """L08: scores low, high, low, low with patience 2 end after the fourth turn, not the third."""
    scores = {1: 0.1, 2: 0.8, 3: 0.1, 4: 0.1}
    scorer = ScriptedScorer(function=lambda evidence: scores[len(evidence)])
    policy = FirstOf(ScoreThreshold(answer_at=9.0), NoGain(patience=2))
    result = run(agent(tier("local", *(FIVE[n : n + 1] for n in range(5))), policy=policy, scorer=scorer))
    assert (*ended(result), len(result.turns)) == ("abstain", "no_gain", 4)


@pytest.mark.parametrize(
    ("budget", "code"),
    [
        (Budget(max_turns=3), "budget_turns"),
        (Budget(max_calls=3), "budget_calls"),
        (Budget(max_price=3.5), "budget_price"),
        (Budget(max_tokens=25), "budget_tokens"),
    ],
)
def test_l09_no_budget_begins_anew_in_the_next_tier(budget: Budget, code: str) -> None:
    """L09: turns, calls, price and tokens are those of the whole search; what is left only falls."""
    policy = FirstOf(ScoreThreshold(answer_at=99.0), PolicyFrom(_widen_after_one_turn))
    tiers = [
        Tier(name=name, retriever=ChargingRetriever(Spend(tokens=10)), price=1.0)
        for name in ("one", "two", "three", "four")
    ]
    result = run(agent(*tiers, policy=policy), budget=budget)
    assert ended(result) == ("abstain", code)
    assert [turn.tier for turn in result.turns] == ["one", "two", "three"]
    assert (result.spend.calls, result.spend.price, result.spend.tokens) == (3, 3.0, 30)
    assert result.tiers_not_tried == ("four",)
    calls = [turn.state.left.calls for turn in result.turns if turn.state.left.calls is not None]
    assert calls == sorted(calls, reverse=True)


def _widen_after_one_turn(state: SearchState) -> SearchOn | Widen:
    reason = Reason(code="test", by="test")
    return Widen(reason=reason) if state.tier_turns and state.tiers_left else SearchOn(reason=reason)


NEAR = [
    [Passage(text=text) for text in texts]
    for texts in (
        ["The mint of Dunmouth closed.", "the mint of Dunmouth closed!", "The mint of Dunmouth has closed."],
        ["The mint at Dunmouth closed.", "The mint of Dunmouth closed", "The mint in Dunmouth closed."],
    )
]
GOLD = Passage(text="gold: the mint closed in 1391.")


def three_tiers(*, gold: bool, **prices: float) -> list[Tier]:
    """Near-duplicates in the first two tiers, one more each time; the answer, if there is one, in the third."""
    scripts = [*([near[:1], near[:2], near] for near in NEAR), [[GOLD]] if gold else [[Passage(text="Other.")]]]
    names = ("local", "cache", "web")
    return [tier(name, *script, price=prices.get(name, 0.0)) for name, script in zip(names, scripts, strict=True)]


def found_gold(evidence: EvidenceSet) -> float:
    return 5.0 if GOLD.id in evidence else 0.0


L10_POLICIES = [
    FirstOf(ScoreThreshold(answer_at=4.0), NoGain(patience=1)),
    FirstOf(ScoreThreshold(answer_at=4.0), NoGain(patience=2), Stagnation(patience=1)),
    Band(answer_at=4.0, abstain_below=1.0),
    ScoreThreshold(answer_at=4.0),
]


@pytest.mark.parametrize("policy", L10_POLICIES)
def test_l10_near_duplicates_do_not_keep_a_search_from_the_third_tier(policy: StopPolicy) -> None:
    """L10: near-duplicates are new passages, not progress; the planner has two queries for each tier."""
    tiers = three_tiers(gold=True)
    planner = TwoQueriesEach()
    result = run(agent(*tiers, policy=policy, scorer=ScriptedScorer(function=found_gold), planner=planner))
    assert (result.action, result.tiers_not_tried) == ("answer", ())
    assert all(requests_of(one) for one in tiers)
    assert replays(result, policy)


@pytest.mark.parametrize("policy", L10_POLICIES)
def test_l10_it_abstains_only_after_the_last_tier(policy: StopPolicy) -> None:
    """L10: the same where no tier has the answer."""
    tiers = three_tiers(gold=False)
    scorer = ScriptedScorer(function=found_gold)
    result = run(agent(*tiers, policy=policy, scorer=scorer, planner=TwoQueriesEach()))
    assert (result.action, result.tiers_not_tried) == ("abstain", ())
    assert all(requests_of(one) for one in tiers)


class TwoQueriesEach(ScriptedPlanner):
    """Stateless: two queries for each tier."""

    async def plan(self, question: str, evidence: Any, sufficiency: Any, tried: tuple[str, ...]) -> Plan:
        return Plan(queries=(f"query {len(tried)}",) if len(tried) < 2 else ())


def skipping_to(tier_name: str | None) -> PolicyFrom:
    """Searches on; if a tier is named, it goes there after the first turn and gives up in it."""
    reason = Reason(code="test", by="test")

    def decide(state: SearchState) -> Decision:
        if tier_name is None:
            return SearchOn(reason=reason)
        return Abstain(reason=reason) if state.tier == tier_name else Widen(reason=reason, tier=tier_name)

    return PolicyFrom(decide)


@pytest.mark.parametrize(
    ("skip", "prices", "budget", "not_tried"),
    [
        (None, {}, Budget(max_calls=1), ("cache", "web")),
        (None, {"cache": 9.0}, Budget(max_price=1.0), ("cache",)),
        (None, {"cache": 9.0, "web": 9.0}, Budget(max_price=1.0), ("cache", "web")),
        ("web", {}, Budget(), ("cache",)),
    ],
)
def test_l10_an_abstention_lists_the_tiers_that_were_not_tried(
    skip: str | None, prices: dict[str, float], budget: Budget, not_tried: tuple[str, ...]
) -> None:
    """L10: cut by a budget, too dear, or skipped by the policy: each is named, also in the JSON."""
    tiers = three_tiers(gold=False, **prices)
    result = run(agent(*tiers, policy=skipping_to(skip), planner=TwoQueriesEach()), budget=budget)
    assert (result.action, result.tiers_not_tried) == ("abstain", not_tried)
    assert result_json(result)["tiers_not_tried"] == list(not_tried)
    assert [one.name for one in tiers if not requests_of(one)] == list(not_tried)
