"""Complete clusters drawn again with replacement: what every interval rests on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import StatisticsError

DRAWS = 2_000
_CELLS = 4_000_000
"""Draws x clusters that are held at once: 32 MB."""


class Clusters:
    """The clusters of some records, and how often each of them is drawn.

    The draws depend on the seed and the names of the clusters: conditions over the same clusters can be compared
    draw by draw, rows over other clusters are independent.

    Args:
        clusters: The cluster of each record.
        draws: At least 1.
        seed: Of the draws.

    Raises:
        StatisticsError: `draws` is below 1.
    """

    def __init__(self, clusters: Sequence[str], *, draws: int, seed: int) -> None:
        if draws < 1:
            raise StatisticsError(f"draws must be at least 1, it is {draws}.")
        self.names: NDArray[np.str_]
        self.index: NDArray[np.intp]
        self.names, self.index = np.unique(np.asarray(clusters, dtype=np.str_), return_inverse=True)
        """The names, sorted; and the place among them of each record's cluster."""
        self._draws, self._seed = draws, seed

    def sums(self, table: NDArray[np.float64]) -> NDArray[np.float64]:
        """The columns summed inside each cluster, `(records, columns)` to `(clusters, columns)`.

        Numbers are added in ascending order, so the order of records changes no digit.
        """
        order = np.lexsort((table.T, np.broadcast_to(self.index, table.T.shape)))  # (columns, records)
        ordered = np.take_along_axis(table, order.T, axis=0)
        starts = np.searchsorted(np.sort(self.index), np.arange(len(self.names)))
        return np.asarray(np.add.reduceat(ordered, starts, axis=0), dtype=np.float64)

    def counts(self) -> Iterator[NDArray[np.float64]]:
        """How often each cluster is drawn, in blocks of draws, each of shape `(block, clusters)`.

        Memory does not grow with draws x clusters, time does.
        """
        digest = hashlib.blake2b("\0".join(self.names).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        random = np.random.default_rng([self._seed, int.from_bytes(digest, "little")])
        size = len(self.names)
        block = max(1, _CELLS // size)
        for begin in range(0, self._draws, block):
            rows = min(block, self._draws - begin)
            picked = random.integers(0, size, size=(rows, size))
            picked += np.arange(rows)[:, None] * size
            yield np.bincount(picked.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)
