"""BM25 over a few thousand texts in memory: passages of pages just fetched, or the links of a sitemap."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from ..text import terms

K1, B = 1.2, 0.75
"""As in the index of a corpus (`retrieval.index.sparse`)."""


class WordRanking:
    """Texts that can be ranked by the words of a query. Immutable once made; making it is blocking.

    BM25 (Robertson and Zaragoza 2009) with Lucene's idf, ln(1 + (N - n + 0.5) / (n + 0.5)), which is positive also
    for a word that every text holds (case R02).
    """

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        self._size = len(counts)
        self._damping = [K1 * (1 - B + B * length / mean) if mean else K1 for length in lengths]
        self._postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for term, times in count.items():
                self._postings[term].append((number, times))

    def search(self, query: str) -> list[tuple[int, float]]:
        """Numbers of the texts that share a word with the query, with scores above 0; best first, ties in order.

        >>> WordRanking(["a moor", "a lake", "moor and moor"]).search("moors")[0][0]
        2
        """
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(terms(query)):
            postings = self._postings.get(term, ())
            idf = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, times in postings:
                scores[number] += idf * times * (K1 + 1) / (times + self._damping[number])
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
