"""The gap planner: what it asks next, that it never repeats itself, and that it comes to an end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.query import QUERIES, SEEDS, GapPlanner
from agent.seams import Plan
from agent.views import View, Views
from retrieval import EvidenceSet, Passage
from retrieval.text import query_key
from rinse import Gap, Sufficiency

AUE = Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor.")
HARTMOOR = Passage(title="Hartmoor", text="Hartmoor is a market town in Ostmark.")
BREAD = Passage(title="Bread", text="Bread is baked from dough. Rye bread keeps for weeks, said Otto Kern.")
QUESTION = "Which river flows past the town where Ilse Aue was born?"


@pytest.fixture(scope="module")
def planner() -> GapPlanner:
    """As the product uses it. One for all tests, because it keeps no state of a search."""
    return GapPlanner()


async def next_plan(
    planner: GapPlanner, question: str, passages: Sequence[Passage], *tried: str, gap: str | None = None
) -> Plan:
    gaps = () if gap is None else (_gap(question, gap),)
    sufficiency = None if gap is None else Sufficiency(score=0.5, gaps=gaps, passages=len(passages))
    return await planner.plan(question, EvidenceSet.of(passages), sufficiency, tried)


def _gap(question: str, text: str) -> Gap:
    start = question.index(text)
    return Gap(start=start, end=start + len(text), text=text, coverage=0.1)


async def test_turn_one_asks_the_question_itself() -> None:
    plan = await next_plan(GapPlanner(), QUESTION, [])
    assert plan.queries == (QUESTION,)
    assert not plan.seeds


async def test_a_bridge_is_followed_with_the_words_that_its_passage_lacks(planner: GapPlanner) -> None:
    plan = await next_plan(planner, QUESTION, [BREAD, AUE], QUESTION, gap="river flows past the town")
    assert plan.queries[0] == "river flows past town Hartmoor"
    assert plan.seeds[0] == AUE.id
    assert plan.reason.startswith('gap "river flows past the town" via Ilse Aue')


async def test_a_passage_is_not_followed_twice(planner: GapPlanner) -> None:
    first = await next_plan(planner, QUESTION, [AUE, HARTMOOR], QUESTION)
    second = await next_plan(planner, QUESTION, [AUE, HARTMOOR], QUESTION, *first.queries)
    assert set(first.queries).isdisjoint(second.queries)
    assert AUE.id not in second.seeds


async def test_both_sides_of_a_comparison_get_a_query(planner: GapPlanner) -> None:
    question = "Who was born first, Ilse Aue or Tomas Rell?"
    plan = await next_plan(planner, question, [BREAD], question)
    assert plan.queries == ("Ilse Aue born", "Tomas Rell born")


async def test_the_side_that_was_found_is_not_looked_for_again(planner: GapPlanner) -> None:
    question = "Who was born first, Ilse Aue or Tomas Rell?"
    plan = await next_plan(planner, question, [AUE], question)
    assert plan.queries[0] == "Tomas Rell born"
    assert "Tomas Rell is not found yet" in plan.reason


async def test_titles_are_not_needed(planner: GapPlanner) -> None:
    plan = await next_plan(planner, QUESTION, [Passage(text=AUE.text)], QUESTION)
    assert plan.queries == ("river flows past town Hartmoor",)


async def test_text_without_capitals_leads_on_by_its_own_words(planner: GapPlanner) -> None:
    passage = Passage(text="the engineer was born in a market town by the sea")
    plan = await next_plan(planner, "which river flows past the birthplace of the engineer?", [passage], "x")
    assert plan.queries[0] == "which river flows past the birthplace of the engineer?"
    plan = await next_plan(planner, "which river flows past it?", [passage], "which river flows past it?")
    assert plan.queries == ("river flows past engineer born market town sea",)


async def test_it_ends_when_every_passage_was_followed(planner: GapPlanner) -> None:
    tried: list[str] = []
    plan = await next_plan(planner, QUESTION, [AUE, HARTMOOR, BREAD])
    while plan.queries:
        tried.extend(plan.queries)
        plan = await next_plan(planner, QUESTION, [AUE, HARTMOOR, BREAD], *tried)
    assert plan == Plan(reason="nothing new to ask")
    assert len(tried) == 4  # the question and one query for each passage


async def test_nothing_found_is_nothing_to_go_on_from() -> None:
    plan = await next_plan(GapPlanner(), QUESTION, [], QUESTION)
    assert plan.queries == ()


async def test_it_computes_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at passages takes milliseconds each; other searches go on meanwhile."""
    seen: list[str] = []
    look = Views.of

    def noting(views: Views, passage: Passage) -> View:
        seen.append(threading.current_thread().name)
        return look(views, passage)

    monkeypatch.setattr(Views, "of", noting)
    await next_plan(GapPlanner(), QUESTION, [AUE, BREAD], QUESTION)
    assert seen
    assert threading.current_thread().name not in seen


