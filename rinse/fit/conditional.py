"""The head of the content reader: conditional-logistic regression on pairs (Breslow et al. 1978)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .balance import check_sides, pair_weights
from .errors import FitError

PENALTY = 1.0
"""Strength of the L2 penalty on the weights of standardised features, against one group."""


def fit_conditional_head(
    sufficient: NDArray[np.floating],
    insufficient: NDArray[np.floating],
    *,
    groups: Sequence[str],
    families: Sequence[str],
    penalty: float = PENALTY,
) -> NDArray[np.float64]:
    """Weights w that make sigmoid((x+ - x-) @ w) likely over all pairs (RINSE, section 4).

    There is no intercept: what both sides of a group share cancels, which is what conditioning on the group means.
    Minimises `groups * sum_i weight_i log(1 + exp(-d_i @ v)) + penalty / 2 * |v|^2` over features divided by their
    deviation over all sides, and returns v divided by the deviations, ready for raw features.

    Args:
        sufficient: Features of the sufficient side of each pair, shape `(pairs, features)`.
        insufficient: Of the insufficient side, the same shape.
        groups: See `pair_weights`.
        families: See `pair_weights`.
        penalty: At least 0; above it there is one minimum, also where a feature separates all pairs.

    Returns:
        Shape `(features,)`; 0 for a feature that never varies.

    Raises:
        FitError: shapes or lengths do not match, a value is not finite, the penalty is negative, or the optimiser
            finds no minimum.
    """
    from scipy.optimize import minimize

    check_sides(sufficient, insufficient)
    weights = pair_weights(groups, families)
    if len(weights) != len(sufficient) or not penalty >= 0:
        raise FitError(f"{len(sufficient)} pairs have {len(weights)} groups; the penalty is {penalty}.")
    good, bad = np.asarray(sufficient, dtype=np.float64), np.asarray(insufficient, dtype=np.float64)
    deviation = np.concatenate([good, bad]).std(axis=0)
    scale = np.where(deviation > 1e-12, deviation, np.inf)  # a constant feature gets the weight 0
    differences = (good - bad) / scale
    weights = weights * len(set(zip(families, groups, strict=True)))

    def loss(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = differences @ v
        value = weights @ np.logaddexp(0.0, -margins) + penalty / 2 * (v @ v)
        slope = -(weights * np.exp(-np.logaddexp(0.0, margins))) @ differences + penalty * v
        return float(value), slope

    found = minimize(
        loss,
        np.zeros(differences.shape[1]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9},
    )
    slope = float(np.abs(loss(found.x)[1]).max(initial=0.0))
    if not np.isfinite(found.x).all() or slope > 1e-3 * max(1.0, float(weights.sum())):
        raise FitError(f"The head has no minimum ({found.message}). Raise the penalty above {penalty}.")
    return np.asarray(found.x / scale, dtype=np.float64)
