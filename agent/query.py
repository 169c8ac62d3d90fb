"""What to ask next: what the question still lacks, by way of the names in what was found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval import EvidenceSet, Passage
from retrieval.compute import in_worker
from retrieval.index.encoder import Encoder
from retrieval.memo import Memo
from retrieval.names import Name, find_names, name_key, topic, without_aside
from retrieval.text import query_key
from retrieval.words import Word, content_words, stems
from rinse import Gap, Sufficiency

from .seams import Plan

QUERIES = 2
"""Queries of one plan."""
MAX_NAMES = 12
"""Names that one query takes from a passage, in the order of the text."""
MAX_WORDS = 8
"""Words that a query takes from a passage without names."""
FOUND_BY_QUERY = 0.6
"""A passage that suits an earlier query, not the question, is worth this much of its similarity to that query."""
MEMORY_VECTORS = 4096
"""Vectors of passages and queries that are kept, 6 MB at 384 dimensions."""
MEMORY_NAMES = 4096
"""Passages whose names are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """One query that could be asked, and why."""

    query: str
    reason: str
    worth: float
    """Comparable between the leads of one plan."""
    seed: str | None = None
    """The passage that it goes on from."""


class GapPlanner:
    """Asks the question, then for what it lacks by way of the names in the best passages.

    A `QueryPlanner` without a language model. Turn one asks the question itself. After that there are two kinds
    of query, at most two a plan:

    * a name of the question that no passage holds, with the words that no passage covers (both sides of a
      comparison get their own query);
    * the words of the question that a good passage does not hold, with the names of the passage that the
      question lacks.

    It is a pure function of its arguments: a passage was followed before if its query is among `tried`. Text
    without capitals has no names; then the passage's own words take their place.

    Args:
        encoder: Ranks the passages to go on from. Its vectors are remembered, up to `MEMORY_VECTORS`.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._vectors: Memo[str, NDArray[np.float32]] = Memo(MEMORY_VECTORS, lambda _: 1)
        self._names: Memo[str, tuple[Name, ...]] = Memo(MEMORY_NAMES, lambda _: 1)

    async def plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        """Plan the next turn. See `QueryPlanner`; never raises `PlanError`. Computes in a worker thread."""
        return await in_worker(self._plan, question, evidence, sufficiency, tried)

    def _plan(
        self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
    ) -> Plan:
        asked = {query_key(query) for query in tried}
        if question.strip() and query_key(question) not in asked:
            return Plan(queries=(question,), reason="the question itself")
        gaps = sufficiency.gaps if sufficiency else ()
        chosen: list[Lead] = []
        for lead in self._leads(question, evidence, gaps, tried):
            key = query_key(lead.query)
            if key and key not in asked:
                asked.add(key)
                chosen.append(lead)
            if len(chosen) == QUERIES:
                break
        return Plan(
            queries=tuple(lead.query for lead in chosen),
            seeds=tuple(lead.seed for lead in chosen if lead.seed),
            reason="; ".join(lead.reason for lead in chosen) or "nothing new to ask",
        )

    def _leads(
        self, question: str, evidence: EvidenceSet, gaps: Sequence[Gap], tried: Sequence[str]
    ) -> Iterator[Lead]:
        """All that could be asked, best first: names that were not found, then passages to go on from."""
        passages = tuple(evidence)
        if not passages:
            return
        yield from _missing_names(question, passages)
        worth = self._worth(question, passages, tried)
        for index in sorted(range(len(passages)), key=lambda i: -worth[i]):
            lead = self._onward(question, passages[index], gaps, float(worth[index]))
            if lead is not None:
                yield lead

    def _worth(self, question: str, passages: Sequence[Passage], tried: Sequence[str]) -> NDArray[np.float32]:
        """How much each passage promises: like the question, or like a query that went after a part of it."""
        vectors = self._encode([passage.full_text for passage in passages])
        wanted = self._encode([question, *tried])
        similarity = vectors @ wanted.T  # (passages, 1 + tried)
        similarity[:, 1:] *= FOUND_BY_QUERY
        return np.asarray(similarity.max(axis=1), dtype=np.float32)

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        known = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            for text, vector in zip(missing, self._encoder.encode(missing), strict=True):
                known[text] = vector
                self._vectors.put(text, vector)
        return np.stack([known[text] for text in texts])

    def _onward(self, question: str, passage: Passage, gaps: Sequence[Gap], worth: float) -> Lead | None:
        """What the question still lacks if this passage is one of its steps; None if it leads nowhere."""
        held = stems(passage.full_text)
        open_words = [word for word in content_words(question) if not held.issuperset(word.stems)]
        names = self._new_names(question, passage)
        bridge = names[:MAX_NAMES] or _new_words(question, passage)
        if not bridge:
            return None
        via = without_aside(passage.title) or bridge[0]
        return Lead(
            query=" ".join([*(word.text for word in open_words), *bridge]),
            reason=f"{_after(question, open_words, gaps)} via {via}",
            worth=worth,
            seed=passage.id,
        )

    def _new_names(self, question: str, passage: Passage) -> list[str]:
        """The names of a passage that the question does not have, its title first."""
        found = self._names.get(passage.id)
        if found is None:
            found = find_names(passage.text)
            self._names.put(passage.id, found)
        names = {topic(passage): without_aside(passage.title)} if passage.title else {}
        for name in found:
            names.setdefault(name.key, name.text)
        in_question = f" {name_key(question)} "
        return [text for key, text in names.items() if key and f" {key} " not in in_question]


def _missing_names(question: str, passages: Sequence[Passage]) -> Iterator[Lead]:
    """For each name of the question that no passage holds: the name and the words that no passage covers.

    A question with one name alone has asked for it already.
    """
    names = find_names(question)
    if len({name.key for name in names}) < 2:
        return
    texts = [f" {name_key(passage.full_text)} " for passage in passages]
    for name in names:
        if any(f" {name.key} " in text for text in texts):
            continue
        inside = [other for other in names if other.key != name.key]
        rest = [
            word.text
            for word in content_words(question)
            if not any(other.start <= word.start < other.end for other in inside)
            and not name.start <= word.start < name.end
        ]
        yield Lead(query=" ".join([name.text, *rest]), reason=f"{name.text} is not found yet", worth=1.0)


def _new_words(question: str, passage: Passage) -> list[str]:
    """For a passage without names: its first words that the question lacks."""
    known = stems(question)
    fresh = (word.text for word in content_words(passage.text) if not known.issuperset(word.stems))
    return list(dict.fromkeys(fresh))[:MAX_WORDS]


def _after(question: str, open_words: Sequence[Word], gaps: Sequence[Gap]) -> str:
    """What a query is after: the gap that its words lie in, else the words themselves."""
    for gap in gaps:
        if any(gap.start <= word.start < gap.end for word in open_words):
            return f'gap "{gap.text}"'
    return f'"{" ".join(word.text for word in open_words)}"' if open_words else "what follows"
