"""The probe of the extractive answerer: its answer without citations, and how far it leads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent.answer import ExtractiveAnswerer
from agent.episodes import Probe
from agent.errors import AnswerError
from agent.extract.asked import what_is_asked
from agent.extract.candidates import find_candidates
from agent.extract.reading import read
from agent.extract.worth import Question, signs, worth
from retrieval import EvidenceSet, Passage, Ranking
from tests.towns import CORPUS

TOWNS = tuple(Passage(title=title, text=text) for title, text in CORPUS)
QUESTIONS = (
    "Which river runs past the town where Orla Venn was born?",
    "Who worked in Marrowby until 1911?",
    "When was the bridge of Marrowby built?",
    "How long is the Tessel?",
    "In what year was the bridge of Marrowby built?",
    "Where did Pell Harrow live?",
    "Are Marrowby and Dunmouth on the same river?",
    "Who was born first, Orla Venn or Pell Harrow?",
    "Who is older, Orla Venn or Pell Harrow?",
    "why were sheep kept?",
)


class Lengths:
    """An encoder without a model: texts differ by their length."""

    name, dims, fingerprint = "lengths", 2, "lengths"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = np.array([len(text) / 100 for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


ANSWERER = ExtractiveAnswerer(Lengths())


def probe(question: str, *passages: Passage) -> Probe:
    return ANSWERER.probe(question, EvidenceSet.of(passages), Ranking())


@given(
    question=st.sampled_from(QUESTIONS) | st.text(max_size=60),
    passages=st.lists(
        st.sampled_from(TOWNS)
        | st.builds(Passage, text=st.text(min_size=1, max_size=120), title=st.text(max_size=12)),
        min_size=1,
        max_size=6,
    ),
    ranked=st.integers(0, 6),
)
async def test_the_probe_is_what_the_answerer_answers(question: str, passages: list[Passage], ranked: int) -> None:
    """Whatever the evidence and its order: stop policies see the answer that the user would get."""
    evidence = EvidenceSet.of(passages)
    if not len(evidence):
        return
    ranking = Ranking(ids=evidence.ids[::-1][:ranked])
    seen = ANSWERER.probe(question, evidence, ranking)
    assert seen.text == (await ANSWERER.answer(question, evidence, ranking)).text
    assert seen.margin is None or seen.margin >= 0
    assert seen == ANSWERER.probe(question, evidence, ranking)


@pytest.mark.parametrize("question", [QUESTIONS[2], QUESTIONS[3], QUESTIONS[4]])
def test_the_margin_is_the_lead_over_the_best_other_text(question: str) -> None:
    """Computed once more the long way, over every date or number of the evidence."""
    asked, reading = what_is_asked(question), read(question, TOWNS)
    against = Question.of(question, asked)
    spans = [
        (worth(signs(candidate, statement, reading, against)), candidate)
        for statement in reading.statements
        for candidate in find_candidates(statement.text, asked)
    ]
    value, best = max(spans, key=lambda span: span[0])
    others = [other for other, candidate in spans if candidate.key != best.key]
    seen = probe(question, *TOWNS)
    assert seen.text == best.text
    assert seen.margin == pytest.approx(value - max(others))


def test_the_same_text_again_is_no_rival() -> None:
    """A second passage that says the same in other letters takes nothing from the lead."""
    said = Passage(text="The bridge was built in May 1784.")
    again = Passage(text="It was in MAY 1784, they say, that the bridge was built.")
    other = Passage(text="The mint was closed in 1391.")
    question = "When was the bridge built?"
    assert probe(question, said).margin is None
    assert probe(question, said, again).margin is None
    lead = probe(question, said, again, other).margin
    assert lead is not None
    assert lead > 0


@pytest.mark.parametrize("question", QUESTIONS[-4:])
def test_what_is_not_chosen_by_its_worth_has_no_margin(question: str) -> None:
    """Yes or no, one of two things, a sentence: no number is made up for these."""
    lowercase = Passage(text="sheep were kept on most of the hills, for their wool")
    assert probe(question, *(TOWNS if "why" not in question else (lowercase,))).margin is None


def test_without_evidence_there_is_nothing_to_probe() -> None:
    with pytest.raises(AnswerError, match="no evidence"):
        probe("Who?")
