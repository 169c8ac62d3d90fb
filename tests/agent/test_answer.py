"""The extractive answerer: short answers from the evidence, with quotes that stand in it."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.answer import MAX_CITATIONS, ExtractiveAnswerer
from agent.errors import AnswerError
from agent.seams import Answer, Answerer
from retrieval import EvidenceSet, Passage, Ranking
from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError
from retrieval.index.encoder import TransformerEncoder

WORLD = (
    Passage(
        title="Ilse Aue",
        text="Ilse Aue (4 March 1881 – 9 May 1950) was an engineer. She was born in Hartmoor and studied in "
        "Brell. Her best known work is the Orn Viaduct.",
    ),
    Passage(
        title="Hartmoor",
        text="Hartmoor is a market town in Ostmark. The river Lenne flows past Hartmoor. It has 12,400 "
        "inhabitants.",
    ),
    Passage(
        title="Orn Viaduct",
        text="The Orn Viaduct is a railway bridge over Lake Orn. It was opened in 1911 and has 24 arches.",
    ),
    Passage(
        title="Tomas Rell",
        text="Tomas Rell (17 June 1869 – 2 January 1961) was a sculptor. He lived in Brell and taught Mara Quist.",
    ),
    Passage(title="Weir", text="A weir is a low barrier across a river. It slows the water and raises it."),
    Passage(title="Lake Orn", text="Lake Orn is a lake in Ostmark. Its water is cold in every season."),
)


class Counting:
    """An encoder that notes the threads that it runs in; all texts are alike to it."""

    name, dims, fingerprint = "counting", 2, "counting"

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.threads.add(threading.current_thread().name)
        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


@pytest.fixture(scope="module")
def answerer() -> Answerer:
    """On the default backbone, as the product uses it."""
    try:
        backbone = find_backbone("all-MiniLM-L6-v2", allow_hub=False)
    except BackboneNotFoundError as error:
        pytest.skip(f"needs the weights of the default backbone: {error}")
    return ExtractiveAnswerer(TransformerEncoder(backbone))


async def ask(answerer: Answerer, question: str, passages: Sequence[Passage] = WORLD) -> Answer:
    evidence = EvidenceSet.of(passages)
    answer = await answerer.answer(question, evidence, Ranking(ids=evidence.ids))
    check_contract(answer, evidence)
    return answer


def check_contract(answer: Answer, evidence: EvidenceSet) -> None:
    """Not empty, and every citation is the text at its place."""
    texts = {passage.id: passage.text for passage in evidence}
    assert answer.text.strip()
    assert 1 <= len(answer.citations) <= MAX_CITATIONS
    assert len({(c.passage_id, c.start) for c in answer.citations}) == len(answer.citations)
    for citation in answer.citations:
        assert citation.quote
        assert texts[citation.passage_id][citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which river flows past the town where Ilse Aue was born?", "Lenne"),
        ("Where was Ilse Aue born?", "Hartmoor"),
        ("Who is best known for the Orn Viaduct?", "Ilse Aue"),
        ("In what year was the viaduct by Ilse Aue opened?", "1911"),
        ("When did Tomas Rell die?", "2 January 1961"),
        ("How many arches does the viaduct by Ilse Aue have?", "24"),
        ("How many inhabitants does Hartmoor have?", "12,400"),
        ("Who was born first, Ilse Aue or Tomas Rell?", "Tomas Rell"),
        ("Who died later, Ilse Aue or Tomas Rell?", "Tomas Rell"),
        ("Who was an engineer, Ilse Aue or Tomas Rell?", "Ilse Aue"),
        ("Are Ilse Aue and Tomas Rell both sculptors?", "no"),
        ("Are Hartmoor and Lake Orn both in the same country?", "yes"),
    ],
)
async def test_short_answers(answerer: Answerer, question: str, expected: str) -> None:
    assert (await ask(answerer, question)).text == expected


async def test_an_answer_over_two_passages_cites_both_and_the_answer_first(answerer: Answerer) -> None:
    answer = await ask(answerer, "Which river flows past the town where Ilse Aue was born?")
    quotes = [citation.quote for citation in answer.citations]
    assert quotes == ["The river Lenne flows past Hartmoor.", "She was born in Hartmoor and studied in Brell."]


async def test_a_question_without_a_span_to_find_is_answered_with_a_sentence(answerer: Answerer) -> None:
    passages = [Passage(text="rain fell all night on the hills"), Passage(text="the bread was baked at dawn")]
    answer = await ask(answerer, "why was the bread so fresh?", passages)
    assert answer.text == "the bread was baked at dawn"


async def test_titles_are_not_needed(answerer: Answerer) -> None:
    bare = [Passage(text=passage.text) for passage in WORLD]
    assert (await ask(answerer, "When did Tomas Rell die?", bare)).text == "2 January 1961"
    assert (await ask(answerer, "Which river flows past the town where Ilse Aue was born?", bare)).text == "Lenne"


async def test_passages_outside_the_ranking_are_read_too(answerer: Answerer) -> None:
    evidence = EvidenceSet.of(WORLD)
    answer = await answerer.answer("When did Tomas Rell die?", evidence, Ranking())
    assert answer.text == "2 January 1961"


async def test_the_same_evidence_gives_the_same_answer(answerer: Answerer) -> None:
    question = "Which railway bridge crosses Lake Orn?"
    assert await ask(answerer, question) == await ask(answerer, question)


async def test_encoding_runs_off_the_event_loop() -> None:
    encoder = Counting()
    await ask(ExtractiveAnswerer(encoder), "why?", [Passage(text="because it rained")])
    assert encoder.threads
    assert threading.current_thread().name not in encoder.threads


async def test_no_evidence_is_an_error_and_not_an_empty_answer() -> None:
    """Case E06: the loop does not call it; if somebody does, it says so."""
    with pytest.raises(AnswerError, match="no evidence"):
        await ExtractiveAnswerer(Counting()).answer("Who?", EvidenceSet(), Ranking())


@settings(max_examples=60, deadline=None)
@given(
    question=st.one_of(
        st.text(max_size=80),
        st.sampled_from(
            ["Who?", "When was it?", "Is A or B older?", "how many", "Ist A und B", "東京はどこですか"]
        ),
    ),
    texts=st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=4),
    titles=st.lists(st.text(max_size=20), min_size=4, max_size=4),
)
async def test_any_text_is_answered_within_the_contract(
    question: str, texts: list[str], titles: list[str]
) -> None:
    evidence = EvidenceSet.of(Passage(text=text, title=title) for text, title in zip(texts, titles, strict=False))
    if not len(evidence):
        return
    answer = await ExtractiveAnswerer(Counting()).answer(question, evidence, Ranking(ids=evidence.ids[:1]))
    check_contract(answer, evidence)
