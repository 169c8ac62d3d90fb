"""Cues that need no training: how many passages there are, and how much of the question each one covers.

A scorer that only follows them may look good on a contrast without knowing whether the evidence suffices (RINSE,
sec. 3.3 and appendix C).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import fsum

from retrieval import EvidenceSet

from .lexicon import Lexicon


def coverages(lexicon: Lexicon, question: str, evidence: EvidenceSet) -> list[float]:
    """Share of the question's IDF weight that words of each passage carry, in [0, 1], in the evidence's order.

    Each distinct word of the question counts once. A question without a word is covered by nothing: 0.
    """
    return [lexicon.match(question, passage).coverage for passage in evidence]


def minimum(covered: Sequence[float]) -> float:
    """The least covered passage's share (appendix C); 0 without a passage."""
    return min(covered, default=0.0)


def mean(covered: Sequence[float]) -> float:
    """Mean share over passages; 0 without a passage."""
    return fsum(covered) / len(covered) if covered else 0.0


def top_two(covered: Sequence[float]) -> float:
    """Mean share of the two best covered passages, of one passage its own; 0 without a passage."""
    return mean(heapq.nlargest(2, covered))


def overlap(lexicon: Lexicon, question: str, evidence: EvidenceSet) -> float:
    """Share of the question's distinct words that occur anywhere in the evidence, all words alike, in [0, 1].

    0 for a question without a word.
    """
    asked = lexicon.distinct(question)
    found = frozenset[str]().union(*(lexicon.match(question, passage).words for passage in evidence))
    return len(found) / asked if asked else 0.0


def coverage_cues(lexicon: Lexicon, question: str, evidence: EvidenceSet) -> dict[str, float]:
    """The cues by the name of their system; pure, and the order of passages does not matter."""
    covered = coverages(lexicon, question, evidence)
    return {
        "cue-size": float(len(evidence)),
        "cue-min-idf": minimum(covered),
        "cue-mean-idf": mean(covered),
        "cue-top2-idf": top_two(covered),
        "question-overlap": overlap(lexicon, question, evidence),
    }
