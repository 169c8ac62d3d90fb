"""How much each pair counts: no family, construction or question decides by the number of its pairs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import FitError

PairKey: TypeAlias = tuple[str, str, str]
"""What a pair belongs to: family, construction, group; one name in two families is two."""


def pair_weights(keys: Sequence[PairKey]) -> NDArray[np.float64]:
    """One weight a pair; they sum to 1.

    The families share the weight equally, a family's constructions share its part equally, a construction's groups
    share its, a group's pairs share theirs.

    Raises:
        FitError: there are no pairs.

    >>> pair_weights([("f", "", "a"), ("f", "", "a"), ("f", "", "b"), ("g", "", "a")]).tolist()
    [0.125, 0.125, 0.25, 0.5]
    """
    if not keys:
        raise FitError("There is no pair, so there is nothing to weigh. Add pairs.")
    children: dict[tuple[str, ...], set[str]] = {}
    for key in keys:
        for depth, name in enumerate(key):
            children.setdefault(key[:depth], set()).add(name)
    pairs = Counter(keys)
    sharers = {
        key: pairs[key] * math.prod(len(children[key[:depth]]) for depth in range(len(key))) for key in pairs
    }
    return np.array([1.0 / sharers[key] for key in keys], dtype=np.float64)


def check_sides(
    sufficient: NDArray[np.floating], insufficient: NDArray[np.floating], weights: NDArray[np.float64]
) -> None:
    """Make sure that both sides are finite, of one shape `(pairs, dims)`, and that each pair has a weight.

    Raises:
        FitError: they are not.
    """
    if sufficient.ndim != 2 or sufficient.shape != insufficient.shape:
        raise FitError(
            f"Both sides need one shape (pairs, dims), they have {sufficient.shape} and {insufficient.shape}."
        )
    if weights.shape != sufficient.shape[:1]:
        raise FitError(f"{len(sufficient)} pairs need as many weights, there are {weights.shape}.")
    if not (np.isfinite(sufficient).all() and np.isfinite(insufficient).all()):
        raise FitError("A side holds NaN or infinity: leave out the pairs for which a reader gave nothing.")
