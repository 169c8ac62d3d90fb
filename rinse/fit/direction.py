"""The direction of the latent reader: where states of sufficient evidence lie, seen from insufficient evidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .balance import check_sides
from .errors import FitError


def fit_direction(
    sufficient: NDArray[np.floating],
    insufficient: NDArray[np.floating],
    *,
    weights: NDArray[np.float64],
) -> NDArray[np.float32]:
    """The family-balanced mean of sufficient-minus-insufficient differences, normalised (RINSE, section 4).

    Args:
        sufficient: Unit states of the sufficient side of each pair, shape `(pairs, dims)`.
        insufficient: Of the insufficient side, the same shape.
        weights: Of each pair, with the sum 1; see `pair_weights`.

    Returns:
        Shape `(dims,)`, length 1.

    Raises:
        FitError: shapes or lengths do not match, a value is not finite, or the differences cancel.
    """
    check_sides(sufficient, insufficient, weights)
    mean = weights @ (np.asarray(sufficient, dtype=np.float64) - np.asarray(insufficient, dtype=np.float64))
    length = float(np.linalg.norm(mean))
    if length < 1e-9:
        raise FitError("The states of both sides do not differ on average, so there is no direction. Add pairs.")
    return np.asarray(mean / length, dtype=np.float32)
