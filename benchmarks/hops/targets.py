"""What has to be found: the passages that hold each piece of annotated support, and whether titles lead to it.

Passages are told by their ids, which are hashes of texts without titles: the same targets serve an index whose
titles were removed, and one with other text mixed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.views import folded_words
from agent.views import holds as holds_key
from retrieval import Passage
from retrieval.names import name_key, without_aside

from ..datasets import Gold, GoldPassage, Question
from ..support import holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One question with what a perfect retriever returns for it."""

    question: Question
    holders: tuple[frozenset[str], ...]
    """For each piece of support the ids of the passages that hold it; empty where the corpus lacks it."""
    title_reach: bool | None
    """Whether titles lead from the question to all its support; None where a piece has no title or no text."""

    @property
    def complete(self) -> bool:
        """Whether the corpus holds all support."""
        return all(self.holders)

    def ranks(self, ids: Sequence[str]) -> tuple[int | None, ...]:
        """For each piece of support the rank of the first of these passages that holds it, 1 = the first."""
        place = {key: rank for rank, key in reversed(list(enumerate(ids, start=1)))}
        return tuple(
            min((place[key] for key in keys if key in place), default=None)  # an id has one rank only
            for keys in self.holders
        )


def find_targets(questions: Sequence[Question], passages: Iterable[Passage]) -> list[Target]:
    """The targets of questions that have support, in their order; one pass over the passages of an index."""
    held = _holders(questions, passages)
    return [_target(question, held) for question in questions]


def leads_to_all(question: str, support: Sequence[tuple[str, str]]) -> bool:
    """Whether following titles finds all support: the oracle of a retriever that does nothing else.

    A passage is reached if the question, or the text of a passage that was reached before, holds its title,
    without brackets and a leading article, as whole words.

    Args:
        question: The user's question.
        support: Title and text of each piece.

    >>> leads_to_all("Who founded Osterby?", [("Osterby", "Founded by Hanna Berg."), ("Hanna Berg (glazier)", "")])
    True
    """
    keys = [name_key(without_aside(title)) for title, _ in support]
    texts = [folded_words(text) for _, text in support]
    reached: set[int] = set()
    found = {at for at, key in enumerate(keys) if holds_key(folded_words(question), key)}
    while found:
        reached |= found
        found = {
            at
            for at, key in enumerate(keys)
            if at not in reached and any(holds_key(texts[other], key) for other in reached)
        }
    return len(reached) == len(support)


def _holders(questions: Iterable[Question], passages: Iterable[Passage]) -> Mapping[Gold, list[Passage]]:
    """The passages that hold each piece of support of any question."""
    by_id: dict[str, set[Gold]] = defaultdict(set)
    by_article: dict[str, set[Gold]] = defaultdict(set)
    for question in questions:
        for gold in question.support:
            if isinstance(gold, GoldPassage):
                by_id[gold.passage_id].add(gold)
            else:
                by_article[gold.article].add(gold)
    held: dict[Gold, list[Passage]] = defaultdict(list)
    for passage in passages:
        for gold in by_id.get(passage.id, ()):
            held[gold].append(passage)
        for title in dict.fromkeys(place.title for place in passage.provenance):
            for gold in by_article.get(title, ()):
                if holds(passage, gold):
                    held[gold].append(passage)
    return held


def _target(question: Question, held: Mapping[Gold, list[Passage]]) -> Target:
    found = [held.get(gold, []) for gold in question.support]
    named = [
        (gold.title if isinstance(gold, GoldPassage) else gold.article, " ".join(passage.text for passage in some))
        for gold, some in zip(question.support, found, strict=True)
    ]
    told = all(title and text for title, text in named)
    return Target(
        question=question,
        holders=tuple(frozenset(passage.id for passage in some) for some in found),
        title_reach=leads_to_all(question.question, named) if told else None,
    )
