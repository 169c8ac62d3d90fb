"""How good a span is as the answer: a sum of simple signs, weighted by what train questions taught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import regex

from retrieval.text import tokenise
from retrieval.words import stems, word_set, words

from .asked import Asked
from .candidates import Candidate
from .reading import Reading, Statement

_REACH = 8  # words on each side of a span that say something about it
_CLOSE = 3  # words on each side that may be its noun ("the river Lenne")

_ORGANISATION = word_set(
    "university company records league award awards school college county river film band festival united "
    "states world national american english new north south west east city church party house times "
    "magazine album series show division army war championship cup club museum center centre"
)
"""Words of names that are hardly ever a person's."""
_PLACE_LEADS = frozenset({"in", "at", "near", "from", "to"})
_ARTICLES = frozenset({"a", "an", "the"})
_LATE = regex.compile(r"(?:[–-]|\bdied|\bdeath|\buntil)\D{0,15}$")
_YEAR = regex.compile(r"\d{4}")
_FULL_DATE = regex.compile(r"\p{L}.*\d{4}|\d{4}.*\p{L}")
_LIKE_A_YEAR = regex.compile(r"1[5-9]\d\d|20\d\d")

WEIGHTS: Mapping[str, float] = {
    "joint": 7.0,
    "coverage": -1.8,
    "near": 7.5,
    "head_in": 1.4,
    "head_near": 0.6,
    "named": -2.0,
    "place.topic": -1.9,
    "place.lead": 2.0,
    "place.comma": 0.7,
    "person.other": -2.4,
    "person.single": -1.3,
    "person.by": 0.8,
    "date.side": 3.3,
    "date.full": 1.9,
    "date.first": 0.7,
    "number.year": -4.8,
    "thing.people": 2.7,
}
"""Conditional logistic regression over the candidates of 591 open questions (those that have a right one) of the
train files of HotpotQA, 2Wiki, MuSiQue and SQuAD 1.1, rounded. The cosine of question and sentence was a sign too;
beside the others it changed F1 by less than its noise, and so it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, as spans are held against it."""

    asked: Asked
    key: str
    """Its folded words with a space at each end."""

    @classmethod
    def of(cls, text: str, asked: Asked) -> Question:
        """Prepare a question."""
        return cls(asked=asked, key=f" {' '.join(tokenise(text))} ")


def worth(signs: Mapping[str, float]) -> float:
    """The weighted sum of the signs; comparable between spans of one question only."""
    return sum(WEIGHTS.get(name, 0.0) * value for name, value in signs.items())


def signs(candidate: Candidate, statement: Statement, reading: Reading, question: Question) -> dict[str, float]:
    """What speaks for or against a span, each between 0 and about 1.

    * joint, coverage: how much of the question its sentence covers with and without its partner;
    * near: question words close to the span, those that the partner has too left out;
    * head_in, head_near: the noun of the question (`what river`) is in it or beside it;
    * named: the question names it already;
    * the rest belongs to one kind of question.
    """
    before = words(statement.text[: candidate.start])[-_REACH:]
    after = words(statement.text[candidate.end :])[:_REACH]
    partner = reading.statements[statement.partner].stems if statement.partner is not None else frozenset[str]()
    near = sum(
        max((reading.weights.get(stem, 0.0) for stem in word.stems if stem not in partner), default=0.0)
        / (gap + 2)
        for side in (before[::-1], after)
        for gap, word in enumerate(side)
    )
    head = frozenset(question.asked.head)
    beside = {stem for word in (*before[-_CLOSE:], *after[:_CLOSE]) for stem in word.stems}
    common = {
        "joint": statement.joint,
        "coverage": statement.coverage,
        "near": near,
        "head_in": float(not head.isdisjoint(stems(candidate.text))),
        "head_near": float(not head.isdisjoint(beside)),
        "named": float(f" {candidate.key} " in question.key),
    }
    lead = before[-1].text.lower() if before and statement.text[before[-1].end : candidate.start].isspace() else ""
    return common | _signs_of_kind(candidate, statement, reading, question.asked, lead)


def _signs_of_kind(
    candidate: Candidate, statement: Statement, reading: Reading, asked: Asked, lead: str
) -> dict[str, float]:
    tokens = candidate.key.split()
    text_before = statement.text[: candidate.start]
    if asked.kind == "person":
        return {
            "person.other": float(not _ORGANISATION.isdisjoint(tokens)),
            "person.single": float(len(tokens) == 1),
            "person.by": float(lead == "by"),
        }
    if asked.kind == "place":
        return {
            "place.lead": float(lead in _PLACE_LEADS),
            "place.comma": float(text_before.endswith(", ")),
            "place.topic": float(candidate.key == statement.topic),
        }
    if asked.kind == "date":
        birth, death = ("birth" in reading.weights), ("die" in reading.weights)
        return {
            "date.side": float((birth or death) and bool(_LATE.search(text_before)) == death),
            "date.full": float(bool(_FULL_DATE.search(candidate.text))),
            "date.first": float(not _YEAR.search(text_before)),
        }
    if asked.kind == "number":
        return {"number.year": float(bool(_LIKE_A_YEAR.fullmatch(candidate.text)))}
    return {"thing.people": float("nationality" in asked.head and len(tokens) == 1 and lead in _ARTICLES)}
