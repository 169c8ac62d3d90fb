"""The best retrieval score: BM25 of the question and a passage, as a sparse index computes it.

Source: Robertson and Zaragoza 2009; the score by which a retriever ranks, read as a sign that the evidence
suffices. Backbone: none. Cost: no pass.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from retrieval import EvidenceSet, Passage
from retrieval.index.sparse import SparseIndex
from retrieval.text import terms

from ..order import bm25_of_counts
from ..sufficiency import Sufficiency
from .best_passage import best_passage, canonical_passages, canonical_text
from .model import identity


@dataclass(frozen=True, slots=True, kw_only=True)
class TermStatistics:
    """What BM25 knows of a collection."""

    documents: int
    """Distinct passages."""
    frequency: Mapping[str, int]
    """How many of them hold a term (`retrieval.text.terms`)."""
    average_length: float
    """Terms of an average passage; 1 where there is no term at all."""

    @classmethod
    def of(cls, passages: Iterable[Passage]) -> Self:
        """Count passages, each distinct text once, with the heading that comes first; none is kept."""
        frequency: Counter[str] = Counter()
        seen: set[str] = set()
        length = 0
        for passage in passages:
            if passage.id not in seen:
                seen.add(passage.id)
                found = terms(canonical_text(passage))
                frequency.update(set(found))
                length += len(found)
        return cls(documents=len(seen), frequency=frequency, average_length=length / len(seen) if length else 1.0)

    @property
    def fingerprint(self) -> str:
        """sha256 (hex) of all that is counted."""
        counted = repr(sorted(self.frequency.items()))
        return identity(str(self.documents), repr(self.average_length), counted)

    def weight(self, term: str) -> float:
        """Inverse document frequency as the sparse index weighs: ln(1 + (N - n + 0.5) / (n + 0.5)), above 0."""
        holding = self.frequency.get(term, 0)
        return math.log(1 + (self.documents - holding + 0.5) / (holding + 0.5))


class RetrievalScorer:
    """A `SufficiencyScorer`: the best BM25 of a passage for the question, at least 0; 0 without a passage.

    Args:
        statistics: Of the collection that is searched. None = the evidence itself is the collection: then a term
            weighs less the more passages of the set hold it, and scores of sets of different sizes compare badly.
    """

    def __init__(self, statistics: TermStatistics | None = None) -> None:
        self._statistics = statistics
        counted = "the evidence" if statistics is None else statistics.fingerprint
        self._fingerprint = identity("retrieval-score", f"{SparseIndex.k1} {SparseIndex.b}", counted)

    @property
    def fingerprint(self) -> str:
        """The rule and the statistics."""
        return self._fingerprint

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`."""
        passages = canonical_passages(evidence)
        statistics = TermStatistics.of(passages) if self._statistics is None else self._statistics
        asked = terms(question)
        numbers = {term: number for number, term in enumerate(dict.fromkeys(asked))}
        idf = np.array([statistics.weight(term) for term in numbers], dtype=np.float32)

        def bm25(passage: Passage) -> float:
            found = terms(canonical_text(passage))
            return bm25_of_counts(
                [numbers[term] for term in asked],
                Counter(numbers[term] for term in found if term in numbers),
                len(found),
                idf=idf,
                average_length=statistics.average_length,
                k1=SparseIndex.k1,
                b=SparseIndex.b,
            )

        return best_passage(passages, [bm25(passage) for passage in passages], model="BM25", lowest=0.0)
