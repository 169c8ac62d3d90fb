"""Exact nearest neighbours by inner product, over rows that stay on the disk."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError, IndexFolderError

Names = Callable[[Sequence[int]], dict[int, str]]
"""The ids of rows, by their number; rows that are dead have none."""


class DenseIndex:
    """Unit rows; an exact search by FAISS's flat inner product.

    The rows are a memory-mapped file of float32 numbers that FAISS scans in place, so that opening costs nothing,
    the pages are shared between processes and no second copy lies in memory. FAISS gives up the GIL while it
    searches; threads may share one index.
    """

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        if vectors.ndim != 2 or vectors.dtype != np.float32 or not vectors.flags.c_contiguous:
            raise ValueError(f"Vectors must be float32 rows, they are {vectors.dtype} of shape {vectors.shape}.")
        self._vectors = vectors

    @classmethod
    def open(cls, path: Path, *, rows: int, dims: int) -> DenseIndex:
        """Map the first `rows` rows of a file that `VectorFile` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            IndexCorruptError: it holds fewer rows, or cannot be read.
        """
        need_rows(path, rows=rows, dims=dims)
        if not rows:
            return cls(np.zeros((0, dims), np.float32))
        try:
            return cls(np.asarray(np.memmap(path, dtype="<f4", mode="r", shape=(rows, dims))))
        except (OSError, ValueError) as error:
            raise IndexCorruptError(f"{path} cannot be read: {error}. Build the index again.") from error

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def dims(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    def row(self, number: int) -> NDArray[np.float32]:
        """One vector (dims,), read-only."""
        vector: NDArray[np.float32] = self._vectors[number]
        return vector

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """A copy of some vectors, shape (len(numbers), dims)."""
        chosen: NDArray[np.float32] = self._vectors[numbers]
        return chosen

    def search(
        self,
        vector: NDArray[np.float32],
        k: int,
        names: Names,
        exclude: frozenset[str] = frozenset(),
        *,
        living: int | None = None,
    ) -> list[tuple[str, float]]:
        """The `k` living rows with the largest inner product, without those in `exclude`.

        Args:
            vector: Shape (dims,); of length one if the scores are to be cosines.
            k: At most so many; fewer if the index holds fewer (case R07).
            names: Asked for the rows that were found.
            exclude: Ids that must not be returned.
            living: How many rows have a name, to guess how many to fetch; None = all.

        Returns:
            `(id, score)`, best first, ties by id; the choice at the k-th place is by id as well.

        Raises:
            ValueError: the vector has another width or is not finite.
        """
        if vector.shape != (self.dims,) or not np.isfinite(vector).all():
            raise ValueError(f"The query must be {self.dims} finite numbers, it has the shape {vector.shape}.")
        if k < 1 or not len(self):
            return []
        share = len(self) / max(living, 1) if living is not None else 1.0
        count = math.ceil((k + len(exclude)) * share) + 1
        while True:
            scores, rows = self._nearest(vector, count)
            known = names(rows.tolist())
            found = [
                (known[row], score)
                for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
                if row in known and known[row] not in exclude
            ]
            # What was not fetched scores no more than the last one that was: enough, if the k-th beats that.
            if count >= len(self) or (len(found) >= k and found[k - 1][1] > scores[-1]):
                break
            count *= 2
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:k]

    def _nearest(self, vector: NDArray[np.float32], count: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Scores and row numbers of the best `count` rows, as far as there are."""
        import faiss

        scores, rows = faiss.knn(
            vector[None, :].astype(np.float32),
            self._vectors,
            min(count, len(self)),
            metric=faiss.METRIC_INNER_PRODUCT,
        )
        usable = (rows[0] >= 0) & np.isfinite(scores[0])  # a damaged row has no score and is no hit
        return scores[0][usable], rows[0][usable]


class VectorFile:
    """A file of float32 rows that grows at its end. What lies beyond `done` is of no meaning, and is overwritten.

    Args:
        path: The file; it is made where it is missing.
        dims: Width of a row.
        done: Rows that are there already and stay.

    Raises:
        IndexCorruptError: the file holds fewer than `done` rows.
        IndexFolderError: it cannot be written; also from each method.
    """

    def __init__(self, path: Path, *, dims: int, done: int = 0) -> None:
        if done:
            need_rows(path, rows=done, dims=dims)
        self.path, self.done, self._dims = path, done, dims
        try:
            with ExitStack() as undo:
                self._file = undo.enter_context(path.open("r+b" if path.exists() else "w+b", buffering=0))
                self._file.truncate(done * dims * 4)
                undo.pop_all()
        except OSError as error:
            raise _unwritable(path, error) from error

    def append(self, rows: NDArray[np.float32]) -> None:
        """Write rows behind the others; `sync` brings them to the disk.

        Raises:
            ValueError: wrong shape, or rows that are not of length one.
        """
        if rows.ndim != 2 or rows.shape[1] != self._dims:
            raise ValueError(f"Expected rows of {self._dims} numbers, got {rows.shape}.")
        if not are_unit(rows):
            raise ValueError("The encoder returned rows that are not finite or not of length one.")
        left = memoryview(np.ascontiguousarray(rows, dtype="<f4").tobytes())
        try:
            self._file.seek(self.done * self._dims * 4)
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self.done += len(rows)

    def sync(self) -> None:
        """Return when all rows are on the disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def close(self) -> None:
        """Release the file. May be called twice."""
        self._file.close()


def whole_rows(path: Path, *, rows: int, dims: int, block: int) -> int:
    """How many rows of a file a killed build wrote whole, in blocks of `block`, the last of all `rows` shorter."""
    if not path.exists():
        return 0
    written = path.stat().st_size // (dims * 4)
    whole = rows if written >= rows else written // block * block
    with path.open("rb") as file:
        for start in range(0, whole, block):
            count = min(block, whole - start) * dims
            read = np.frombuffer(file.read(count * 4), dtype="<f4").reshape(-1, dims)
            if not are_unit(read):  # the machine went down before the block reached the disk
                return start
    return whole


def need_rows(path: Path, *, rows: int, dims: int) -> None:
    """Raise IndexCorruptError unless a file holds at least `rows` rows, FileNotFoundError if it is missing."""
    size = path.stat().st_size
    if size < rows * dims * 4:
        raise IndexCorruptError(
            f"{path} has {size} bytes, expected {rows * dims * 4} ({rows} vectors of {dims} dims). "
            "Build the index again."
        )


def are_unit(rows: NDArray[np.float32]) -> bool:
    """Whether all rows are finite and of length one, up to rounding."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return bool(np.all(np.abs(lengths - 1.0) < 1e-3))  # NaN compares false


def _unwritable(path: Path, error: OSError) -> IndexFolderError:
    return IndexFolderError(
        f"{path} cannot be written: {error.strerror or error}. The index is as it was at the last commit. "
        "Make room on the disk or check its rights, and try again."
    )
