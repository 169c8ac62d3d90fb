"""Products with a sparse matrix whose rows agree in most entries inside each group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SharedRows:
    """A matrix with no entry below 0, as what all rows of a group share plus what each row has beyond that.

    The sides of a contrast differ by a passage or by nothing, so this holds a fraction of the entries (and never
    more than the plain matrix), and a product takes that fraction of the time. Equal rows of a group give exactly
    equal results.
    """

    def __init__(self, matrix: csr_array, groups: NDArray[np.intp]) -> None:
        """Take `matrix`, shape `(rows, columns)`, apart; groups are numbered from 0 without a gap."""
        from scipy.sparse import csr_array

        rows = len(groups)
        self._group = groups
        self._shared = _shared(matrix, groups)
        self._own = matrix - self._shared[groups]
        self._shared_by_column = self._shared.T.tocsr()
        self._own_by_column = self._own.T.tocsr()
        ones = (np.ones(rows), (groups, np.arange(rows)))
        self._members = csr_array(ones, shape=(self._shared.shape[0], rows))

    @property
    def entries(self) -> int:
        """Entries that are held."""
        return int(self._shared.nnz + self._own.nnz)

    def times(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """`matrix @ right`, shape `(rows, n)`."""
        return np.asarray((self._shared @ right)[self._group] + self._own @ right)

    def transposed_times(self, right: NDArray[np.float64]) -> NDArray[np.float64]:
        """`matrix.T @ right`, shape `(columns, n)`."""
        return np.asarray(self._shared_by_column @ (self._members @ right) + self._own_by_column @ right)


def _shared(matrix: csr_array, groups: NDArray[np.intp]) -> csr_array:
    """The minimum over each group's rows, shape `(groups, columns)`."""
    from scipy.sparse import csr_array

    size = np.bincount(groups)
    width = matrix.shape[1]
    entries = matrix.tocoo()
    cell = groups[entries.row] * width + entries.col
    order = np.argsort(cell, kind="stable")
    cells, start, held = np.unique(cell[order], return_index=True, return_counts=True)
    everywhere = held == size[cells // width]  # elsewhere some row has 0
    least = np.minimum.reduceat(entries.data[order], start)[everywhere]
    where = np.stack([cells[everywhere] // width, cells[everywhere] % width]).astype(np.int32)
    return csr_array((least, (where[0], where[1])), shape=(len(size), width))