async def test_a_plan_depends_on_nothing_but_its_arguments(planner: GapPlanner) -> None:
    """A planner that served other searches plans as a new one; it does not matter which thread asks first."""
    states = [(QUESTION, [AUE, HARTMOOR, BREAD]), ("Which town lies in Ostmark?", [BREAD, HARTMOOR])]
    fresh = [await next_plan(GapPlanner(), asked, found, asked) for asked, found in states]
    used = [await next_plan(planner, asked, found, asked) for asked, found in states * 3]
    assert used == fresh * 3
    assert list(await asyncio.gather(*(next_plan(planner, *state, state[0]) for state in states))) == fresh


async def test_what_a_chain_has_reached_is_gone_on_from_though_it_does_not_resemble_the_question() -> None:
    """Hartmoor shares no word with the question but is what the found birthplace leads to; the other passage holds
    only a word that is found already.
    """
    question = "Which engineer from the birthplace of Ilse Aue built a lighthouse?"
    lone = Passage(title="Passport", text="A passport names the birthplace of its holder, as Otto Kern wrote.")
    aue = Passage(title="Ilse Aue", text="Ilse Aue was a painter. Her birthplace was Hartmoor.")
    town = Passage(title="Hartmoor", text="Hartmoor is in Ostmark. Bruno Feld grew up there.")
    plan = await next_plan(GapPlanner(), question, [lone, aue, town], question)
    assert plan.seeds.index(town.id) < plan.seeds.index(lone.id)


async def test_more_passages_than_two_queries_need_are_offered_as_seeds(planner: GapPlanner) -> None:
    """A tier with links may go on from many passages at the price of two queries; the number is bounded."""
    found = [Passage(title=f"Town {at}", text=f"Town {at} is where Mayor Number{at} lives.") for at in range(40)]
    plan = await next_plan(planner, QUESTION, found, QUESTION)
    assert len(plan.queries) == QUERIES
    assert len(plan.seeds) == len(set(plan.seeds)) == SEEDS


texts = st.one_of(
    st.text(max_size=120), st.sampled_from([AUE.text, BREAD.text, "東京は日本の首都です。", "\ud800", "A B C"])
)


@given(
    question=st.one_of(texts, st.just(QUESTION)),
    found=st.lists(st.tuples(texts, st.text(max_size=20)), max_size=5),
    tried=st.lists(texts, max_size=4),
)
async def test_any_text_keeps_the_contract(question: str, found: list[tuple[str, str]], tried: list[str]) -> None:
    """At most two queries, none of them blank, tried, or twice; the same again from the same state; an end."""
    evidence = EvidenceSet.of(Passage(text=text, title=title) for text, title in found)
    asked = list(tried)
    for _ in range(len(evidence) + 12):
        plan = await GapPlanner().plan(question, evidence, None, tuple(asked))
        assert plan == await GapPlanner().plan(question, evidence, None, tuple(asked))
        keys = [query_key(query) for query in plan.queries]
        assert len(keys) <= QUERIES
        assert all(query.strip() for query in plan.queries)
        assert len(set(keys)) == len(keys)
        assert set(keys).isdisjoint(map(query_key, asked))
        assert set(plan.seeds) <= set(evidence.ids)
        if not plan.queries:
            return
        asked.extend(plan.queries)
    pytest.fail("the planner found no end")
