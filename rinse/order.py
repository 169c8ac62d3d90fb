"""The canonical order of evidence: BM25 against the question with the profile's own statistics.

The statistics of plain BM25 come from the documents that are ranked; here they come from the profile, so a
passage's place never depends on which other passages happen to be there, and arrival order does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
"""Saturation of a term's frequency; the value of rank-bm25's `BM25Okapi`."""
B = 0.75
"""How far a passage's length counts; the same."""


def bm25(
    question: Sequence[int],
    passage: Sequence[int],
    *,
    idf: NDArray[np.float32],
    average_length: float,
    k1: float = K1,
    b: float = B,
) -> float:
    """BM25 (Robertson and Zaragoza 2009, Okapi form) of one passage with given statistics, at least 0.

    Args:
        question: Vocabulary ids; a repeated one counts as often as it stands there.
        passage: Vocabulary ids.
        idf: Weight of each id of the vocabulary, not below 0.
        average_length: Tokens of an average passage.
        k1: Saturation.
        b: Share of the length normalisation.
    """
    return bm25_of_counts(
        question, Counter(passage), len(passage), idf=idf, average_length=average_length, k1=k1, b=b
    )


def bm25_of_counts(
    question: Sequence[int],
    frequency: Mapping[int, int],
    length: int,
    *,
    idf: NDArray[np.float32],
    average_length: float,
    k1: float = K1,
    b: float = B,
) -> float:
    """`bm25` of a passage whose terms were counted before.

    Args:
        question: See `bm25`.
        frequency: How often the passage holds each id; ids that the question does not ask for may be left out.
        length: Tokens of the passage, all of them.
        idf: See `bm25`.
        average_length: See `bm25`.
        k1: See `bm25`.
        b: See `bm25`.
    """
    norm = k1 * (1 - b + b * length / average_length)
    return float(sum(idf[i] * frequency[i] * (k1 + 1) / (frequency[i] + norm) for i in question if i in frequency))


def canonical_order(
    question: Sequence[int],
    passages: Mapping[str, Sequence[int]],
    *,
    idf: NDArray[np.float32],
    average_length: float,
) -> list[tuple[str, float]]:
    """Passage ids with their BM25, best first, ties by passage id.

    Args:
        question: Vocabulary ids.
        passages: Vocabulary ids by passage id; the mapping's order does not matter.
        idf: See `bm25`.
        average_length: See `bm25`.
    """
    scores = {key: bm25(question, ids, idf=idf, average_length=average_length) for key, ids in passages.items()}
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
