"""What words and vectors found, joined by reciprocal rank fusion."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import TierUnavailableError
from ..fusion import reciprocal_rank_fusion
from ..retriever import Event, Hit, Retrieved
from .view import View

RRF_CONSTANT = 8.0
"""How far down a ranking still counts (docs/decisions/003-fusion.md)."""
COSINE_FLOOR = 0.5
"""Where no passage shares a word with the query, the least cosine that is evidence (same note)."""

Ranking = list[tuple[str, float]]
Half = Callable[[str, int, frozenset[str], View], Ranking]


def outcome(half: Half, query: str, k: int, exclude: frozenset[str], view: View) -> Ranking | Exception:
    """What one half found, or why it failed: the other half may still serve."""
    try:
        return half(query, k, exclude, view)
    except Exception as error:  # noqa: BLE001 - whatever a model or an engine raises, the other half still works
        return error


def join(
    view: View,
    query: str,
    k: int,
    words: Ranking | Exception,
    vectors: Ranking | Exception,
    *,
    tier: str = "local",
) -> Retrieved:
    """Fuse what the halves found, or what was found by the half that did not fail, and fetch the passages.

    Raises:
        TierUnavailableError: both failed.
        IndexCorruptError: a passage is missing in the state that was searched.
    """
    events = tuple(
        Event(kind=kind, detail=str(half) or repr(half), where=tier)
        for kind, half in (("words_failed", words), ("vectors_failed", vectors))
        if isinstance(half, Exception)
    )
    if len(events) == 2:
        raise TierUnavailableError(
            f"Neither words nor vectors of the index can be searched: {events[0].detail}"
        ) from (words if isinstance(words, Exception) else None)
    by_words = [] if isinstance(words, Exception) else words
    by_vectors = [] if isinstance(vectors, Exception) else vectors
    if not by_words:
        by_vectors = [hit for hit in by_vectors if hit[1] >= COSINE_FLOOR]
    fused = reciprocal_rank_fusion(
        [[key for key, _ in ranking] for ranking in (by_words, by_vectors)], constant=RRF_CONSTANT
    )[: max(k, 0)]
    passages = view.passages([key for key, _ in fused])
    now = time.time()
    hits = tuple(
        Hit(passage=passage, score=score, rank=rank, tier=tier, query=query, retrieved_at=now)
        for rank, (passage, (_, score)) in enumerate(zip(passages, fused, strict=True), start=1)
    )
    return Retrieved(hits=hits, events=events, degraded=bool(events))
