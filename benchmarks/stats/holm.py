"""Several comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for their number (Holm 1979), in the order given, at most 1.

    Rejecting where the adjusted value is at most alpha keeps the chance of any false rejection at most alpha,
    however the tests depend on each other.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    scaled = [min(1.0, (len(order) - rank) * p_values[at]) for rank, at in enumerate(order)]
    adjusted = dict(zip(order, accumulate(scaled, max), strict=True))
    return [adjusted[at] for at in range(len(p_values))]
