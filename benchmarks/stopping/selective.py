"""How well the score at the stop tells complete from incomplete evidence: areas and selective risk, with weights.

All functions take scores and labels of shape `(records,)` and weights of shape `(draws, records)`, how often each
record counts, and give `(draws,)` or `(draws, points)`; NaN where nothing defines the figure. Equal scores are one
step: what lies inside it is the mean over all orders of its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .board import Flags, Numbers

COVERAGES = (0.5, 0.7, 0.9)
"""At which the selective risk is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Records from the highest score down, equal scores together. Shapes `(draws, steps)`."""

    weight: Numbers
    """Records of each step."""
    bad: Numbers
    """Incomplete ones among them."""


def steps(scores: Numbers, complete: Flags, weights: Numbers) -> Steps:
    """Sort and join. NaN, nothing valid to score, is below every score."""
    ranked = np.where(np.isnan(scores), -np.inf, scores)
    levels, place = np.unique(-ranked, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(levels)))
    weight = weights[:, order]
    bad = weight * ~complete[order]
    if len(levels) < len(order):
        weight, bad = (np.add.reduceat(table, starts, axis=1) for table in (weight, bad))
    return Steps(weight=weight, bad=bad)


def weighted_auroc(found: Steps) -> Numbers:
    """Area under the ROC curve over all records together (Mann-Whitney, ties 0.5), in [0, 1]."""
    good = found.weight - found.bad
    below = found.bad.sum(axis=1, keepdims=True) - np.cumsum(found.bad, axis=1)
    wins = (good * (below + found.bad / 2)).sum(axis=1)
    return _divided(wins, good.sum(axis=1) * found.bad.sum(axis=1))


def aurc(found: Steps) -> Numbers:
    """Area under the risk-coverage curve (Geifman and El-Yaniv 2017, sec. 3), in [0, 1]; low is good.

    Risk at coverage c is the share of incomplete evidence among the share c with the highest scores. The area is
    exact: inside a step with weight w and b bad records, after W records with B bad ones, the risk at the x-th
    record is (B + b (x - W) / w) / x, whose integral is b + (B - b W / w) log(1 + w / W).
    """
    after, bad_after = np.cumsum(found.weight, axis=1), np.cumsum(found.bad, axis=1)
    before, bad_before = after - found.weight, bad_after - found.bad
    share = _divided(found.bad, found.weight, empty=0.0)
    grown = np.log1p(_divided(found.weight, before, empty=0.0))
    area = found.bad + np.where(before > 0, (bad_before - share * before) * grown, 0.0)
    return _divided(area.sum(axis=1), after[:, -1])


def risk_at(found: Steps, coverages: Sequence[float]) -> Numbers:
    """Risk at each coverage in (0, 1], shape `(draws, coverages)`."""
    after, bad_after = np.cumsum(found.weight, axis=1), np.cumsum(found.bad, axis=1)
    columns = []
    for coverage in coverages:
        kept = coverage * after[:, -1:]
        place = np.minimum((after < kept * (1 - 1e-12)).sum(axis=1, keepdims=True), after.shape[1] - 1)
        weight, bad = (np.take_along_axis(table, place, axis=1) for table in (found.weight, found.bad))
        rest = kept - (np.take_along_axis(after, place, axis=1) - weight)
        held = np.take_along_axis(bad_after, place, axis=1) - bad + _divided(bad * rest, weight, empty=0.0)
        columns.append(_divided(held, kept)[:, 0])
    return np.asarray(np.stack(columns, axis=1), dtype=np.float64)


def curve(scores: Numbers, complete: Flags) -> list[dict[str, float]]:
    """The risk-coverage curve of the data: its points at the ends of the steps, from the highest score down."""
    if not len(scores):
        return []
    found = steps(scores, complete, np.ones((1, len(scores))))
    after, bad = np.cumsum(found.weight[0]), np.cumsum(found.bad[0])
    return [
        {"coverage": float(kept / after[-1]), "risk": float(wrong / kept)}
        for kept, wrong in zip(after, bad, strict=True)
    ]


def selective(scores: Numbers, complete: Flags, weights: Numbers) -> Numbers:
    """AUROC, AURC, then the risk at `COVERAGES`, shape `(draws, 2 + coverages)`."""
    if not len(scores):
        return np.full((len(weights), 2 + len(COVERAGES)), np.nan)
    found = steps(scores, complete, weights)
    columns = [weighted_auroc(found), aurc(found), risk_at(found, COVERAGES)]
    return np.asarray(np.column_stack(columns), dtype=np.float64)


SELECTIVE = ("auroc", "aurc", *(f"risk@{coverage}" for coverage in COVERAGES))
"""Names of the columns of `selective`."""


def _divided(part: NDArray[np.float64], whole: NDArray[np.float64], empty: float = np.nan) -> Numbers:
    full = np.full(np.broadcast_shapes(part.shape, whole.shape), empty)
    return np.asarray(np.divide(part, whole, out=full, where=whole > 0), dtype=np.float64)
