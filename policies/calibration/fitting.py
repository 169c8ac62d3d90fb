"""Probabilities from scores: fits a `Calibration`, and the hazards that a look-ahead needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..calibrated import Calibration
from .cases import Case, Look, by_group, looks


def fit_platt(cases: Iterable[Case]) -> Calibration:
    """Logistic regression of "complete" on the score, with an offset for each turn (Platt 1999).

    Each group counts once. A ridge penalty of 1 on the standardised score and on the offsets keeps both finite
    where the scores separate perfectly, and draws turns with few searches towards the others. A slope below 0
    becomes 0, which is where the constrained optimum lies, because the loss is convex.

    Raises:
        CalibrationDataError: no valid score.
    """
    found = looks(cases)
    if len({look.complete for look in found}) < 2:
        return _constant(found)
    scores = np.array([look.score for look in found])
    centre, scale = float(scores.mean()), float(scores.std()) or 1.0
    slope, intercept, offsets = _logistic(found, (scores - centre) / scale)
    if slope < 0:
        slope, intercept, offsets = _logistic(found, np.zeros_like(scores))
    return Calibration(
        kind="platt",
        slope=slope / scale,
        intercept=intercept - slope * centre / scale,
        offsets=offsets,
    )


def fit_isotonic(cases: Iterable[Case]) -> Calibration:
    """The best never-falling step function of the score, joined by lines (Zadrozny and Elkan 2002).

    Each group counts once. Looks at no turn.

    Raises:
        CalibrationDataError: no valid score.
    """
    from sklearn.isotonic import IsotonicRegression

    found = looks(cases)
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(
        [look.score for look in found],
        [float(look.complete) for look in found],
        sample_weight=[look.weight for look in found],
    )
    return Calibration(
        kind="isotonic",
        scores=tuple(map(float, fitted.X_thresholds_)),
        probabilities=tuple(map(float, np.clip(fitted.y_thresholds_, 0.0, 1.0))),
    )


def hazards(cases: Iterable[Case]) -> tuple[float, ...]:
    """For each turn the probability that a search that is incomplete becomes complete with the next turn.

    Entry t goes for a search after turn t; entry 0 for one that has not begun. Counted over searches that had a
    next turn, each group once; 0 where there was none. What evidence was given at turn 0 counts for entry 0.
    """
    gained: dict[int, float] = {}
    at_risk: dict[int, float] = {}
    for members in by_group(cases).values():
        for case in members:
            before = False
            for state, complete in zip(case.recorded.states, case.complete, strict=True):
                if not before:
                    turn = max(state.turn - 1, 0)
                    at_risk[turn] = at_risk.get(turn, 0.0) + 1 / len(members)
                    gained[turn] = gained.get(turn, 0.0) + complete / len(members)
                before = before or complete
    return tuple(
        _share(gained.get(turn, 0.0), at_risk.get(turn, 0.0)) for turn in range(max(at_risk, default=-1) + 1)
    )


def _logistic(found: Sequence[Look], scores: NDArray[np.float64]) -> tuple[float, float, tuple[float, ...]]:
    """Slope, intercept and offsets of turns 1, 2 and so on."""
    from sklearn.linear_model import LogisticRegression

    turns = np.array([max(look.turn, 1) for look in found])
    last = int(turns.max())
    table = np.column_stack([scores, turns[:, None] == np.arange(1, last + 1)])
    model = LogisticRegression(C=1.0, max_iter=1_000).fit(
        table, [look.complete for look in found], sample_weight=[look.weight for look in found]
    )
    slope, *offsets = (float(value) for value in model.coef_[0])
    return slope, float(model.intercept_[0]), tuple(offsets)


def _constant(found: Sequence[Look]) -> Calibration:
    """All looks have one label: the rule of succession in the place of certainty."""
    weight = sum(look.weight for look in found)
    share = (sum(look.weight * look.complete for look in found) + 1) / (weight + 2)
    return Calibration(kind="platt", slope=0.0, intercept=float(np.log(share / (1 - share))))


def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole else 0.0
