"""By how much does a system get worse when the same passages are added to both sides of its pairs?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ..output import Row
from ..stats import Bootstrap, macro
from .figures import interval_row
from .rows import Measured

MEAN = "mean"
"""Stands for the dataset in rows over several of them."""


def with_falls(measured: Measured) -> list[Row]:
    """The rows, those with additions with `fall`; behind them a row for each mean over datasets.

    `fall` is the accuracy without additions less that with them, so above 0 is worse; its interval is paired, on
    the same draws of the same clusters. The mean over datasets is unweighted, each construction for itself.
    """
    falls: dict[tuple[str, int, str], list[Bootstrap]] = defaultdict(list)
    samples: dict[tuple[str, int, str], Row] = {}
    sizes = {_place(row): _size(row) for row in measured.rows if row["subset"] == "all" and not row["added"]}
    rows: list[Row] = []
    for row in measured.rows:
        comparable = row["subset"] == "all" and row["added"] and sizes.get(_place(row)) == _size(row)
        both = _both(row, measured) if comparable else None
        if both is None:
            rows.append(row)
            continue
        rows.append(row | _fall(both))
        kind = (str(row["construction"]), int(row["added"] or 0), str(row["system"]))
        falls[kind].append(both)
        samples.setdefault(kind, row)
    means = [_mean(samples[kind], found) for kind, found in falls.items() if len(found) > 1]
    return [*rows, *means]


def _place(row: Row) -> tuple[str, str, str]:
    return str(row["dataset"]), str(row["construction"]), str(row["system"])


def _size(row: Row) -> tuple[object, object]:
    """Equal where a system has scores for the same pairs, so that draws can be compared one by one."""
    return row["n"], row["clusters"]


def _both(row: Row, measured: Measured) -> Bootstrap | None:
    """One system without (column 0) and with (column 1) the row's additions."""
    dataset, construction, system = (str(row[name]) for name in ("dataset", "construction", "system"))
    without = measured.whole[dataset, construction, 0][system].own
    return beside(without, measured.whole[dataset, construction, int(row["added"] or 0)][system].own)


def beside(one: Bootstrap, other: Bootstrap) -> Bootstrap | None:
    """The first columns of two bootstraps over the same clusters as columns of one; None if one is undefined."""
    if one.estimate is None or other.estimate is None:
        return None
    draws = None
    if one.draws is not None and other.draws is not None:
        draws = np.stack([one.draws[:, 0], other.draws[:, 0]], axis=1)
    return Bootstrap(estimate=np.array([one.estimate[0], other.estimate[0]]), draws=draws)


def _fall(both: Bootstrap) -> Row:
    return interval_row("fall", both.difference(0, 1))


def _mean(row: Row, falls: Sequence[Bootstrap]) -> Row:
    both = macro(falls)
    mean: Row = {"dataset": MEAN, "headline": False, "n": len(falls)}
    mean |= {name: row[name] for name in ("construction", "subset", "added", "split", "held_out", "system")}
    return mean | interval_row("pairwise_accuracy", both.interval(1)) | _fall(both)
