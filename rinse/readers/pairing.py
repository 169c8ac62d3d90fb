"""The best two sentences of different passages that speak of the same thing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .links import SHARED_WEIGHT, Links, largest
from .matching import Match
from .question import QuestionView

LINK_PREMIUM = 0.3
"""What a full link between two sentences adds to what they cover."""
COMMON = 24
"""Names in common that are looked at, the rarest ones."""
PAIRS = 300
"""Pairs of passages whose sentences are looked at, the most promising ones; real sets need a handful, and a set
made to be slow costs no more than this."""


def best_pair(view: QuestionView, matches: Sequence[Match], links: Links) -> float:
    """What two sentences cover together plus the premium of the names they share, the best two; at least what one
    sentence covers. In [0, 1 + `LINK_PREMIUM`].

    Two passages bound what their sentences can reach, and the pairs come in the order of their bounds: few are
    looked at, and up to `PAIRS` of them the result is exact.
    """
    best = max((float(view.mean(match.sentences[0])) for match in matches if len(match.sentences)), default=0.0)
    one, other, bounds = _bounds(view, matches, links)
    for place in np.argsort(-bounds, kind="stable")[:PAIRS]:
        if bounds[place] <= best:
            break
        best = max(best, _reached(view, matches[one[place]], matches[other[place]]))
    return best


def _bounds(
    view: QuestionView, matches: Sequence[Match], links: Links
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """The pairs of passages that share names, and the most that their sentences can reach."""
    tokens = np.array([match.tokens for match in matches])
    one, other = np.nonzero(np.triu(links.shared, 1))
    bounds = np.zeros(len(one), dtype=np.float32)
    for place in np.unique(one):  # a row at a time: memory grows with the passages, not with their square
        rows = one == place
        bounds[rows] = view.mean(np.maximum(tokens[place], tokens[other[rows]]))
    slack = np.float32(1e-6)  # two ways to one sum differ in the last bits; a bound must not fall below
    return one, other, bounds + LINK_PREMIUM * links.shared[one, other] + slack


def _reached(view: QuestionView, first: Match, second: Match) -> float:
    common = [name for name in first.subject.names if name in second.subject.names and name not in view.words]
    weights = {name: min(first.subject.names[name], second.subject.names[name]) for name in common}
    rarest = sorted(common, key=lambda name: (-weights[name], name))[:COMMON]
    weight = np.array([weights[name] for name in rarest], dtype=np.float32)
    holds = [
        np.array([[name in held for name in rarest] for held in match.sentence_names], dtype=np.float32)
        for match in (first, second)
    ]
    if not all(one.any() for one in holds):
        return 0.0
    shared = holds[0][:, None, :] * holds[1][None, :, :] * weight  # (sentences, sentences, names)
    link = (largest(shared).sum(axis=-1) / SHARED_WEIGHT).clip(0.0, 1.0)
    together = view.mean(np.maximum(first.sentences[:, None, :], second.sentences[None, :, :]))
    return float(np.where(link > 0, together + LINK_PREMIUM * link, 0.0).max())
