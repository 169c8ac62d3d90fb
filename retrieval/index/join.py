"""What words, vectors and links found, joined by reciprocal rank fusion."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import TierUnavailableError
from ..fusion import RRF_CONSTANT, reciprocal_rank_fusion
from ..retriever import Event, Hit, Retrieved
from .view import View

COSINE_FLOOR = 0.5
"""Where no passage shares a word with the query, the least cosine that is evidence (same note)."""

Ranking = list[tuple[str, float]]


def outcome(search: Callable[[], Ranking]) -> Ranking | Exception:
    """What one way of searching found, or why it failed: the others may still serve."""
    try:
        return search()
    except Exception as error:  # noqa: BLE001 - whatever a model or an engine raises, the others still work
        return error


def join(
    view: View,
    query: str,
    k: int,
    words: Ranking | Exception,
    vectors: Ranking | Exception,
    *,
    links: Ranking | Exception,
    tier: str = "local",
) -> Retrieved:
    """Fuse what was found, leaving out what failed, and fetch the passages. Links alone are no search.

    Raises:
        TierUnavailableError: words and vectors failed.
        IndexCorruptError: a passage is missing in the state that was searched.
    """
    events = tuple(
        Event(kind=kind, detail=str(half) or repr(half), where=tier)
        for kind, half in (("words_failed", words), ("vectors_failed", vectors), ("links_failed", links))
        if isinstance(half, Exception)
    )
    if isinstance(words, Exception) and isinstance(vectors, Exception):
        raise TierUnavailableError(
            f"Neither words nor vectors of the index can be searched: {events[0].detail}"
        ) from words
    by_words, by_vectors, by_links = ([] if isinstance(one, Exception) else one for one in (words, vectors, links))
    if not by_words:
        by_vectors = [hit for hit in by_vectors if hit[1] >= COSINE_FLOOR]
    fused = reciprocal_rank_fusion(
        [[key for key, _ in ranking] for ranking in (by_words, by_vectors, by_links)], constant=RRF_CONSTANT
    )[: max(k, 0)]
    passages = view.passages([key for key, _ in fused])
    now = time.time()
    hits = tuple(
        Hit(passage=passage, score=score, rank=rank, tier=tier, query=query, retrieved_at=now)
        for rank, (passage, (_, score)) in enumerate(zip(passages, fused, strict=True), start=1)
    )
    return Retrieved(hits=hits, events=events, degraded=bool(events))
