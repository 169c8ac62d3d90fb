"""Rivals that look at nothing, at the same mean number of calls: a random stop, and the frontier of fixed numbers.

Both are exact expectations over a board, without simulation. All arrays have the data, or a draw of the bootstrap, in
each row, so that rivals are matched anew in every draw.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .board import Numbers

_HALVINGS = 50
"""Steps of the bisection: the stop rate is exact to 2**-50."""


def stop_shares(rate: Numbers, looks: int) -> Numbers:
    """How likely a search ends at each look that ends with probability `rate` after each, and certainly at the last.

    Shape `(draws, looks)` from `(draws,)`. This is `policies.RandomStop` over all its seeds: a mixture of stopping
    times that depends on nothing in the search.
    """
    going_on = (1 - rate[:, None]) ** np.arange(looks)
    ends = np.broadcast_to(rate[:, None], going_on.shape).copy()
    ends[:, -1] = 1.0
    return np.asarray(going_on * ends, dtype=np.float64)


def matched_rate(calls: Numbers, wanted: Numbers) -> Numbers:
    """The stop rate whose mean number of calls is `wanted`, shape `(draws,)`.

    Args:
        calls: Mean calls if every search ends at this look, shape `(draws, looks)`; never falls along looks.
        wanted: Shape `(draws,)`; outside of what can be reached, the nearest end is taken.
    """
    low, high = np.zeros(len(calls)), np.ones(len(calls))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_many = (stop_shares(middle, calls.shape[1]) * calls).sum(axis=1) > wanted
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return high


def random_at(calls: Numbers, values: Numbers, wanted: Numbers) -> Numbers:
    """What the random stop with `wanted` mean calls is worth, shape `(draws,)`.

    Args:
        calls: See `matched_rate`.
        values: Mean of a figure if every search answers at this look, shape `(draws, looks)`.
        wanted: See `matched_rate`.
    """
    shares = stop_shares(matched_rate(calls, wanted), calls.shape[1])
    return np.asarray((shares * values).sum(axis=1), dtype=np.float64)


def frontier_at(calls: Numbers, values: Numbers, wanted: Numbers) -> Numbers:
    """The best mixture of some policies with `wanted` mean calls at most, shape `(draws,)`.

    That is the upper concave frontier of the points, flat where more calls would only harm. The random stop is a
    mixture of fixed numbers of calls itself, so it never lies above and needs no point of its own.

    Args:
        calls: Mean calls of each policy, shape `(draws, policies)`.
        values: Mean of a figure, the same shape.
        wanted: Shape `(draws,)`; NaN where below the calls of every policy.
    """
    at = wanted[:, None]
    within = calls <= at + 1e-12
    best = np.where(within, values, -np.inf).max(axis=1)
    for one in range(calls.shape[1]):
        left_calls, left = calls[:, one, None], values[:, one, None]
        gap = calls - left_calls
        between = within[:, one, None] & (calls > at) & (gap > 0)
        share = np.divide(at - left_calls, gap, out=np.zeros_like(gap), where=between)
        best = np.maximum(best, np.where(between, left + share * (values - left), -np.inf).max(axis=1))
    return np.where(np.isfinite(best), best, np.nan)


def fixed_ends(looks: int, searches: int) -> list[NDArray[np.intp]]:
    """For each look the array that ends every search there."""
    return [np.full(searches, look, dtype=np.intp) for look in range(looks)]
