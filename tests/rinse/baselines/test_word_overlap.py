"""The share of the question's content words in the best passage, on hand-worked sets."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage
from rinse import SufficiencyScorer
from rinse.baselines.word_overlap import WordOverlapScorer

SCORER = WordOverlapScorer()
QUESTION = "Which captain founded the city of Elmsworth?"  # captain, found, city, elmsworth


@pytest.mark.parametrize(
    ("texts", "share"),
    [
        (["The captain was born there."], 0.25),
        (["The captain was born there.", "Elmsworth is a city."], 0.5),
        (["Elmsworth, a city, was founded by a captain."], 1.0),
        (["Captains, captains, and one captain."], 0.25),
        (["Which of the"], 0.0),
        ([], 0.0),
    ],
    ids=["one-word", "best-of-two", "all", "repeats", "function-words", "nothing"],
)
def test_hand_worked(texts: list[str], share: float, evidence: Callable[..., EvidenceSet]) -> None:
    """Stems of content words, each once; two passages do not add up."""
    assert isinstance(SCORER, SufficiencyScorer)
    assert SCORER.score(QUESTION, evidence(*texts)).score == share


def test_the_title_counts(evidence: Callable[..., EvidenceSet]) -> None:
    """As it does for every rival."""
    assert SCORER.score(QUESTION, evidence(("Elmsworth", "A city."))).score == 0.5


def test_a_question_without_content_words_is_covered_by_nothing(evidence: Callable[..., EvidenceSet]) -> None:
    """No share of nothing."""
    assert SCORER.score("Who was it?", evidence("It was who.")).score == 0.0


_TEXTS = st.lists(st.text(alphabet="ab cityfound的", max_size=12), max_size=5)


@given(st.text(alphabet="ab cityfound的", max_size=12), _TEXTS, st.randoms(use_true_random=False))
def test_a_function_of_the_set_in_its_range(question: str, texts: list[str], random: Random) -> None:
    """In [0, 1], whatever the order; a passage more never lowers it."""
    passages = [Passage(text=text) for text in texts]
    found = SCORER.score(question, EvidenceSet.of(passages))
    assert 0.0 <= found.score <= 1.0
    random.shuffle(passages)
    assert SCORER.score(question, EvidenceSet.of(passages)) == found
    assert SCORER.score(question, EvidenceSet.of(passages[1:])).score <= found.score
