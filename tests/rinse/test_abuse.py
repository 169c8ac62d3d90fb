"""Passages made to please the chain reader: what they can gain is bounded, and what they cost stays small."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from retrieval import EvidenceSet, Passage
from rinse import RinseScorer
from rinse.readers.links import link
from rinse.readers.pairing import LINK_PREMIUM
from rinse.readers.subject import Subject

Build = Callable[..., EvidenceSet]

QUESTION = "Which river runs through the birthplace of the painter Odile Marven?"
PERSON = ("Odile Marven", "Odile Marven was a painter of harbours. She was born in Castrenne in 1871.")
TOWN = ("Castrenne", "Castrenne is a market town in the hills. The Vessel flows through it from north to south.")
STUFFED = " ".join(f"Zub{a}{b} met Kor{b}{a}." for a in "aeiou" for b in "bdfgklmn")


def features(scorer: RinseScorer, question: str, found: EvidenceSet) -> dict[str, float]:
    """All of one reading."""
    return {name: value for part in scorer.read(question, found).features.values() for name, value in part.items()}


def in_range(found: dict[str, float]) -> bool:
    return all(
        math.isfinite(value) and 0 <= value <= (1 + LINK_PREMIUM if name == "pair" else 1) + 1e-6
        for name, value in found.items()
    )


def test_passages_stuffed_with_names_are_no_chain(real_scorer: RinseScorer, evidence: Build) -> None:
    """They are linked to each other, but say nothing of the question: both hops stay far ahead."""
    stuffed = evidence(*((f"Page {number}", f"{STUFFED} Page {number}.") for number in range(4)))
    found = real_scorer.score(QUESTION, stuffed)
    assert in_range(features(real_scorer, QUESTION, stuffed))
    assert found.score < real_scorer.score(QUESTION, evidence(PERSON, ("Bread", "Bread is baked."))).score
    assert found.score < real_scorer.score(QUESTION, evidence(PERSON, TOWN)).score


def test_a_title_that_is_the_question_adds_no_more_than_the_question_itself(
    real_scorer: RinseScorer, evidence: Build
) -> None:
    """A title is read as text: the page gains what a page that repeats the question gains."""
    text = "Bread is baked from a dough of flour and water."
    titled = features(real_scorer, QUESTION, evidence((QUESTION, text)))
    said = features(real_scorer, QUESTION, evidence(f"{QUESTION} {text}"))
    assert in_range(titled)
    assert titled["tokens"] == pytest.approx(said["tokens"], abs=0.05)
    assert titled["bridge"] == 0.0
    assert titled["pair"] <= 1.0


def test_a_passage_that_repeats_the_question_is_no_bridge_and_gets_no_premium(
    real_scorer: RinseScorer, evidence: Build
) -> None:
    """The names of the question link nothing, so copies of it are no chain."""
    copies = evidence(*(f"{QUESTION} Copy {'abcd'[number]}." for number in range(4)))
    found = features(real_scorer, QUESTION, copies)
    assert in_range(found)
    assert found["bridge"] == 0.0
    assert found["pair"] <= 1.0


@pytest.mark.parametrize("title", ["", "Castle", "Castle (novel)", "Zyxwa Zyxwb", QUESTION])
def test_passages_of_one_title(tiny_scorer: RinseScorer, evidence: Build, title: str) -> None:
    """Chunks of one document mention each other's title; still finite, in range, in any order alike."""
    texts = [f"The queen built the castle by the river {number}." for number in range(30)]
    found = evidence(*((title, text) for text in texts))
    back = evidence(*((title, text) for text in reversed(texts)))
    question = "Which river flows by the castle?"
    assert in_range(features(tiny_scorer, question, found))
    assert features(tiny_scorer, question, found) == features(tiny_scorer, question, back)


def test_120_passages(tiny_scorer: RinseScorer) -> None:
    """The largest set that a search holds: every passage counts, the features are defined."""
    passages = [
        Passage(title=f"Zu{number}" if number % 3 else "", text=f"They met Ko{number % 7} and Zu{number + 1}.")
        for number in range(120)
    ]
    result = tiny_scorer.score("Who met the king of Zu5?", EvidenceSet.of(passages))
    assert result.passages == 120
    assert in_range(features(tiny_scorer, "Who met the king of Zu5?", EvidenceSet.of(passages)))


def test_a_hundred_passages_with_two_thousand_names_in_common() -> None:
    """Ten million pairs of a name and two passages: looked at by rows, not one by one."""
    names = {f"name{number}": 9.0 for number in range(2_000)}
    stuffed = Subject(heading=(), body=frozenset(), names=names, sentences=())
    found = link([stuffed] * 100, question=frozenset(), words=frozenset(), idf=np.ones(3, dtype=np.float32))
    assert (found.shared + np.eye(100) == 1.0).all()
