"""The cluster bootstrap of RINSE, sec. 3.2: complete clusters are drawn again, 2,000 times, with replacement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StatisticsError
from .resampling import DRAWS, Clusters

LEVEL = 0.95
"""Share of the draws inside an interval; the rest lies below and above in equal parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure with its 95 % percentile interval."""

    estimate: float | None
    """None where nothing was measured."""
    lo: float | None
    """None where fewer than two clusters were measured: nothing tells how they vary."""
    hi: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """A figure of each system, on the data and on each draw. All systems share the draws."""

    estimate: NDArray[np.float64] | None
    """Shape `(systems,)`; None without a record, NaN where the figure of one system is undefined."""
    draws: NDArray[np.float64] | None
    """Shape `(draws, systems)`; None with fewer than two clusters, NaN where a draw leaves it undefined."""

    def columns(self, *systems: int) -> Bootstrap:
        """Some of the systems, in this order, on the same draws."""
        return Bootstrap(
            estimate=None if self.estimate is None else self.estimate[list(systems)],
            draws=None if self.draws is None else self.draws[:, list(systems)],
        )

    def interval(self, system: int) -> Interval:
        """The figure of the system in this column."""
        return _interval(
            None if self.estimate is None else self.estimate[system],
            None if self.draws is None else self.draws[:, system],
        )

    def difference(self, one: int, other: int) -> Interval:
        """By how much the first system is better than the other one, draw by draw.

        Two systems that agree on every pair differ by exactly 0 in every draw (case E03).
        """
        return _interval(
            None if self.estimate is None else self.estimate[one] - self.estimate[other],
            None if self.draws is None else self.draws[:, one] - self.draws[:, other],
        )

    def at_least(self, one: int, other: int) -> float | None:
        """By how much the first system is better at least: the one-sided bound with 95 % confidence."""
        if self.draws is None:
            return None
        defined = _finite(self.draws[:, one] - self.draws[:, other])
        return float(np.quantile(defined, 1 - LEVEL)) if len(defined) else None

    def p_value(self, one: int, other: int) -> float | None:
        """That the two are equal, two-sided: twice the smaller share of draws at or beyond 0, in (0, 1].

        With n draws at least 2 / (n + 1), for the data count as one draw (Davison and Hinkley 1997, sec. 4.2).
        """
        if self.draws is None:
            return None
        defined = _finite(self.draws[:, one] - self.draws[:, other])
        if not len(defined):
            return None
        tail = min(int((defined <= 0).sum()), int((defined >= 0).sum()))
        return min(1.0, 2 * (tail + 1) / (len(defined) + 1))


def bootstrap(clusters: Sequence[str], wins: ArrayLike, *, draws: int = DRAWS, seed: int = 17) -> Bootstrap:
    """Draw complete clusters with replacement; the figure of a draw is its sum of wins by its number of pairs.

    Wins are halves, so all sums are exact and neither the order of pairs nor that of systems changes a digit. The
    draws depend on the seed and on the names of the clusters: conditions over the same clusters can be compared
    draw by draw, rows over other clusters are independent. Memory does not grow with draws x clusters, time does.

    Args:
        clusters: The cluster of each pair; across rows that shall be independent, names must differ.
        wins: Shape `(pairs, systems)` of 0, 0.5 and 1, see `compare`.
        draws: At least 1.
        seed: Of the draws.

    Raises:
        StatisticsError: the shapes do not fit, `draws` is below 1, or a win is none of 0, 0.5 and 1.
    """
    return ratios(clusters, _checked(clusters, wins), draws=draws, seed=seed)


def ratios(
    clusters: Sequence[str],
    parts: ArrayLike,
    wholes: ArrayLike | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 17,
) -> Bootstrap:
    """Figures that are one sum over records divided by another: means, rates, shares. Draws as in `bootstrap`.

    Neither the order of records nor that of systems changes a digit on the data, and systems whose columns are
    equal agree in each digit of each draw (case E03).

    Args:
        clusters: The cluster of each record.
        parts: Shape `(records, systems)`: what is summed above the line.
        wholes: The same shape: what is summed below it, at least 0; a record with 0 does not count. None = 1 each:
            the figure is a mean.
        draws: At least 1.
        seed: Of the draws.

    Raises:
        StatisticsError: the shapes do not fit, a number is not finite, a whole is negative, `draws` is below 1.
    """
    above = np.asarray(parts, dtype=np.float64)
    below = np.ones_like(above) if wholes is None else np.asarray(wholes, dtype=np.float64)
    _require_table(clusters, above, "parts")
    if below.shape != above.shape:
        raise StatisticsError(f"Parts of shape {above.shape} and wholes of {below.shape}: give one whole a part.")
    if not (np.isfinite(above).all() and np.isfinite(below).all() and (below >= 0).all()):
        raise StatisticsError(
            "Parts and wholes must be finite and wholes at least 0. Give a record for which a figure is undefined "
            "the part 0 and the whole 0: it does not count then."
        )
    drawn = Clusters(clusters, draws=draws, seed=seed)
    if not len(above):
        return Bootstrap(estimate=None, draws=None)
    sums = drawn.sums(np.concatenate([above, below], axis=1))
    distinct, column = np.unique(sums, axis=1, return_inverse=True)
    column, systems = column.reshape(-1), above.shape[1]
    estimate = _shares(distinct.sum(axis=0)[None, column], systems)[0]
    if len(sums) < 2:
        return Bootstrap(estimate=estimate, draws=None)
    blocks = [_shares((counts @ distinct)[:, column], systems) for counts in drawn.counts()]
    return Bootstrap(estimate=estimate, draws=np.concatenate(blocks))


def weighted(
    clusters: Sequence[str],
    figures: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    draws: int = DRAWS,
    seed: int = 17,
) -> Bootstrap:
    """Figures that are no ratio of sums, such as an area under a curve. Draws as in `bootstrap`.

    Args:
        clusters: The cluster of each record.
        figures: From weights of shape `(draws, records)`, how often each record counts, to figures of shape
            `(draws, systems)`; NaN where one is undefined.
        draws: At least 1.
        seed: Of the draws.

    Raises:
        StatisticsError: `draws` is below 1.
    """
    drawn = Clusters(clusters, draws=draws, seed=seed)
    if not len(clusters):
        return Bootstrap(estimate=None, draws=None)
    estimate = figures(np.ones((1, len(clusters))))[0]
    if len(drawn.names) < 2:
        return Bootstrap(estimate=estimate, draws=None)
    blocks = [figures(counts[:, drawn.index]) for counts in drawn.counts()]
    return Bootstrap(estimate=estimate, draws=np.concatenate(blocks))


def macro(rows: Sequence[Bootstrap]) -> Bootstrap:
    """The unweighted mean over rows, for each system; undefined as soon as one row is.

    Args:
        rows: With the same systems in the same columns and the same number of draws.

    Raises:
        StatisticsError: systems or draws differ in number.
    """
    return _over_rows(rows, lambda stacked: stacked.mean(axis=0))


def worst(rows: Sequence[Bootstrap]) -> Bootstrap:
    """The lowest figure over rows, for each system; arguments and errors as of `macro`.

    Each draw takes its own minimum, which need not be the row that is lowest on the data: the interval lies at or
    below that of this row.
    """
    return _over_rows(rows, lambda stacked: stacked.min(axis=0))


def _checked(clusters: Sequence[str], wins: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(wins, dtype=np.float64)
    _require_table(clusters, table, "wins")
    wrong = np.argwhere(~np.isin(table, (0.0, 0.5, 1.0)))
    if len(wrong):
        row, column = wrong[0]
        raise StatisticsError(
            f"Pair {row} of system {column} has {table[row, column]} wins; only 0, 0.5 and 1 are possible. "
            "Make them from scores with compare()."
        )
    return table


def _require_table(clusters: Sequence[str], table: NDArray[np.float64], what: str) -> None:
    if table.ndim != 2 or len(table) != len(clusters):
        raise StatisticsError(
            f"{len(clusters)} clusters, but {what} of shape {table.shape}: give one cluster and one row a record."
        )


def _shares(sums: NDArray[np.float64], systems: int) -> NDArray[np.float64]:
    """Sums of parts by sums of wholes, `(draws, 2 * systems)` to `(draws, systems)`; NaN over nothing."""
    above, below = sums[:, :systems], sums[:, systems:]
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)


def _over_rows(rows: Sequence[Bootstrap], fold: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Bootstrap:
    estimates = [row.estimate for row in rows if row.estimate is not None]
    draws = [row.draws for row in rows if row.draws is not None]
    systems = sorted({one.shape[-1] for one in (*estimates, *draws)})
    numbers = sorted({len(one) for one in draws})
    if len(systems) > 1 or len(numbers) > 1:
        raise StatisticsError(
            f"Rows with {systems} systems and {numbers} draws have no common figure: "
            "give all rows the same systems and the same number of draws."
        )
    return Bootstrap(
        estimate=fold(np.stack(estimates)) if rows and len(estimates) == len(rows) else None,
        draws=fold(np.stack(draws)) if rows and len(draws) == len(rows) else None,
    )


def _interval(estimate: float | None, draws: NDArray[np.float64] | None) -> Interval:
    """Draws that leave the figure undefined are left out; an undefined figure has no interval."""
    if estimate is None or not np.isfinite(estimate):
        return Interval(estimate=None, lo=None, hi=None)
    defined = np.zeros(0) if draws is None else _finite(draws)
    if not len(defined):
        return Interval(estimate=float(estimate), lo=None, hi=None)
    tail = (1 - LEVEL) / 2
    lo, hi = np.quantile(defined, [tail, 1 - tail])
    return Interval(estimate=float(estimate), lo=float(lo), hi=float(hi))


def _finite(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    return draws[np.isfinite(draws)]
