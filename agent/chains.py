"""How the passages of a set lead from one to the next, by their words and names alone: what the ranking weighs.

A passage in the middle or at the end of a chain resembles its neighbour, not the question. What tells is that it
is linked with a passage, and that the two together cover the question. No model reads anything here.

Two passages are linked as far as one mentions what the other is about, or as both name the same things, which the
question does not name and few passages do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.fusion import RRF_CONSTANT
from retrieval.words import rarity_weights

from .views import View, folded_words, holds

FEATURES = ("first", "later", "asked", "pair", "near", "mentioned", "beside", "crowd")
"""Names of the features, see `chain_features`."""
SHORTEST_KEY = 6
"""A shorter topic counts as mentioned only where it is found as a name: `it`, `war` and `may` stand everywhere."""
SHARED_NAMES = 3
"""Shared names that count, the rarest ones."""
FULL_LINK = 1.3
"""Sum of squared rarities of shared names that makes a full link: two rare names."""
_UNSEEN = 10
"""A name is taken to be missing from so many passages more: one of two passages says little about rarity."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chains:
    """The links of a set of n passages."""

    mention: Matrix
    """`[i, j]`: 1 if passage i mentions what passage j is about; shape `(n, n)`, 0 on the diagonal."""
    strength: Matrix
    """Symmetric, in [0, 1]: how strongly two passages are linked; shape `(n, n)`, 0 on the diagonal."""
    asked: Matrix
    """1 for a passage that is about something that the question names, shape `(n,)`."""
    covers: Matrix
    """`[i, w]`: whether passage i holds the question's word w, shape `(n, words)`."""
    weights: Matrix
    """Share of each word in the question, rare ones weigh more; shape `(words,)`, sums to 1 or is empty."""


def chains(question: str, views: Sequence[View]) -> Chains:
    """Find the links of a set. Work grows with the square of the passages: about 10 ms for 60 of them."""
    asked_words = folded_words(question)
    shares = rarity_weights(question, [view.stems for view in views])
    mention = _mentions(views)
    return Chains(
        mention=mention,
        strength=np.maximum(np.maximum(mention, mention.T), _shared(views, asked_words)),
        asked=np.array([float(holds(asked_words, view.topic)) for view in views]),
        covers=np.array([[stem in view.stems for stem in shares] for view in views], dtype=np.float64).reshape(
            len(views), len(shares)
        ),
        weights=np.array(list(shares.values()), dtype=np.float64),
    )


def chain_features(found: Chains, rankings: Sequence[Sequence[int]]) -> Matrix:
    """Features of each passage, all in [0, 1], shape `(n, len(FEATURES))`.

    * `first`: its rank in the first list, 1 for the best;
    * `later`: its best rank in any other;
    * `asked`: whether the question names what it is about;
    * `pair`: how much of the question it covers together with a passage, times their link, the best one;
    * `near`: its strongest link with a passage that is `asked`;
    * `mentioned`: how much of the question a passage covers that mentions it, unless it is `asked` itself;
    * `beside`: how much of the question a passage covers, times their link, the best one;
    * `crowd`: its mean link with all passages: what is linked with everything says little.

    Args:
        found: The links of the set.
        rankings: Numbers of passages, best first, one list a call; the first list is the question's own.
    """
    covered = found.covers @ found.weights
    if not len(covered):
        return np.zeros((0, len(FEATURES)))
    together = np.stack([np.maximum(found.covers, row) @ found.weights for row in found.covers])
    return np.stack(
        [
            _ranks(rankings[:1], len(covered)),
            _ranks(rankings[1:], len(covered)),
            found.asked,
            (found.strength * together).max(axis=1),
            (found.strength * found.asked).max(axis=1),
            (found.mention * covered[:, None]).max(axis=0) * (1.0 - found.asked),
            (found.strength * covered).max(axis=1),
            found.strength.mean(axis=1),
        ],
        axis=1,
    )


def _ranks(rankings: Sequence[Sequence[int]], count: int) -> Matrix:
    best = np.zeros(count)
    for ranking in rankings:
        for rank, place in enumerate(ranking, start=1):
            best[place] = max(best[place], (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank))
    return best


def _mentions(views: Sequence[View]) -> Matrix:
    mention = np.array([[_speaks_of(view, other.topic) for other in views] for view in views], dtype=np.float64)
    mention = mention.reshape(len(views), len(views))
    np.fill_diagonal(mention, 0.0)
    return mention


def _speaks_of(view: View, topic: str) -> bool:
    return topic in view.names or (len(topic) >= SHORTEST_KEY and holds(view.folded, topic))


def _shared(views: Sequence[View], asked_words: str) -> Matrix:
    """How strongly the names that two passages share link them, in [0, 1]."""
    holders = Counter(name for view in views for name in view.names)
    names = sorted(name for name, held in holders.items() if held > 1 and not holds(asked_words, name))
    strength = np.zeros((len(views), len(views)))
    if not names:
        return strength
    total = len(views) + _UNSEEN
    rarity = np.array([(math.log(total / holders[name]) / math.log(total)) ** 2 for name in names])
    held = np.array([[name in view.names for name in names] for view in views], dtype=np.float64) * rarity
    for place, row in enumerate(held):
        common = np.sort(held[:, row > 0], axis=1)[:, -SHARED_NAMES:]
        strength[place] = (common.sum(axis=1) / FULL_LINK).clip(0.0, 1.0)
    np.fill_diagonal(strength, 0.0)
    return strength
