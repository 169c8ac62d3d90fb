"""Overlapping windows of a question's tokens (RINSE, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def windows(tokens: int, *, size: int, stride: int) -> tuple[tuple[int, int], ...]:
    """Begin and end of each window over `tokens` tokens, in order; together they hold every token.

    A question shorter than a window is one window; the last window is moved back so that it ends with the
    question; no tokens give no windows.

    Raises:
        ValueError: not `1 <= stride <= size`.

    >>> windows(7, size=4, stride=2)
    ((0, 4), (2, 6), (3, 7))
    >>> windows(3, size=4, stride=2)
    ((0, 3),)
    """
    if not 1 <= stride <= size:
        raise ValueError(f"A window of {size} tokens needs a stride between 1 and {size}, it is {stride}.")
    if tokens <= size:
        return ((0, tokens),) if tokens > 0 else ()
    begins = [*range(0, tokens - size, stride), tokens - size]
    return tuple((begin, begin + size) for begin in begins)


def membership(spans: Sequence[tuple[int, int]], tokens: int) -> NDArray[np.float32]:
    """Which token lies in which window: ones and zeros, shape `(windows, tokens)`."""
    inside = np.zeros((len(spans), tokens), dtype=np.float32)
    for row, (begin, end) in enumerate(spans):
        inside[row, begin:end] = 1.0
    return inside


def weighted_means(inside: NDArray[np.float32], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """A matrix that takes each window's weighted mean of values of tokens, shape `(windows, tokens)`.

    Each row sums to 1. A window whose tokens all weigh nothing takes the plain mean.
    """
    rows = inside * weights
    idle = rows.sum(axis=1) <= 0
    rows[idle] = inside[idle]
    return np.asarray(rows / rows.sum(axis=1, keepdims=True), dtype=np.float32)
