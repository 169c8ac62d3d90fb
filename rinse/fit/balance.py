"""How much each pair counts: a group counts once however many pairs it holds, and every family the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .errors import FitError


def pair_weights(groups: Sequence[str], families: Sequence[str]) -> NDArray[np.float64]:
    """One weight a pair; they sum to 1.

    The families share the weight equally, a family's groups share its part equally, a group's pairs share its.

    Args:
        groups: The group of each pair; one name in two families is two groups.
        families: The family of each pair.

    Raises:
        FitError: there are none, or the lengths differ.

    >>> pair_weights(["a", "a", "b", "c"], ["f", "f", "f", "g"]).tolist()
    [0.125, 0.125, 0.25, 0.5]
    """
    if not len(groups) == len(families) > 0:
        raise FitError(f"One group and one family a pair, at least one: got {len(groups)} and {len(families)}.")
    names, family = np.unique(np.asarray(families), return_inverse=True)
    keys = np.asarray([f"{mine}\n{group}" for mine, group in zip(family, groups, strict=True)])
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    pairs_of_group = np.bincount(group)
    groups_of_family = np.bincount(family[first])
    return np.asarray(1.0 / (pairs_of_group[group] * groups_of_family[family] * len(names)), dtype=np.float64)


def check_sides(sufficient: NDArray[np.floating], insufficient: NDArray[np.floating]) -> None:
    """Make sure that both sides are finite and of one shape `(pairs, dims)`.

    Raises:
        FitError: they are not.
    """
    if sufficient.ndim != 2 or sufficient.shape != insufficient.shape:
        raise FitError(
            f"Both sides need one shape (pairs, dims), they have {sufficient.shape} and {insufficient.shape}."
        )
    if not (np.isfinite(sufficient).all() and np.isfinite(insufficient).all()):
        raise FitError("A side holds NaN or infinity: leave out the pairs for which a reader gave nothing.")
