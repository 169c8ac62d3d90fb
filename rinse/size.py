"""Raw reader scores differ in scale and grow with the evidence; this puts them on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCorrection:
    """The statistics of one reader (RINSE, section 4).

    Raises:
        ValueError: a value is not finite, or sigma is not positive.
    """

    alpha: float
    """Where the linear trend meets log(1 + |E|) = 0."""
    beta: float
    """Growth of the raw score with log(1 + |E|)."""
    mu: float
    """Mean of the size-corrected scores."""
    sigma: float
    """Standard deviation of the size-corrected scores."""

    def __post_init__(self) -> None:
        values = (self.alpha, self.beta, self.mu, self.sigma)
        if not all(math.isfinite(value) for value in values) or self.sigma <= 0:
            raise ValueError(f"alpha, beta, mu, sigma must be finite and sigma positive, they are {values}.")

    def apply(self, raw: float, passages: int) -> float:
        """(h - c(|E|) - mu) / sigma with c(|E|) = alpha + beta log(1 + |E|)."""
        return (raw - self.alpha - self.beta * math.log1p(passages) - self.mu) / self.sigma


def fit_size_correction(raw: Sequence[float], passages: Sequence[int], groups: Sequence[str]) -> SizeCorrection:
    """Fit trend and scale to scored sets.

    The trend is fitted *within* groups: a group is one question whose set was padded to several sizes, which
    changes |E| but not the label, so that neither easy questions nor small datasets bend the slope.

    Args:
        raw: One reader's raw scores.
        passages: |E| of each.
        groups: The question of each.

    Raises:
        ValueError: the lengths differ, there are fewer than two scores, or no group holds two sizes.
    """
    if not len(raw) == len(passages) == len(groups) or len(raw) < 2:
        raise ValueError(
            f"One score, size and group each, at least two: got {len(raw)}, {len(passages)}, {len(groups)}."
        )
    h, x = np.asarray(raw, dtype=np.float64), np.log1p(np.asarray(passages, dtype=np.float64))
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    counts = np.bincount(group)
    h_within = h - (np.bincount(group, weights=h) / counts)[group]
    x_within = x - (np.bincount(group, weights=x) / counts)[group]
    spread = float(x_within @ x_within)
    if spread == 0.0:
        raise ValueError("No group holds sets of two sizes: pad them, or there is no trend to fit.")
    beta = float(h_within @ x_within) / spread
    alpha = float(h.mean() - beta * x.mean())
    rest = h - alpha - beta * x
    return SizeCorrection(alpha=alpha, beta=beta, mu=float(rest.mean()), sigma=float(rest.std()))
