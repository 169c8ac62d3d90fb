"""How the scores of both kinds of sides are spread: counts in a few bins, for a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

import numpy as np

from .columns import Block

BINS = 20
_TAIL = 0.005
"""Share of scores on each side that lies in the first or last bin, however far out."""


class Histogram(TypedDict):
    """Of one system on one headline test."""

    kind: str
    system: str
    dataset: str
    construction: str
    subset: str
    edges: list[float]
    """One more than there are bins; the same for all tests of a system. Scores beyond count in the end bins."""
    sufficient: list[int]
    insufficient: list[int]


def histograms(blocks: Sequence[Block], systems: Iterable[str], *, subset: str) -> list[Histogram]:
    """The scores of these systems on the sides of these blocks. A system without a score has none."""
    found: list[Histogram] = []
    for system in systems:
        sides = [(block, *_scores(block, system)) for block in blocks if system in block.columns]
        values = np.array([score for _, good, bad in sides for score in (*good, *bad)])
        if not len(values):
            continue
        edges = _edges(values)
        found += [
            {
                "kind": "histogram",
                "system": system,
                "dataset": block.dataset,
                "construction": block.construction,
                "subset": subset,
                "edges": edges.tolist(),
                "sufficient": _counts(good, edges),
                "insufficient": _counts(bad, edges),
            }
            for block, good, bad in sides
        ]
    return found


def _scores(block: Block, system: str) -> tuple[list[float], list[float]]:
    """Of the sufficient and of the insufficient sides."""
    scores = block.columns[system].scores
    sides = [((one.key, side.id), side.sufficient) for one in block.contrasts for side in one.sides]
    good, bad = (
        [scores[key] for key, label in sides if label is wanted and key in scores] for wanted in (True, False)
    )
    return good, bad


def _edges(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    low, high = np.quantile(values, [_TAIL, 1 - _TAIL])
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, BINS + 1)


def _counts(values: Sequence[float], edges: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    inside = np.clip(np.array(values, dtype=np.float64), edges[0], edges[-1])
    counts: list[int] = np.histogram(inside, bins=edges)[0].tolist()
    return counts
