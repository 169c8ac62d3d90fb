"""The loop: order of operations, budgets, tiers, failures (cases L01 to L12, E06, S04)."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from agent import SearchResult
from agent.errors import ConfigError
from agent.parts import LoopSettings
from agent.seams import Plan
from policies import AnswerNow, Budget, Reason, SearchOn, Widen
from policies.combine import FirstOf
from policies.stagnation import Stagnation
from policies.threshold import Band, ScoreThreshold
from retrieval import Passage, Tier
from tests.fakes import (
    KeyedRetriever,
    PolicyFrom,
    QuoteAnswerer,
    ScriptedPlanner,
    ScriptedScorer,
    agent,
    answer_at,
    passages,
    requests_of,
    run,
    tier,
)

FIVE = passages("a", "b", "c", "d", "e")


def test_answers_once_the_score_is_reached_and_cites() -> None:
    result = run(agent(tier("local", passages("a"), passages("b")), policy=answer_at(2.0)))
    assert (result.action, result.reason.code, len(result.turns)) == ("answer", "threshold_met", 2)
    assert result.answer is not None
    assert result.answer.text.startswith("Text of")
    assert result.citations[0].passage_id in result.evidence


def test_full_turn_record() -> None:
    """A turn says what was asked, what came, what was new, what the policy saw, wished and got."""
    local = tier("local", passages("a", "b"), passages("b", "c"))
    result = run(agent(local, policy=answer_at(3.0), settings=LoopSettings(exclude_known=False)))
    second = result.turns[1]
    assert (second.number, second.tier, second.queries) == (2, "local", ("question 2",))
    assert [hit.passage.text for hit in second.hits] == ["Text of b.", "Text of c."]
    assert [passage.text for passage in second.new] == ["Text of c."]
    assert second.state.scores == (2.0, 3.0)
    assert second.state.new_passages == (2, 1)
    assert isinstance(second.wish, AnswerNow)
    assert isinstance(second.decision, AnswerNow)


def test_what_is_known_is_excluded_so_that_a_turn_digs_deeper() -> None:
    """By default a tier hears what the evidence holds already, what was given included."""
    local = tier("local", passages("a", "b"), passages("b", "c"))
    given = passages("x")
    result = run(agent(local, policy=answer_at(4.0)), evidence=given)
    held = {name: one.id for name, one in zip("abx", (*passages("a", "b"), *given), strict=True)}
    assert [request.exclude for request in requests_of(local)] == [{held["x"]}, set(held.values())]
    assert [[hit.passage.text for hit in turn.hits] for turn in result.turns[2:]] == [["Text of c."]]


@pytest.mark.parametrize(
    ("queries", "calls", "dealt"),
    [(("one", "two"), 8, ["ace", "bd"]), (("one",), 8, ["abcde"]), (("one", "two"), 1, ["abcde"])],
)
def test_seeds_are_dealt_out_among_the_queries(queries: tuple[str, ...], calls: int, dealt: list[str]) -> None:
    """Each query that is asked gets seeds of its own, the most promising in turn; none is lost with a query that
    the budget does not allow.
    """

    class Seeding(ScriptedPlanner):
        async def plan(self, question: str, evidence: Any, sufficiency: Any, tried: tuple[str, ...]) -> Plan:
            return Plan(queries=() if tried else queries, seeds=tuple("abcde"))

    local = tier("local", FIVE)
    run(agent(local, planner=Seeding()), budget=Budget(max_calls=calls))
    assert ["".join(request.seeds) for request in requests_of(local)] == dealt


def test_l01_nothing_anywhere_ends_as_no_evidence_after_one_pass_per_tier() -> None:
    """L01: every tier returns nothing for ever."""
    one, two = tier("one", ()), tier("two", ())
    result = run(agent(one, two))
    assert (result.action, result.reason.code) == ("abstain", "no_evidence")
    assert [len(requests_of(one)), len(requests_of(two))] == [1, 1]
    assert result.tiers_not_tried == ()


@pytest.mark.parametrize("calls", [0, 1, 2, 3])
@pytest.mark.parametrize("script", [(RuntimeError("down"), FIVE), (FIVE,), ((),)])
def test_l02_never_more_calls_than_the_budget(calls: int, script: tuple[Any, ...]) -> None:
    """L02: budgets of 0, 1 and 2 calls; a retriever that raises on its first call."""
    local = tier("local", *script)
    planner = ScriptedPlanner(script=[("one", "two"), ("three", "four"), ("five", "six")])
    result = run(agent(local, planner=planner), budget=Budget(max_calls=calls))
    assert len(requests_of(local)) <= calls
    assert result.spend.calls == len(requests_of(local))
    assert result.action == "abstain"


def test_l02_zero_calls_decide_on_the_given_evidence() -> None:
    """L02: 0 calls means: decide on the evidence that was given."""
    enough = run(agent(tier("local", FIVE), policy=answer_at(2.0)), evidence=FIVE, budget=Budget(max_calls=0))
    assert (enough.action, enough.spend.calls, [turn.number for turn in enough.turns]) == ("answer", 0, [0])
    short = run(agent(tier("local", FIVE), policy=answer_at(9.0)), evidence=FIVE, budget=Budget(max_calls=0))
    assert (short.action, short.reason.code) == ("abstain", "budget_calls")


def test_l03_the_same_passages_for_any_query_end_as_stagnation_and_are_scored_once() -> None:
    """L03: ends as `stagnation` within the patience; nothing is scored twice."""
    scorer = ScriptedScorer()
    policy = FirstOf(Stagnation(patience=2), ScoreThreshold(answer_at=99.0))
    result = run(agent(tier("local", FIVE), policy=policy, scorer=scorer))
    assert (result.action, result.reason.code, len(result.turns)) == ("abstain", "stagnation", 3)
    assert len(scorer.calls) == 1
    assert [turn.scored for turn in result.turns] == [True, False, False]


def test_l04_duplicate_queries_are_dropped_counted_and_widen() -> None:
    """L04: "X", " x ", "X?", "x (again)" are one query; the search widens instead of repeating it."""
    one, two = tier("one", passages("a")), tier("two", passages("b"))
    planner = ScriptedPlanner(script=[("X",), (" x ", "X?"), ("x (again)",)])
    result = run(agent(one, two, planner=planner, budget=Budget(max_turns=4)))
    assert [request.query for request in requests_of(one)] == ["X"]
    assert len(requests_of(two)) == 1
    assert result.turns[0].duplicates == 2
    assert isinstance(result.turns[0].decision, Widen)
    assert result.turns[0].decision.reason.code == "nothing_to_ask"


def test_l05_a_budget_that_ends_inside_the_band_leaves_a_complete_outcome() -> None:
    """L05: action, reason, evidence and gaps are there."""
    policy = Band(answer_at=9.0, abstain_below=1.0)
    result = run(agent(tier("local", FIVE), policy=policy), budget=Budget(max_turns=1))
    assert (result.action, result.reason.code) == ("abstain", "budget_turns")
    assert len(result.evidence) == 5
    assert result.gaps
    assert result.ranking.ids


def test_l06_below_the_threshold_nothing_is_answered_unchecked() -> None:
    """L06: when the budget ends, the fall-back passes the same gate."""
    answerer = QuoteAnswerer()
    result = run(
        agent(tier("local", FIVE), policy=ScoreThreshold(answer_at=9.0), answerer=answerer),
        budget=Budget(max_calls=2),
    )
    assert (result.action, answerer.asked) == ("abstain", [])


def test_l09_widening_does_not_reset_a_budget() -> None:
    """L09: budgets are global to the search."""
    one, two = tier("one", passages("a"), ()), tier("two", passages("b"), passages("c"), passages("d"))
    policy = PolicyFrom(lambda state: Widen(reason=Reason(code="test", by="t")) if state.turn == 2 else SearchOn(
        reason=Reason(code="test", by="t")))  # fmt: skip
    result = run(agent(one, two, policy=policy), budget=Budget(max_calls=3))
    assert (len(requests_of(one)), len(requests_of(two))) == (2, 1)
    assert result.reason.code == "budget_calls"


def test_l10_abstains_only_after_the_last_tier_and_finds_what_only_that_one_has() -> None:
    """L10: near-duplicates fill the first two tiers, the third has the answer."""
    scorer = ScriptedScorer(function=lambda evidence: 5.0 if any("gold" in p.text for p in evidence) else 0.0)
    tiers = (tier("local", passages("a", "b")), tier("cache", passages("a", "c")), tier("web", passages("gold")))
    policy = FirstOf(Stagnation(patience=1), Band(answer_at=4.0, abstain_below=1.0))
    result = run(agent(*tiers, scorer=scorer, policy=policy))
    assert (result.action, result.tiers_not_tried) == ("answer", ())
    poor = run(agent(*tiers, scorer=scorer, policy=policy), budget=Budget(max_calls=1))
    assert (poor.action, poor.tiers_not_tried) == ("abstain", ("cache", "web"))


def test_l11_a_failing_tier_is_recorded_and_the_others_are_used() -> None:
    """L11: a tier raises ValueError on turn 2."""
    one, two = tier("one", passages("a"), ValueError("broken shard")), tier("two", passages("b"))
    result = run(agent(one, two, policy=answer_at(2.0)))
    assert (result.action, result.degraded) == ("answer", True)
    event = result.turns[1].events[0]
    assert (event.kind, event.where) == ("tier_failed", "one")
    assert "ValueError: broken shard" in event.detail
    assert result.turns[1].decision.reason.code == "tier_failed"


def test_the_only_tier_gets_a_second_try_and_the_query_is_asked_again() -> None:
    """A hiccup of the last tier does not end the search; two failures in a row do, with the reason."""
    flaky = tier("local", RuntimeError("once"), passages("a"))
    result = run(agent(flaky, planner=ScriptedPlanner(script=[("q",)]), policy=answer_at(1.0)))
    assert (result.action, [request.query for request in requests_of(flaky)]) == ("answer", ["q", "q"])
    down = tier("local", RuntimeError("always"))
    result = run(agent(down, planner=ScriptedPlanner(script=[("q",)])))
    assert (result.action, result.reason.code, len(requests_of(down))) == ("abstain", "tier_failed", 2)


def test_a_slow_tier_times_out_and_counts_as_failed() -> None:
    slow = tier("slow", FIVE, delay=5.0, timeout_seconds=0.05)
    result = run(agent(slow, tier("fast", passages("a")), policy=answer_at(1.0)))
    assert (result.action, result.degraded) == ("answer", True)
    assert result.turns[0].events[0].kind == "tier_timeout"


def test_the_wall_clock_budget_cuts_a_call_short() -> None:
    slow = tier("slow", FIVE, delay=5.0)
    result = run(agent(slow), budget=Budget(max_seconds=0.1))
    assert (result.action, result.reason.code) == ("abstain", "budget_seconds")
    assert result.turns[0].events[0].kind == "budget_seconds"
    assert result.spend.seconds < 4


def test_l12_many_searches_at_once_on_one_agent_equal_the_serial_ones() -> None:
    """L12: 50 questions at once, each with its own corpus: no passage crosses searches."""
    corpora = [[Passage(text=f"Fact {n}.{i} about topic{n}.") for i in range(8)] for n in range(50)]
    tiers = [(Tier(name="own", retriever=KeyedRetriever(corpus), k=3),) for corpus in corpora]
    shared = agent(policy=answer_at(3.0), planner=PlannerFromQuestion())

    async def together() -> list[SearchResult]:
        return await asyncio.gather(*(shared.run(f"topic{n}", tiers=tiers[n]) for n in range(50)))

    for n, result in enumerate(asyncio.run(together())):
        serial = shared.run_sync(f"topic{n}", tiers=tiers[n])
        assert all(f"topic{n}." in passage.text for passage in result.evidence)
        assert (result.evidence, result.ranking, result.action) == (serial.evidence, serial.ranking, serial.action)


class PlannerFromQuestion(ScriptedPlanner):
    """Stateless: the question, once."""

    async def plan(self, question: str, evidence: Any, sufficiency: Any, tried: tuple[str, ...]) -> Any:
        return Plan(queries=() if tried else (question,))


def test_e06_the_answerer_is_not_called_without_evidence() -> None:
    """E06: even a policy that wants to answer at once gets an abstention."""
    answerer = QuoteAnswerer()
    policy = PolicyFrom(lambda _: AnswerNow(reason=Reason(code="threshold_met", by="rash")))
    result = run(agent(tier("local", ()), policy=policy, answerer=answerer))
    assert (result.action, result.reason.code, answerer.asked) == ("abstain", "no_evidence", [])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_s04_a_score_that_is_no_number_never_decides(bad: float) -> None:
    """S04: reason `score_invalid`, never a decision on NaN."""
    scorer = ScriptedScorer(function=lambda _: bad)
    result = run(
        agent(tier("local", FIVE), policy=ScoreThreshold(answer_at=0.0), scorer=scorer), budget=Budget(max_calls=2)
    )
    assert (result.action, result.reason.code, result.degraded) == ("abstain", "score_invalid", True)
    assert result.sufficiency is None


def test_scoring_runs_off_the_event_loop() -> None:
    """By thread: the scorer never runs in the thread of the loop (L14 is measured in a benchmark)."""
    scorer = ScriptedScorer()
    run(agent(tier("local", FIVE), scorer=scorer, policy=answer_at(1.0)))
    assert all(name.startswith("sufficit-compute") for name in scorer.threads)


def test_bad_input_is_refused_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match="question is empty"):
        agent(tier("local", FIVE)).run_sync("  ")
    with pytest.raises(ConfigError, match="'local'"):
        agent(tier("local"), tier("local"))


def test_run_sync_works_inside_a_running_loop() -> None:
    """A notebook has a running event loop in its thread."""

    async def cell() -> SearchResult:
        return agent(tier("local", FIVE), policy=answer_at(1.0)).run_sync("question")

    assert asyncio.run(cell()).action == "answer"


def test_two_runs_give_the_same_result() -> None:
    """Same input, same outcome, apart from the clock."""

    def outcome() -> tuple[Any, ...]:
        result = run(agent(tier("local", passages("a", "b"), passages("c")), policy=answer_at(3.0)))
        return (
            result.evidence,
            result.ranking,
            result.action,
            result.reason,
            [turn.queries for turn in result.turns],
        )

    assert outcome() == outcome()
