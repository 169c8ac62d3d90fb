"""Rivals that look at nothing, at the same mean number of calls: a random stop, the frontier of fixed numbers.

Both are exact expectations over a board, without simulation. All arrays have the data, or a draw of the bootstrap,
in each row, so that rivals are matched anew in every draw.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .board import Numbers

_HALVINGS = 50
"""Steps of the bisection: the stop rate is exact to 2**-50."""


def stop_shares(rate: float, looks: int) -> Numbers:
    """How likely a search that ends with probability `rate` after each look ends at each; at the last it must.

    Shape `(looks,)`. This is `policies.RandomStop` over all its seeds: a mixture of stopping times that depends on
    nothing in the search.
    """
    ends = np.full(looks, rate)
    ends[-1] = 1.0
    return np.asarray((1 - rate) ** np.arange(looks) * ends, dtype=np.float64)


def matched_rate(calls: Numbers, wanted: Numbers) -> Numbers:
    """The stop rate whose mean number of calls is `wanted`, shape `(draws,)`.

    Args:
        calls: Mean calls if every search ends at this look, shape `(draws, looks)`; never falls along looks.
        wanted: Shape `(draws,)`; outside of what can be reached, the nearest end is taken.
    """
    low, high = np.zeros(len(calls)), np.ones(len(calls))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        too_many = random_mean(calls, middle) > wanted
        low, high = np.where(too_many, middle, low), np.where(too_many, high, middle)
    return high


def random_mean(values: Numbers, rate: Numbers) -> Numbers:
    """The mean of a figure under the random stop, shape `(draws,)`.

    Args:
        values: Mean of the figure if every search answers at this look, shape `(draws, looks)`.
        rate: Shape `(draws,)`.
    """
    # the sum of steps, each times the chance to get beyond the look before it, by Horner's rule
    mean = np.zeros(len(values))
    for look in range(values.shape[1] - 1, 0, -1):
        mean = (mean + values[:, look] - values[:, look - 1]) * (1 - rate)
    return np.asarray(values[:, 0] + mean, dtype=np.float64)


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
