"""Whole searches with a language model behind a real local server."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from agent import SearchAgent, SearchResult
from agent.llm.client import ChatClient
from agent.llm_answerer import LlmAnswerer
from agent.llm_planner import LlmPlanner
from agent.trace import load_trace
from policies import Budget
from retrieval import Tier
from tests.agent.llm.server import ModelServer, Step, says, says_json, serving
from tests.fakes import QuoteAnswerer, ScriptedPlanner, ScriptedRetriever, ScriptedScorer, answer_at, passages

KEY = "sk-very-secret-0123456789"
BOTH = passages("orla venn", "marrowby")
QUERIES = says_json({"queries": ["Orla Venn birthplace"], "reason": "first step"})
MORE = says_json({"queries": ["river Marrowby"], "reason": "second step"})
ANSWER = says_json({"answer": "Marrowby", "citations": [{"passage": 1, "quote": "Text of orla venn."}]})


def make_agent(server: ModelServer, **options: Any) -> SearchAgent:
    """Two calls find one passage each; two passages suffice."""
    client = ChatClient(server.endpoint(key=KEY, timeout_seconds=5))
    usual: dict[str, Any] = {
        "tiers": [Tier(name="t", retriever=ScriptedRetriever([BOTH[:1], BOTH[1:]]))],
        "scorer": ScriptedScorer(),
        "policy": answer_at(2.0),
        "planner": LlmPlanner(client, ScriptedPlanner([["plain one"], ["plain two"]])),
        "answerer": LlmAnswerer(client, QuoteAnswerer()),
        "budget": Budget(max_turns=4, max_calls=4, max_seconds=20),
        "connections": [client],
    }
    return SearchAgent(**(usual | options))


def kinds(result: SearchResult) -> list[str]:
    return [event.kind for turn in result.turns for event in turn.events] + [e.kind for e in result.events]


def test_a_search_planned_and_answered_by_the_model(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Queries, answer, citation and the tokens of three calls; the key is in no trace and no log."""
    caplog.set_level(logging.DEBUG)
    trace = tmp_path / "search.jsonl"
    with serving(QUERIES, MORE, ANSWER) as server:
        result = make_agent(server).run_sync("Which river?", trace=trace)
    assert [turn.queries for turn in result.turns] == [("Orla Venn birthplace",), ("river Marrowby",)]
    assert [turn.plan_reason for turn in result.turns] == ["first step", "second step"]
    assert result.answer is not None
    assert result.answer.text == "Marrowby"
    assert result.citations[0].passage_id == BOTH[0].id
    assert (result.spend.tokens, result.degraded, kinds(result)) == (45, False, [])
    assert all(seen.headers["Authorization"] == f"Bearer {KEY}" for seen in server.seen)
    assert KEY not in trace.read_text()
    assert KEY not in caplog.text


def test_a_dead_model_costs_the_search_nothing_but_words(tmp_path: Path) -> None:
    """Plans and answer fall back; the trace says so each time, and the result is marked degraded."""
    trace = tmp_path / "search.jsonl"
    refusal = Step(json.dumps({"error": {"message": f"no such key {KEY}"}}).encode(), status=401)
    with serving(refusal) as server:
        result = make_agent(server).run_sync("Which river?", trace=trace)
    assert [turn.queries for turn in result.turns] == [("plain one",), ("plain two",)]
    assert result.answer is not None
    assert result.answer.fallback
    assert result.degraded
    assert kinds(result) == ["planner_fell_back", "planner_fell_back", "answerer_fell_back"]
    recorded = load_trace(trace)
    assert recorded.result is not None
    assert [e["kind"] for e in recorded.result["events"]] == ["answerer_fell_back"]
    assert [[e["kind"] for e in turn["events"]] for turn in recorded.turns] == [
        ["planner_fell_back", "planner_fell_back"],
        [],
    ]
    assert KEY not in trace.read_text()


def test_a_model_that_finds_too_little_makes_the_search_abstain() -> None:
    with serving(QUERIES, MORE, says_json({"answer": None})) as server:
        result = make_agent(server).run_sync("Which river?")
    assert (result.action, result.reason.code, result.answer) == ("abstain", "answer_failed", None)
    assert result.spend.tokens == 45
    assert len(result.evidence) == 2


def test_a_token_budget_ends_the_search_as_a_decision() -> None:
    """It is checked before a turn, with what the server charged, however little a call was estimated to need."""
    plans = [says(json.dumps({"queries": [f"query {n}"]}), usage=(2_000, 0)) for n in range(9)]
    with serving(*plans) as server:
        budget = Budget(max_tokens=3_000, max_turns=9, max_calls=9)
        result = make_agent(server, budget=budget, policy=answer_at(99.0)).run_sync("Which river?")
    assert (result.action, result.reason.code) == ("abstain", "budget_tokens")
    assert (result.spend.tokens, len(server.seen)) == (4_000, 2)


def test_no_token_left_means_the_simpler_parts() -> None:
    """Not one call is made that the budget cannot pay, and the search goes on without the model."""
    with serving(QUERIES) as server:
        result = make_agent(server, budget=Budget(max_tokens=100)).run_sync("Which river?")
    assert server.seen == []
    assert result.answer is not None
    assert result.answer.fallback
    assert result.spend.tokens == 0
    assert kinds(result) == ["planner_fell_back", "planner_fell_back", "answerer_fell_back"]


def test_a_slow_model_leaves_half_of_the_time_to_the_simpler_planner() -> None:
    """The budget is not spent on waiting."""
    with serving(Step(waits=True)) as server:
        agent = make_agent(server, answerer=QuoteAnswerer(), budget=Budget(max_seconds=2.0))
        result = agent.run_sync("Which river?")
    assert result.turns[0].queries == ("plain one",)
    assert "planner_fell_back" in kinds(result)


def test_estimated_tokens_are_recorded_and_degrade_nothing() -> None:
    with serving(says('{"queries": ["a"]}', usage=None), MORE, ANSWER) as server:
        result = make_agent(server).run_sync("Which river?")
    assert kinds(result) == ["tokens_estimated"]
    assert not result.degraded


async def test_l13_a_cancelled_search_hangs_up_on_the_model() -> None:
    with serving(Step(waits=True)) as server:
        async with make_agent(server) as agent:
            search = asyncio.create_task(agent.run("Which river?"))
            assert await asyncio.to_thread(server.arrived.wait, 5)
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
            assert await asyncio.to_thread(server.hung_up.wait, 5)


async def test_many_searches_share_one_agent_and_close_once() -> None:
    with serving(ANSWER) as server:
        async with make_agent(server, policy=answer_at(0.0)) as agent:
            found = await asyncio.gather(*(agent.run(f"Question {n}?", evidence=BOTH) for n in range(8)))
    assert {result.answer.text for result in found if result.answer} == {"Marrowby"}
    assert len(server.seen) == 8
