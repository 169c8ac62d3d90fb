"""Areas under the ROC curve: over all records together, and inside each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StatisticsError


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAuroc:
    """The area inside groups; groups with one label only have none and do not count."""

    weighted: float | None
    """Weighted by each group's number of pairs: the pairwise accuracy. None if no group has both labels."""
    mean: float | None
    """Unweighted mean over groups; None as above."""
    groups: int
    """Groups with both labels."""


def auroc(scores: ArrayLike, labels: ArrayLike) -> float | None:
    """Area under the ROC curve over all records together (Mann-Whitney, ties 0.5), in [0, 1].

    Args:
        scores: Shape `(records,)`.
        labels: Shape `(records,)`, true = sufficient.

    Returns:
        None unless both labels occur.

    Raises:
        StatisticsError: the shapes differ, or a score is NaN or infinite.

    >>> auroc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    values, truth = checked(scores, labels)
    return group_auroc(values, truth, [""] * len(values)).mean


def group_auroc(scores: ArrayLike, labels: ArrayLike, groups: Sequence[str]) -> GroupAuroc:
    """Area under the ROC curve inside each group, in O(n log n) for all groups together.

    Args:
        scores: Shape `(records,)`.
        labels: Shape `(records,)`, true = sufficient.
        groups: The group of each record.

    Raises:
        StatisticsError: the shapes differ, or a score is NaN or infinite.
    """
    values, truth = checked(scores, labels)
    if len(groups) != len(values):
        raise StatisticsError(f"{len(values)} scores and {len(groups)} groups: give the group of each record.")
    if not len(values):
        return GroupAuroc(weighted=None, mean=None, groups=0)
    names, group = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    wins, pairs = _wins(values, truth, group, len(names))
    mixed = pairs > 0
    if not mixed.any():
        return GroupAuroc(weighted=None, mean=None, groups=0)
    return GroupAuroc(
        weighted=float(wins.sum() / pairs.sum()),
        mean=float((wins[mixed] / pairs[mixed]).mean()),
        groups=int(mixed.sum()),
    )


def _wins(
    values: NDArray[np.float64], truth: NDArray[np.bool_], group: NDArray[np.intp], groups: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Pairs won and pairs of each group, both of shape `(groups,)`; exact, for wins are halves."""
    # A whole number that orders records by group, then by score: one sorted array serves all groups.
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
    base = group.astype(np.int64) * len(values)
    negatives = np.sort((base + ranks)[~truth])
    beaten = np.searchsorted(negatives, (base + ranks)[truth], side="left")
    beaten_or_tied = np.searchsorted(negatives, (base + ranks)[truth], side="right")
    before = np.searchsorted(negatives, base[truth], side="left")
    halves = beaten + beaten_or_tied - 2 * before
    wins = np.bincount(group[truth], weights=halves / 2, minlength=groups).astype(np.float64)
    good, bad = (np.bincount(group[side], minlength=groups).astype(np.int64) for side in (truth, ~truth))
    return wins, good * bad


def checked(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Scores and labels as arrays of one shape `(records,)`.

    Raises:
        StatisticsError: the shapes differ, or a score is NaN or infinite.
    """
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=np.bool_)
    if values.ndim != 1 or values.shape != truth.shape:
        raise StatisticsError(
            f"Scores of shape {values.shape} and labels of {truth.shape}: give one of each for every record."
        )
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise StatisticsError(
            f"Record {wrong[0]} has the score {values[wrong[0]]}; a finite number is needed. "
            "List it under failures and leave it out."
        )
    return values, truth
