"""How much a probed answer adds to a score: fits `ProbeWeights`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..errors import CalibrationDataError
from ..probed import ProbeWeights
from .cases import Case, by_group

LEVELS = tuple(float(level) for level in np.arange(-2.0, 8.25, 0.25))
"""Thresholds on the scale of `ProbeWeights.evidence` that calibrations try: log-odds have a scale of their own, so
no search needs to be looked at to choose them."""


def fit_probe_weights(cases: Iterable[Case]) -> ProbeWeights:
    """Logistic regression of "complete" on score, stability and margin, with an offset for each turn.

    Each group counts once; looks without a valid score or without a probe are left out. A ridge penalty on the
    standardised columns; a negative weight of score or stability becomes 0.

    Raises:
        CalibrationDataError: no look was probed, or all of them have one label.
    """
    from sklearn.linear_model import LogisticRegression

    rows: list[tuple[float, ...]] = []
    turns: list[int] = []
    complete: list[bool] = []
    weights: list[float] = []
    for members in by_group(cases).values():
        for case in members:
            for state, label in zip(case.recorded.states, case.complete, strict=True):
                score, stable = state.score, state.observed("probe.stable")
                if score is None or stable is None:
                    continue
                margin = state.observed("probe.margin")
                rows.append((score, float(np.log(max(stable, 1.0))), margin or 0.0, float(margin is None)))
                turns.append(max(state.turn, 1))
                complete.append(label)
                weights.append(1 / (len(members) * len(case.recorded.states)))
    if len(set(complete)) < 2:
        raise CalibrationDataError(
            "No look with a probed answer, or all with one label: record searches with support and twins without, "
            "with python -m benchmarks record."
        )
    table = np.array(rows)
    scale = table.std(axis=0)
    scale[scale == 0] = 1.0
    offsets = np.array(turns)[:, None] == np.arange(1, max(turns) + 1)
    model = LogisticRegression(C=1.0, max_iter=1_000).fit(
        np.column_stack([table / scale, offsets]), complete, sample_weight=np.array(weights) * len(set(turns))
    )
    score, stable, margin, unmarked = (float(value) for value in model.coef_[0][:4] / scale)
    return ProbeWeights(score=max(score, 0.0), stable=max(stable, 0.0), margin=margin, unmarked=unmarked)
