"""Links between passages: one mentions what the other is about, or both name the same thing.

A question of several hops is answered by passages that speak of each other: the first names the bridge, the second
is about it. Passages that merely resemble the question rarely do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .subject import Subject

MENTIONED = 0.75
"""Share of a heading's IDF that a text must hold to mention it: a middle name may be missing."""
SHARED_NAMES = 3
"""Shared names that count: a long list in common says no more than a few."""
SHARED_WEIGHT = 14.0
"""IDF of shared names that makes a full link: two rare ones, or three less rare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """How strongly the passages of a set speak of each other."""

    mention: NDArray[np.float32]
    """`[i, j]`: share of the IDF of j's heading that i's text holds, in [0, 1]; 0 where j has no heading and on
    the diagonal. Shape `(n, n)`."""
    strength: NDArray[np.float32]
    """Symmetric, in [0, 1]: one mentions the other, or names shared that the question does not hold. `(n, n)`."""
    shared: NDArray[np.float32]
    """The part of `strength` that comes of names, in [0, 1]; 0 where the passages share none. `(n, n)`."""
    asked: NDArray[np.float32]
    """Share of the IDF of each passage's heading that the question holds, in [0, 1]; `(n,)`."""
    headed: NDArray[np.bool_]
    """Which passages have a heading, `(n,)`."""


def link(
    subjects: Sequence[Subject], *, question: frozenset[int], words: frozenset[str], idf: NDArray[np.float32]
) -> Links:
    """The links of a set.

    Args:
        subjects: What each passage is about.
        question: The question's vocabulary ids.
        words: Its words; a name that it holds itself links nothing.
        idf: The profile's.
    """
    headings = [_shares(subject.heading, idf) for subject in subjects]
    known = sorted({key for shares in headings for key in shares})
    weights = np.array([[shares.get(key, 0.0) for key in known] for shares in headings], dtype=np.float32)
    weights = weights.reshape(len(subjects), len(known))
    holds = np.array([[key in subject.body for key in known] for subject in subjects], dtype=np.float32)
    mention = (holds.reshape(len(subjects), len(known)) @ weights.T).clip(0.0, 1.0)
    np.fill_diagonal(mention, 0.0)
    certain = np.where(mention > MENTIONED, mention, 0.0)
    shared = _shared(subjects, words)
    strength = np.maximum(np.maximum(certain, certain.T), shared)
    return Links(
        mention=mention.astype(np.float32),
        strength=strength.astype(np.float32),
        shared=shared,
        asked=(weights @ np.array([key in question for key in known], dtype=np.float32)).clip(0.0, 1.0),
        headed=np.array([bool(shares) for shares in headings], dtype=np.bool_),
    )


def _shares(heading: Sequence[int], idf: NDArray[np.float32]) -> dict[int, float]:
    """Each id's share of the heading's IDF; none for a heading that weighs nothing."""
    shares: dict[int, float] = {}
    for key in heading:
        shares[key] = shares.get(key, 0.0) + (float(idf[key]) if key < len(idf) else 0.0)
    total = sum(shares.values())
    return {key: weight / total for key, weight in shares.items()} if total > 0 else {}


def _shared(subjects: Sequence[Subject], words: frozenset[str]) -> NDArray[np.float32]:
    """Strength of the names that two passages share, in [0, 1], shape `(n, n)`, 0 on the diagonal."""
    holders = Counter(name for subject in subjects for name in subject.names if name not in words)
    columns = {name: place for place, name in enumerate(name for name, held in holders.items() if held > 1)}
    weights = np.zeros((len(subjects), len(columns)), dtype=np.float32)
    for row, subject in zip(weights, subjects, strict=True):
        for name, weight in subject.names.items():
            if name in columns:
                row[columns[name]] = weight
    strength = np.zeros((len(subjects), len(subjects)), dtype=np.float32)
    # one row at a time and only its own names: a set stuffed with names costs milliseconds, not minutes
    for place in range(len(subjects) - 1):
        own = np.flatnonzero(weights[place])
        common = np.minimum(weights[place, own], weights[place + 1 :, own])
        strength[place, place + 1 :] = (largest(common).sum(axis=1) / SHARED_WEIGHT).clip(0.0, 1.0)
    return np.maximum(strength, strength.T)


def largest(common: NDArray[np.float32]) -> NDArray[np.float32]:
    """The `SHARED_NAMES` largest along the last axis, rising: their sum does not depend on what else is there."""
    if common.shape[-1] > SHARED_NAMES:
        common = np.partition(common, -SHARED_NAMES, axis=-1)[..., -SHARED_NAMES:]
    return np.sort(common, axis=-1)
