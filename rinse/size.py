"""Raw reader scores differ in scale and grow with the evidence; this puts them on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeCorrection:
    """The statistics of one reader (RINSE, section 4 and appendix D).

    The trend c is linear in log(1 + |E|) up to `limit`, the largest training set N. Beyond it

        c(|E|) = alpha + beta log(1 + N) + f(|E|) - f(N)

    with f linear between the knots and *flat* before the first and beyond the last one: there is no data there,
    and on sets larger than the training sets the paper found a flat tail as good as the learned curve and both
    better than a line carried on. So a limit without knots is a flat tail, and no limit is a line without end.

    Raises:
        ValueError: a value is not finite, sigma is not positive, or limit, knots and values do not fit together.
    """

    alpha: float
    """Where the linear trend meets log(1 + |E|) = 0."""
    beta: float
    """Growth of the raw score with log(1 + |E|)."""
    mu: float
    """Mean of the size-corrected scores."""
    sigma: float
    """Standard deviation of the size-corrected scores."""
    limit: int | None = None
    """Passages of the largest training set; None = the linear trend holds for every size."""
    knots: tuple[float, ...] = ()
    """Where f bends, in log(1 + |E|), increasing."""
    values: tuple[float, ...] = ()
    """f at each knot; only differences count."""

    def __post_init__(self) -> None:
        values = (self.alpha, self.beta, self.mu, self.sigma)
        if not all(math.isfinite(value) for value in values) or self.sigma <= 0:
            raise ValueError(f"alpha, beta, mu, sigma must be finite and sigma positive, they are {values}.")
        if self.limit is not None and self.limit < 0:
            raise ValueError(f"limit must be a number of passages or None, it is {self.limit}.")
        if self.knots and self.limit is None:
            raise ValueError("A curve begins at a limit: give limit with knots, or no knots.")
        if len(self.knots) != len(self.values) or len(self.knots) == 1:
            raise ValueError(
                f"A curve needs a value a knot and two knots, got {len(self.knots)} and {len(self.values)}."
            )
        if not all(math.isfinite(value) for value in (*self.knots, *self.values)):
            raise ValueError(f"knots and values must be finite, they are {self.knots} and {self.values}.")
        if any(right <= left for left, right in pairwise(self.knots)):
            raise ValueError(f"knots must increase, they are {self.knots}.")

    def trend(self, passages: int) -> float:
        """c(|E|): what a set of this size scores on average, before centring.

        Raises:
            ValueError: the number of passages is negative.
        """
        if passages < 0:
            raise ValueError(f"A set has 0 passages or more, not {passages}.")
        if self.limit is None or passages <= self.limit:
            return self.alpha + self.beta * math.log1p(passages)
        edge = self.alpha + self.beta * math.log1p(self.limit)
        if not self.knots:
            return edge
        here, there = np.interp(np.log1p([passages, self.limit]), self.knots, self.values)
        return edge + float(here - there)

    def apply(self, raw: float, passages: int) -> float:
        """(h - c(|E|) - mu) / sigma."""
        return (raw - self.trend(passages) - self.mu) / self.sigma


def fit_size_correction(raw: Sequence[float], passages: Sequence[int], groups: Sequence[str]) -> SizeCorrection:
    """Fit trend and scale to scored sets.

    The trend is fitted *within* groups: a group is one question whose set was padded to several sizes, which
    changes |E| but not the label, so that neither easy questions nor small datasets bend the slope.

    Args:
        raw: One reader's raw scores.
        passages: |E| of each.
        groups: The question of each.

    Raises:
        ValueError: the lengths differ, there are fewer than two scores, one is not finite, or no group holds two
            sizes.
    """
    h, x, group = _arrays(raw, passages, groups)
    x_within = _within(x, group)
    spread = float(x_within @ x_within)
    if spread == 0.0:
        raise ValueError("No group holds sets of two sizes: pad them, or there is no trend to fit.")
    beta = float(_within(h, group) @ x_within) / spread
    alpha = float(h.mean() - beta * x.mean())
    rest = h - alpha - beta * x
    return SizeCorrection(alpha=alpha, beta=beta, mu=float(rest.mean()), sigma=float(rest.std()))


def fit_size_curve(
    raw: Sequence[float], passages: Sequence[int], groups: Sequence[str], *, pieces: int = 10
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Learn f of `SizeCorrection` from padded records, by least squares within groups.

    Args:
        raw: One reader's raw scores.
        passages: |E| of each.
        groups: The record of each, the same for all sizes that it was padded to.
        pieces: The knots are the quantiles 0, 1/pieces ... 1 of log(1 + |E|); deciles as in the paper. Equal
            ones are one knot.

    Returns:
        The knots in log(1 + |E|), and f at each; f is 0 at the first.

    Raises:
        ValueError: see `fit_size_correction`.
    """
    h, x, group = _arrays(raw, passages, groups)
    knots = np.unique(np.quantile(x, np.linspace(0.0, 1.0, pieces + 1)))
    if not _within(x, group).any():
        raise ValueError("No group holds sets of two sizes: pad them, or there is no curve to fit.")
    # column j is the hat function of knot j; f(first knot) = 0 leaves the first one out
    hats = np.column_stack([np.interp(x, knots, row) for row in np.eye(len(knots))[1:]])
    within = np.column_stack([_within(column, group) for column in hats.T])
    values, *_ = np.linalg.lstsq(within, _within(h, group), rcond=None)
    return tuple(map(float, knots)), (0.0, *map(float, values))


