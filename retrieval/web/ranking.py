"""BM25 over a few thousand texts in memory: passages of pages just fetched, or the links of a sitemap."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..fusion import RRF_CONSTANT, reciprocal_rank_fusion
from ..text import terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..index.encoder import Encoder
    from ..passage import Passage

K1, B = 1.2, 0.75
"""As in the index of a corpus (`retrieval.index.sparse`)."""
COSINE_FLOOR = 0.5
"""As there (`retrieval.index.join`): where no word is shared, the least cosine that is evidence."""
_ENCODED = 200
"""Passages that are encoded for one query at most: the best by words."""


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


def rank_passages(
    query: str, passages: Sequence[Passage], encoder: Encoder | None, vectors: dict[str, NDArray[np.float32]]
) -> list[tuple[Passage, float]]:
    """Distinct passages by BM25, with an encoder by BM25 and cosine joined by reciprocal rank fusion. Blocking.

    Without an encoder, passages that share no word with the query are left out: a score of zero is no hit. With
    one, passages that share none need a cosine of 0.5, as in an index.

    Args:
        query: What they are ranked for.
        passages: None twice.
        encoder: Of texts to unit vectors; None = words only.
        vectors: By passage id, or by the query itself; taken from here if known, and added.
    """
    words = WordRanking([passage.full_text for passage in passages]).search(query)
    if encoder is None or not passages:
        return [(passages[number], score) for number, score in words]
    chosen = [number for number, _ in words][:_ENCODED] or list(range(len(passages)))[:_ENCODED]
    texts = {passages[number].id: passages[number].full_text for number in chosen} | {query: query}
    fresh = {key: text for key, text in texts.items() if key not in vectors}
    vectors.update(zip(fresh, encoder.encode(list(fresh.values())), strict=True))
    cosines = {number: float(vectors[passages[number].id] @ vectors[query]) for number in chosen}
    near = sorted(cosines, key=lambda number: (-cosines[number], number))
    if not words:
        near = [number for number in near if cosines[number] >= COSINE_FLOOR]
    rankings = [[str(number) for number in ranking] for ranking in ([number for number, _ in words], near)]
    fused = reciprocal_rank_fusion(rankings, constant=RRF_CONSTANT)
    return [(passages[int(number)], score) for number, score in fused]
