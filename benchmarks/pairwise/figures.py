"""Figures of a row from draws and times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..output import Row
from ..stats import Bootstrap, Interval


def interval_row(name: str, found: Interval) -> Row:
    """`NAME`, `NAME_lo`, `NAME_hi`."""
    return {name: found.estimate, f"{name}_lo": found.lo, f"{name}_hi": found.hi}


def difference_row(reference: str, paired: Bootstrap) -> Row:
    """Of column 0 to column 1, which is the reference."""
    return {"reference": reference} | interval_row("difference", paired.difference(0, 1))


def times(milliseconds: Sequence[float]) -> Row:
    """Median and 95th percentile of a side's time, and the sides that one process scores in a second.

    None where nothing was timed.
    """
    if not milliseconds:
        return {"ms_p50": None, "ms_p95": None, "records_per_second": None}
    mean = float(np.mean(milliseconds))
    return {
        "ms_p50": float(np.quantile(milliseconds, 0.5)),
        "ms_p95": float(np.quantile(milliseconds, 0.95)),
        "records_per_second": 1000 / mean if mean else None,
    }