def fit_padded_correction(
    raw: Sequence[float],
    passages: Sequence[int],
    groups: Sequence[str],
    *,
    padded: Sequence[bool],
    curve: bool,
) -> SizeCorrection:
    """The whole correction of one reader from training records and their padded copies.

    The limit is the size of the largest record that was not padded. The line is fitted within groups to whatever
    is not larger; where sizes do not vary below the limit, to everything. Mean and deviation are those of the
    records that were not padded.

    Args:
        raw: See `fit_size_curve`.
        passages: See `fit_size_curve`.
        groups: See `fit_size_curve`.
        padded: Which records are padded copies.
        curve: Whether to learn the curve beyond the limit; without it the line has no end.

    Raises:
        ValueError: see `fit_size_correction`; or the records that were not padded all score the same.
    """
    h, x, group = _arrays(raw, passages, groups)
    plain = ~np.asarray(padded, dtype=bool)
    if len(plain) != len(h) or not plain.any():
        raise ValueError(f"{len(h)} scores need as many marks of padding, one of them False: got {len(plain)}.")
    limit = int(np.asarray(passages)[plain].max())
    inside = x <= math.log1p(limit)
    if not _within(x[inside], np.unique(group[inside], return_inverse=True)[1]).any():
        inside = np.ones_like(inside)
    rows = np.flatnonzero(inside).tolist()
    line = fit_size_correction([raw[i] for i in rows], [passages[i] for i in rows], [groups[i] for i in rows])
    rest = (h - line.alpha - line.beta * x)[plain]
    knots, values = fit_size_curve(raw, passages, groups) if curve else ((), ())
    return SizeCorrection(
        alpha=line.alpha,
        beta=line.beta,
        mu=float(rest.mean()),
        sigma=float(rest.std()),
        limit=limit if curve else None,
        knots=knots,
        values=values,
    )


def _arrays(
    raw: Sequence[float], passages: Sequence[int], groups: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Scores, log(1 + |E|) and the number of each one's group."""
    if not len(raw) == len(passages) == len(groups) or len(raw) < 2:
        raise ValueError(
            f"One score, size and group each, at least two: got {len(raw)}, {len(passages)}, {len(groups)}."
        )
    h, x = np.asarray(raw, dtype=np.float64), np.log1p(np.asarray(passages, dtype=np.float64))
    if not (np.isfinite(h).all() and np.isfinite(x).all()):
        raise ValueError("Scores and sizes must be finite: leave out the sets for which a reader gave nothing.")
    return h, x, np.unique(np.asarray(groups), return_inverse=True)[1]


def _within(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64]:
    """Each value less the mean of its group."""
    means = np.bincount(group, weights=values) / np.maximum(np.bincount(group), 1)
    return np.asarray(values - means[group], dtype=np.float64)
