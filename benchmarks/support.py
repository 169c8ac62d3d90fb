"""Which of a question's annotated support is there: in the evidence, or in the first k of a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval import Passage
from retrieval.passage import passage_id
from retrieval.text import sentences

from .datasets import Gold, GoldPassage


def support_ranks(support: Sequence[Gold], passages: Iterable[Passage]) -> tuple[int | None, ...]:
    """For each gold item the rank of the first passage that holds it, 1 = the first passage; None = none does.

    A gold passage is held by the passage with its id. A gold sentence is held by a passage of its article (by
    title, in any of the passage's sources) one of whose sentences has its id.
    """
    ranks: list[int | None] = [None] * len(support)
    for rank, passage in enumerate(passages, start=1):
        for position, gold in enumerate(support):
            if ranks[position] is None and holds(passage, gold):
                ranks[position] = rank
    return tuple(ranks)


def holds(passage: Passage, gold: Gold) -> bool:
    """Whether the passage is, or contains, this piece of support."""
    if isinstance(gold, GoldPassage):
        return passage.id == gold.passage_id
    if all(place.title != gold.article for place in passage.provenance):
        return False
    text = passage.text
    return any(passage_id(text[start:end]) == gold.sentence_id for start, end in sentences(text))
