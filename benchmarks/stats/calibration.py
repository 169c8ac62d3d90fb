"""How well probabilities of sufficiency match what is true."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StatisticsError
from .discrimination import checked

BINS = 10


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float | None:
    """Mean squared distance of the probability from the label (Brier 1950, binary form), in [0, 1]; 0 is best.

    Args:
        probabilities: Of sufficiency, in [0, 1], shape `(records,)`.
        labels: Shape `(records,)`, true = sufficient.

    Returns:
        None without a record.

    Raises:
        StatisticsError: the shapes differ, or a probability is NaN or outside [0, 1].

    >>> brier_score([1.0, 0.5], [True, False])
    0.125
    """
    values, truth = _probabilities(probabilities, labels)
    return float(np.mean((values - truth) ** 2)) if len(values) else None


def calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = BINS) -> float | None:
    """Expected calibration error of the probability *of sufficiency*, in [0, 1]; 0 is best.

    Bins of equal width, closed below, the last one closed on both sides; each counts the distance between its mean
    probability and its share of sufficient records, weighted by its share of records (Naeini et al. 2015). This is
    not the error of the confidence in the predicted label, for which 0.1 and 0.9 would share a bin.

    Args:
        probabilities: Of sufficiency, in [0, 1], shape `(records,)`.
        labels: Shape `(records,)`, true = sufficient.
        bins: At least 1.

    Returns:
        None without a record.

    Raises:
        StatisticsError: the shapes differ, a probability is NaN or outside [0, 1], or `bins` is below 1.

    >>> calibration_error([0.75, 0.75, 0.25, 0.25], [True, True, False, True])
    0.25
    """
    values, truth = _probabilities(probabilities, labels)
    if bins < 1:
        raise StatisticsError(f"bins must be at least 1, it is {bins}.")
    if not len(values):
        return None
    at = np.minimum((values * bins).astype(np.intp), bins - 1)
    expected = np.bincount(at, weights=values, minlength=bins)
    observed = np.bincount(at, weights=truth, minlength=bins)
    return float(np.abs(expected - observed).sum() / len(values))


def _probabilities(probabilities: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values, truth = checked(probabilities, labels)
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if len(wrong):
        raise StatisticsError(
            f"Record {wrong[0]} has the probability {values[wrong[0]]}; it must lie between 0 and 1. "
            "A score that is no probability has neither a Brier score nor a calibration error."
        )
    return values, truth
