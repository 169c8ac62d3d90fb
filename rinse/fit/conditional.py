"""The head of a reader: conditional-logistic regression on pairs (Breslow et al. 1978)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .balance import check_sides
from .errors import FitError


def fit_conditional_head(
    sufficient: NDArray[np.floating],
    insufficient: NDArray[np.floating],
    *,
    weights: NDArray[np.float64],
    scale: NDArray[np.float64],
    penalty: float,
    lower_bound: float | None = None,
) -> NDArray[np.float64]:
    """Weights w that make sigmoid((x+ - x-) @ w) likely over all pairs (RINSE, section 4).

    There is no intercept: what both sides of a group share cancels, which is what conditioning on the group means.
    Minimises `sum_i weight_i log(1 + exp(-d_i @ v)) + penalty / 2 * |v|^2` over differences d of features divided
    by `scale`, and returns v divided by `scale`, ready for raw features.

    Args:
        sufficient: Features of the sufficient side of each pair, shape `(pairs, features)`.
        insufficient: Of the insufficient side, the same shape.
        weights: Of each pair, with the sum 1; see `pair_weights`.
        scale: The unit of each feature, see `deviation_of_sides` and `size_of_differences`; a feature whose unit
            is 0 never varies and gets the weight 0.
        penalty: At least 0; above it there is one minimum, also where a feature separates all pairs.
        lower_bound: The least that a weight may be, e.g. 0 where more of a feature can only speak for
            sufficiency; None = any.

    Returns:
        Shape `(features,)`.

    Raises:
        FitError: shapes or lengths do not match, a value is not finite, the penalty is negative, or the optimiser
            finds no minimum.
    """
    from scipy.optimize import minimize

    check_sides(sufficient, insufficient, weights)
    if scale.shape != sufficient.shape[1:] or not penalty >= 0:
        raise FitError(f"{sufficient.shape[1]} features have {scale.shape} units; the penalty is {penalty}.")
    unit = np.where(scale > 1e-12, scale, np.inf)
    differences = (np.asarray(sufficient, dtype=np.float64) - np.asarray(insufficient, dtype=np.float64)) / unit

    def loss(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = differences @ v
        value = weights @ np.logaddexp(0.0, -margins) + penalty / 2 * (v @ v)
        slope = -(weights * np.exp(-np.logaddexp(0.0, margins))) @ differences + penalty * v
        return float(value), slope

    start = np.zeros(differences.shape[1]) if lower_bound is None else np.full(differences.shape[1], lower_bound)
    found = minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=None if lower_bound is None else [(lower_bound, None)] * len(start),
        options={"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-9},
    )
    slope = loss(found.x)[1]
    if lower_bound is not None:  # a weight that stands at the bound may want to go below it
        slope = np.where(found.x <= lower_bound, np.minimum(slope, 0.0), slope)
    if not np.isfinite(found.x).all() or np.abs(slope).max(initial=0.0) > 1e-3:
        raise FitError(f"The head has no minimum ({found.message}). Raise the penalty above {penalty}.")
    return np.asarray(found.x / unit, dtype=np.float64)


def deviation_of_sides(
    sufficient: NDArray[np.floating], insufficient: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Standard deviation of each feature over all sides, shape `(features,)`."""
    return np.asarray(np.concatenate([sufficient, insufficient]).std(axis=0), dtype=np.float64)


def size_of_differences(
    sufficient: NDArray[np.floating], insufficient: NDArray[np.floating], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weighted root-mean-square of each feature's differences within pairs, shape `(features,)`.

    A feature that differs much between questions and little within one is then penalised as any other.
    """
    differences = np.asarray(sufficient, dtype=np.float64) - np.asarray(insufficient, dtype=np.float64)
    return np.asarray(np.sqrt(weights @ differences**2 / weights.sum()), dtype=np.float64)
