"""The cluster bootstrap of RINSE, sec. 3.2: complete clusters are drawn again, 2,000 times, with replacement."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import StatisticsError

DRAWS = 2_000
LEVEL = 0.95
"""Share of the draws inside an interval; the rest lies below and above in equal parts."""
_CELLS = 4_000_000
"""Draws x clusters that are held at once: 32 MB."""


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
    """The share of pairs won by each system, on the data and on each draw. All systems share the draws."""

    estimate: NDArray[np.float64] | None
    """Shape `(systems,)`; None without a pair."""
    draws: NDArray[np.float64] | None
    """Shape `(draws, systems)`; None with fewer than two clusters."""

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
    table = _checked(clusters, wins, draws)
    if not len(table):
        return Bootstrap(estimate=None, draws=None)
    names, cluster = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
    columns = [np.bincount(cluster, weights=column, minlength=len(names)) for column in table.T]
    sums = np.stack([*columns, np.bincount(cluster, minlength=len(names))], axis=1)  # (clusters, systems + 1)
    total = sums.sum(axis=0)
    estimate = total[:-1] / total[-1]
    if len(names) < 2:
        return Bootstrap(estimate=estimate, draws=None)
    drawn = np.concatenate([counts @ sums for counts in _counts(names, draws=draws, seed=seed)])
    return Bootstrap(estimate=estimate, draws=drawn[:, :-1] / drawn[:, -1:])


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


def _checked(clusters: Sequence[str], wins: ArrayLike, draws: int) -> NDArray[np.float64]:
    table = np.asarray(wins, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(clusters):
        raise StatisticsError(
            f"{len(clusters)} clusters, but wins of shape {table.shape}: give one cluster and one row a pair."
        )
    if draws < 1:
        raise StatisticsError(f"draws must be at least 1, it is {draws}.")
    wrong = np.argwhere(~np.isin(table, (0.0, 0.5, 1.0)))
    if len(wrong):
        row, column = wrong[0]
        raise StatisticsError(
            f"Pair {row} of system {column} has {table[row, column]} wins; only 0, 0.5 and 1 are possible. "
            "Make them from scores with compare()."
        )
    return table


def _counts(names: NDArray[np.str_], *, draws: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """How often each cluster is drawn, in blocks of draws, each of shape `(block, clusters)`."""
    digest = hashlib.blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    random = np.random.default_rng([seed, int.from_bytes(digest, "little")])
    size = len(names)
    block = max(1, _CELLS // size)
    for begin in range(0, draws, block):
        rows = min(block, draws - begin)
        picked = random.integers(0, size, size=(rows, size))
        picked += np.arange(rows)[:, None] * size
        yield np.bincount(picked.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


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
    value = None if estimate is None else float(estimate)
    if draws is None:
        return Interval(estimate=value, lo=None, hi=None)
    tail = (1 - LEVEL) / 2
    lo, hi = np.quantile(draws, [tail, 1 - tail])
    return Interval(estimate=value, lo=float(lo), hi=float(hi))
