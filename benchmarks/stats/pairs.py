"""Pairs of a sufficient and an insufficient side: which one did a scorer prefer?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StatisticsError


def compare(
    good: ArrayLike,
    bad: ArrayLike,
    *,
    systems: Sequence[str] | None = None,
    pairs: Sequence[object] | None = None,
) -> NDArray[np.float64]:
    """1 where the sufficient side scores higher, 0.5 where both score the same, else 0.

    Args:
        good: Scores of the sufficient sides, shape `(pairs,)` or `(pairs, systems)`.
        bad: Scores of the insufficient sides, the same shape.
        systems: Names of the columns, for messages.
        pairs: Names of the rows, for messages.

    Raises:
        StatisticsError: the shapes differ, or a score is NaN or infinite; names the system and the pair.

    >>> compare([0.9, 0.2, 0.4], [0.1, 0.2, 0.6]).tolist()
    [1.0, 0.5, 0.0]
    """
    left, right = np.asarray(good, dtype=np.float64), np.asarray(bad, dtype=np.float64)
    if left.shape != right.shape:
        raise StatisticsError(
            f"The sufficient sides have scores of shape {left.shape}, the insufficient ones of {right.shape}: "
            "give one score of each side for every pair and system."
        )
    for side, scores in (("sufficient", left), ("insufficient", right)):
        wrong = np.argwhere(~np.isfinite(scores))
        if len(wrong):
            raise StatisticsError(_message(side, scores, wrong[0], systems, pairs))
    return np.where(left == right, 0.5, left > right).astype(np.float64)


def _message(
    side: str,
    scores: NDArray[np.float64],
    at: NDArray[np.intp],
    systems: Sequence[str] | None,
    pairs: Sequence[object] | None,
) -> str:
    row, column = int(at[0]), int(at[1]) if len(at) > 1 else 0
    return (
        f"System {systems[column] if systems else column} gives the {side} side of pair "
        f"{pairs[row] if pairs else row} the score {scores[tuple(at)]}; a finite number is needed. "
        "List the record under failures and leave its pairs out."
    )


def pairwise_accuracy(good: ArrayLike, bad: ArrayLike) -> float | None:
    """Pairwise accuracy (RINSE, sec. 3.2): share of pairs whose sufficient side scores higher, ties 0.5.

    Args:
        good: Scores of the sufficient sides, shape `(pairs,)`.
        bad: Scores of the insufficient sides, the same shape.

    Returns:
        In [0, 1]; None without a pair.

    Raises:
        StatisticsError: see `compare`.

    >>> pairwise_accuracy([0.9, 0.2, 0.4], [0.1, 0.2, 0.6])
    0.5
    """
    wins = compare(good, bad)
    return float(wins.sum() / len(wins)) if len(wins) else None


def tie_rate(good: ArrayLike, bad: ArrayLike) -> float | None:
    """Share of pairs whose sides score the same, in [0, 1]. Arguments and errors as of `pairwise_accuracy`."""
    wins = compare(good, bad)
    return float((wins == 0.5).mean()) if len(wins) else None
