"""The planner that asks a language model, and its fall-back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agent.llm.client import ChatClient
from agent.llm_planner import LlmPlanner
from agent.prompts import MAX_QUERY
from agent.seams import Plan, QueryPlanner
from retrieval import EvidenceSet, Passage
from rinse import Gap, ReaderScore, Sufficiency
from tests.agent.llm.server import Step, says, says_json, serving
from tests.fakes import ScriptedPlanner

QUESTION = "Which river runs through the birthplace of Orla Venn?"
PAINTER = Passage(title="Orla Venn", text="Orla Venn was a glass painter. She was born in Marrowby.")
TOWN = Passage(title="Marrowby", text="Marrowby is a market town.")
LACKING = Sufficiency(
    score=0.0,
    readers=(ReaderScore(reader="content", raw=0.0, corrected=0.0),),
    gaps=(Gap(start=6, end=16, text="river runs", coverage=0.1),),
    passages=2,
)


async def plan(
    server: Any,
    *,
    evidence: Sequence[Passage] = (),
    tried: tuple[str, ...] = (),
    fallback: QueryPlanner | None = None,
    **options: Any,
) -> Plan:
    client = ChatClient(server.endpoint(timeout_seconds=5))
    planner = LlmPlanner(client, fallback or ScriptedPlanner([["plain query"]]), **options)
    assert isinstance(planner, QueryPlanner)
    try:
        return await planner.plan(QUESTION, EvidenceSet.of(evidence), LACKING if evidence else None, tried)
    finally:
        await client.aclose()


async def test_the_first_turn_takes_the_question_apart() -> None:
    with serving(says_json({"queries": ["Orla Venn birthplace"], "reason": "the first\nstep"})) as server:
        made = await plan(server)
    assert made == Plan(queries=("Orla Venn birthplace",), reason="the first step", spend=made.spend)
    assert made.spend.tokens == 15
    assert f"<question>{QUESTION}</question>" in server.seen[0].prompt
    assert "<passage" not in server.seen[0].prompt


async def test_later_turns_show_gaps_passages_and_what_was_tried() -> None:
    with serving(says_json({"queries": ["river Marrowby"]})) as server:
        made = await plan(server, evidence=[PAINTER, TOWN], tried=(QUESTION,))
    assert made.queries == ("river Marrowby",)
    prompt = server.seen[0].prompt
    assert "<uncovered>river runs</uncovered>" in prompt
    assert f"<tried>{QUESTION}</tried>" in prompt
    assert '<passage number="2" title="Marrowby">Marrowby is a market town.</passage>' in prompt


async def test_new_passages_and_the_first_ones_share_the_room() -> None:
    """The bridge is new, what the question itself found came first: neither crowds out the other."""
    old = [Passage(text=f"old {n} " + "word " * 60) for n in range(9)]
    new = [Passage(text=f"new {n} " + "word " * 60) for n in range(9)]
    client_evidence = EvidenceSet.of(old).add(new)
    with serving(says_json({"queries": ["q"]})) as server:
        client = ChatClient(server.endpoint())
        planner = LlmPlanner(client, ScriptedPlanner(), context_tokens=600)
        await planner.plan(QUESTION, client_evidence, None, ())
        await client.aclose()
    prompt = server.seen[0].prompt
    assert prompt.index("new 0") < prompt.index("old 0") < prompt.index("new 1") < prompt.index("old 1")
    assert "old 8" not in prompt


async def test_l04_at_most_two_queries_none_tried_before_and_none_too_long() -> None:
    long = "Marrowby river " * 50
    wanted = ["  river\nMarrowby ", "RIVER, Marrowby?", QUESTION.lower(), "", long, "a third"]
    with serving(says_json({"queries": wanted})) as server:
        made = await plan(server, tried=(QUESTION,))
    assert made.queries[0] == "river Marrowby"
    assert len(made.queries) == 2
    assert len(made.queries[1]) <= MAX_QUERY
    assert made.queries[1].endswith(("Marrowby", "river"))


@pytest.mark.parametrize(
    ("steps", "why", "tokens"),
    [
        ([Step(status=401)], "SUFFICIT_LLM_KEY", 0),
        ([Step(status=500)], "At most 3", 0),
        ([says("I would search")], "not the JSON", 30),
        ([says_json({"queries": "river"})], "queries", 30),
        ([says_json({"queries": []})], "no query that was not tried", 15),
        ([says_json({"queries": [QUESTION, " "]})], "no query that was not tried", 15),
    ],
)
async def test_where_the_model_fails_the_simpler_plan_is_marked(steps: list[Step], why: str, tokens: int) -> None:
    with serving(*steps) as server:
        made = await plan(server, tried=(QUESTION,))
    assert made.queries == ("plain query",)
    assert made.fallback
    assert made.reason.startswith("scripted (without the model: ")
    assert why in made.reason
    assert [(event.kind, event.where) for event in made.events] == [("planner_fell_back", "planner")]
    assert why in made.events[0].detail
    assert made.spend.tokens == tokens


async def test_estimated_tokens_are_told() -> None:
    with serving(says('{"queries": ["river Marrowby"]}', usage=None)) as server:
        made = await plan(server)
    assert [event.kind for event in made.events] == ["tokens_estimated"]
    assert made.spend.tokens > 0
    assert not made.fallback
