"""What an index is measured against: a BM25 library that is often used, and a product of a matrix and a vector."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from retrieval.text import terms

from ..hops.filler import random_unit

CANDIDATES = 100
"""Hits that each of them returns: as many as either half of the index gives to the fusion of ten."""


class RankBm25:
    """rank-bm25 over the terms that our index has, too. Its scores are sorted only as far as they are wanted."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._bm25 = BM25Okapi([terms(text) for text in texts], k1=1.2, b=0.75)

    def search(self, query: str) -> NDArray[np.intp]:
        """Numbers of the best `CANDIDATES` texts, best first."""
        return best(self._bm25.get_scores(terms(query)))


class NumpyDot:
    """All inner products of one query with random unit rows in memory.

    Args:
        rows: How many.
        dims: Width of a row.
        seed: Of the rows.
    """

    def __init__(self, rows: int, dims: int, *, seed: int) -> None:
        self._rows = np.random.default_rng(seed).standard_normal((rows, dims), dtype=np.float32)
        self._rows /= np.linalg.norm(self._rows, axis=1, keepdims=True)

    def search(self, query: str) -> NDArray[np.intp]:
        """Numbers of the `CANDIDATES` rows that are nearest to the query's random vector, best first."""
        return best(self._rows @ random_unit(query, self._rows.shape[1]))


def best(scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """Where the `CANDIDATES` largest scores are, or all of them if they are fewer, largest first."""
    count = min(CANDIDATES, len(scores))
    found = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    return found[np.argsort(-scores[found], kind="stable")]
