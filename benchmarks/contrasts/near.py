"""What makes a passage unfit as a distractor: it is nearly a passage of the record, or it holds an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice

from retrieval import Passage
from retrieval.text import tokenise

NEAR = 0.5
"""Share of 5-grams from which on two texts are near-duplicates: neither may replace the other."""
SAME = 0.8
"""Share of a gold passage's 5-grams from which on a text counts as that passage. At a half, articles that were
written after one template count too: on the development files of HotpotQA, 2WikiMultiHopQA and MuSiQue 12 of 13
such pairs lie below 0.67, the one real copy is at 1."""
_NOT_STRINGS = frozenset({"yes", "no", "noanswer"})
"""Answers that stand in half of all passages without answering anything."""


@lru_cache(maxsize=20_000)  # of a passage of a hundred words 16 KB each
def grams(text: str) -> frozenset[tuple[str, ...]]:
    """The 5-grams of a text's words; of a text with fewer than five, all its words as one gram."""
    words = tokenise(text)
    if len(words) < 5:
        return frozenset({tuple(words)} if words else ())
    return frozenset(zip(*(islice(words, start, None) for start in range(5)), strict=False))


def overlap(one: str, other: str) -> float:
    """Share of the 5-grams of the text that has fewer which also stand in the other, in [0, 1].

    >>> overlap("a b c d e f", "x a b c d e y")
    0.5
    """
    fewer, more = sorted((grams(one), grams(other)), key=len)
    return len(fewer & more) / len(fewer) if fewer else 0.0


def near_any(text: str, others: Iterable[str]) -> bool:
    """Whether half of the 5-grams or more are shared with one of the others."""
    return any(overlap(text, other) >= NEAR for other in others)


def stands_for(text: str, gold: str) -> bool:
    """Whether a text may count as the gold one: it holds `SAME` of *its* 5-grams or more.

    >>> stands_for("a b c d e", "a b c d e f g h i j")
    False
    """
    wanted = grams(gold)
    return bool(wanted) and len(wanted & grams(text)) / len(wanted) >= SAME


def answer_strings(answers: Iterable[str]) -> tuple[str, ...]:
    """The answers in the form that `holds_answer` looks for; yes, no and blank ones name nothing to look for."""
    found = (" ".join(tokenise(answer)) for answer in answers)
    return tuple(dict.fromkeys(answer for answer in found if answer and answer not in _NOT_STRINGS))


def holds_answer(passage: Passage, strings: Sequence[str]) -> bool:
    """Whether heading or text hold one of the `answer_strings` as whole words."""
    words = f" {_joined(passage.full_text)} "
    return any(f" {string} " in words for string in strings)


@lru_cache(maxsize=50_000)
def _joined(text: str) -> str:
    return " ".join(tokenise(text))
