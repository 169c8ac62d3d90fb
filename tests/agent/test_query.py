"""The gap planner: what it asks next, that it never repeats itself, and that it comes to an end."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.query import QUERIES, GapPlanner
from agent.seams import Plan
from retrieval import EvidenceSet, Passage
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError
from retrieval.index.encoder import TransformerEncoder
from retrieval.text import query_key
from rinse import Gap, Sufficiency

AUE = Passage(title="Ilse Aue", text="Ilse Aue was an engineer. She was born in Hartmoor.")
HARTMOOR = Passage(title="Hartmoor", text="Hartmoor is a market town in Ostmark.")
BREAD = Passage(title="Bread", text="Bread is baked from dough. Rye bread keeps for weeks, said Otto Kern.")
QUESTION = "Which river flows past the town where Ilse Aue was born?"


class Words:
    """An encoder for tests: a vector counts letters, so that texts with the same words are alike."""

    name, dims, fingerprint = "words", 26, "words"

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.threads: set[str] = set()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts.extend(texts)
        self.threads.add(threading.current_thread().name)
        rows = [[text.lower().count(chr(97 + letter)) + 1e-3 for letter in range(26)] for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), 26)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture(scope="module")
def planner() -> GapPlanner:
    """On the default backbone, as the product uses it."""
    try:
        backbone = find_backbone("all-MiniLM-L6-v2", allow_hub=False)
    except BackboneNotFoundError as error:
        pytest.skip(f"needs the weights of the default backbone: {error}")
    return GapPlanner(TransformerEncoder(backbone))


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
    plan = await next_plan(GapPlanner(Words()), QUESTION, [])
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
    plan = await next_plan(GapPlanner(Words()), QUESTION, [], QUESTION)
    assert plan.queries == ()


async def test_a_text_is_encoded_once_and_off_the_event_loop() -> None:
    encoder = Words()
    planner = GapPlanner(encoder)
    for tried in ([QUESTION], [QUESTION, "town"], [QUESTION, "town", "river"]):
        await next_plan(planner, QUESTION, [AUE, BREAD], *tried)
    assert len(encoder.texts) == len(set(encoder.texts))
    assert threading.current_thread().name not in encoder.threads


texts = st.one_of(
    st.text(max_size=120), st.sampled_from([AUE.text, BREAD.text, "東京は日本の首都です。", "\ud800", "A B C"])
)


@settings(max_examples=60, deadline=None)
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
        plan = await GapPlanner(Words()).plan(question, evidence, None, tuple(asked))
        assert plan == await GapPlanner(Words()).plan(question, evidence, None, tuple(asked))
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
