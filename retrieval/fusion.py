"""Joining ranked lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RRF_CONSTANT = 8.0
"""How far down a ranking of passages still counts (docs/decisions/003-fusion.md)."""


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[str]], *, constant: float = 60.0
) -> list[tuple[str, float]]:
    """Reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009): score(d) = sum of 1 / (constant + rank).

    Args:
        rankings: Lists of ids, best first; an id that stands twice in one list counts at its best rank.
        constant: Damps the weight of the first ranks; 60 in the paper.

    Returns:
        `(id, score)`, best first; ties keep the order of first appearance, so the result is deterministic.

    >>> reciprocal_rank_fusion([["a", "b"], ["b", "c"]])[0][0]
    'b'
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + rank)
    return sorted(scores.items(), key=lambda item: -item[1])
