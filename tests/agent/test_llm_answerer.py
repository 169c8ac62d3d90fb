"""The answerer that asks a language model: every citation is checked."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AnswerError
from agent.llm.client import ChatClient
from agent.llm_answerer import CitedQuote, LlmAnswerer, check_citations
from agent.seams import Answer, Answerer
from retrieval import EvidenceSet, Passage, Ranking
from tests.agent.llm.server import Step, says, says_json, serving
from tests.fakes import QuoteAnswerer

PAINTER = Passage(title="Orla Venn", text="Orla Venn was a glass painter. She was born  in\nMarrowby.")
TOWN = Passage(title="Marrowby", text="Marrowby is a market town on the river Tessel.")
HIDDEN = Passage(title="Huge", text="word " * 5_000)
EVIDENCE = EvidenceSet.of([PAINTER, TOWN])
GOOD = {"passage": 2, "quote": "She was born in Marrowby."}


async def answer(*steps: Step, evidence: EvidenceSet = EVIDENCE, fallback: Answerer | None = None) -> Answer:
    """`TOWN` ranks first: it is passage 1."""
    with serving(*steps) as server:
        client = ChatClient(server.endpoint(timeout_seconds=5))
        answerer = LlmAnswerer(client, fallback or QuoteAnswerer(), context_tokens=600)
        assert isinstance(answerer, Answerer)
        try:
            return await answerer.answer("Where was she born?", evidence, Ranking(ids=(TOWN.id, PAINTER.id)))
        finally:
            await client.aclose()


async def test_an_answer_with_the_place_of_its_quote() -> None:
    """The offsets are those of the passage's own text, white space and all."""
    given = await answer(says_json({"answer": "Marrowby", "citations": [GOOD, GOOD]}))
    assert (given.text, given.fallback, given.events, given.spend.tokens) == ("Marrowby", False, (), 15)
    (citation,) = given.citations
    assert citation.passage_id == PAINTER.id
    assert citation.quote == PAINTER.text[citation.start : citation.end] == "She was born  in\nMarrowby."


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ({"passage": 3, "quote": "She was born in Marrowby."}, "passage 3 was not shown"),
        ({"passage": 0, "quote": "She was born in Marrowby."}, "passage 0 was not shown"),
        ({"passage": 1, "quote": "She was born in Marrowby."}, "does not stand in passage 1"),
        ({"passage": 2, "quote": "She was born in Dunmouth."}, "does not stand in passage 2"),
        ({"passage": 2, "quote": "born in"}, "fewer than 3 words"),
        ({"passage": 2, "quote": ""}, "does not stand in passage 2"),
    ],
)
async def test_an_invalid_citation_is_dropped_and_an_answer_without_another_is_refused(
    bad: dict[str, Any], why: str
) -> None:
    mixed = await answer(says_json({"answer": "Marrowby", "citations": [bad, GOOD]}))
    assert [citation.passage_id for citation in mixed.citations] == [PAINTER.id]
    assert [(event.kind, event.detail) for event in mixed.events] == [("citation_dropped", mixed.events[0].detail)]
    assert why in mixed.events[0].detail
    refused = await answer(says_json({"answer": "Marrowby", "citations": [bad]}))
    assert refused.fallback
    assert refused.text == PAINTER.text
    assert [(event.kind, event.where) for event in refused.events] == [("answerer_fell_back", "answerer")]
    assert why in refused.events[0].detail
    assert refused.spend.tokens == 15


async def test_a_passage_that_was_not_shown_cannot_be_cited() -> None:
    """It did not fit into the prompt, whatever its number would be."""
    evidence = EvidenceSet.of([HIDDEN, PAINTER, TOWN])
    given = await answer(
        says_json({"answer": "x", "citations": [{"passage": 3, "quote": "word word word"}]}), evidence=evidence
    )
    assert given.fallback


@pytest.mark.parametrize(
    ("steps", "why", "tokens"),
    [
        ([Step(status=403)], "SUFFICIT_LLM_KEY", 0),
        ([says("Marrowby")], "not the JSON", 30),
        ([says_json({"answer": "Marrowby"})], "it cites nothing", 15),
        ([says_json({"citations": []})], "answer: Field required", 30),
    ],
)
async def test_where_the_model_fails_the_simpler_answer_is_marked(
    steps: list[Step], why: str, tokens: int
) -> None:
    given = await answer(*steps)
    assert (given.text, given.fallback, given.spend.tokens) == (PAINTER.text, True, tokens)
    assert why in given.events[0].detail


@pytest.mark.parametrize("nothing", [None, "", " \u200b\n"])
async def test_a_model_that_finds_too_little_is_believed(nothing: str | None) -> None:
    """Not a failure: the search abstains rather than let a simpler answerer guess. What it cost is known."""
    with pytest.raises(AnswerError, match="do not suffice") as caught:
        await answer(says_json({"answer": nothing, "citations": []}))
    assert caught.value.spend.tokens == 15


async def test_where_both_fail_the_error_tells_of_both_and_of_the_cost() -> None:
    class Failing:
        async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
            raise AnswerError("nothing to quote")

    with pytest.raises(AnswerError, match=r"nothing to quote.*without the model.*not the JSON") as caught:
        await answer(says("hm"), fallback=Failing())
    assert caught.value.spend.tokens == 30


@given(
    text=st.text(alphabet="ab é’\n.Ｆ", min_size=1),
    number=st.integers(-2, 4),
    quote=st.text(alphabet="ab é'\n.F"),
)
def test_whatever_a_model_cites_what_is_kept_stands_in_its_passage(text: str, number: int, quote: str) -> None:
    """A made-up number or quote never becomes a citation."""
    passages = (Passage(text=text), TOWN)
    kept, refused = check_citations([CitedQuote(passage=number, quote=quote)], passages)
    assert len(kept) + len(refused) == 1
    for citation in kept:
        (passage,) = [passage for passage in passages if passage.id == citation.passage_id]
        assert passage.text[citation.start : citation.end] == citation.quote != ""
