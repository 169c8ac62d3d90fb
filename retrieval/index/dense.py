"""Exact nearest neighbours by inner product, over rows that stay on the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError

VECTORS = "vectors.npy"
IDS = "ids.npy"
_ID_BYTES = 64  # a passage's id is 64 hex digits


class DenseIndex:
    """Unit rows and their ids; an exact search by FAISS's flat inner product.

    The rows are a memory-mapped `.npy` file that FAISS scans in place, so that opening costs nothing, the pages
    are shared between processes and no second copy lies in memory. FAISS gives up the GIL while it searches;
    threads may share one index.
    """

    def __init__(self, vectors: NDArray[np.float32], ids: NDArray[np.bytes_]) -> None:
        if vectors.ndim != 2 or vectors.dtype != np.float32 or not vectors.flags.c_contiguous:
            raise ValueError(f"Vectors must be float32 rows, they are {vectors.dtype} of shape {vectors.shape}.")
        if ids.shape != (len(vectors),):
            raise ValueError(f"Each row needs one id: {len(vectors)} rows, ids of shape {ids.shape}.")
        self._vectors = vectors
        self._ids = ids

    @classmethod
    def open(cls, folder: Path) -> DenseIndex:
        """Open what `VectorFile` and `write_ids` wrote.

        Raises:
            IndexCorruptError: a file is missing, truncated, or of another type.
        """
        try:
            vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
            ids = np.load(folder / IDS, mmap_mode="r", allow_pickle=False)
            return cls(np.asarray(vectors), np.asarray(ids))
        except (OSError, ValueError, EOFError) as error:
            raise IndexCorruptError(
                f"The vectors in {folder} cannot be read: {error} Build the index again."
            ) from error

    def __len__(self) -> int:
        return len(self._vectors)

    @property
    def dims(self) -> int:
        """Width of a vector."""
        return int(self._vectors.shape[1])

    def row(self, number: int) -> tuple[str, NDArray[np.float32]]:
        """Id and vector (dims,) of one row; the vector is read-only."""
        return self._ids[number].decode("ascii"), self._vectors[number]

    def search(
        self, vector: NDArray[np.float32], k: int, exclude: frozenset[str] = frozenset()
    ) -> list[tuple[str, float]]:
        """The `k` rows with the largest inner product, without those in `exclude`.

        Args:
            vector: Shape (dims,); of length one if the scores are to be cosines.
            k: At most so many; fewer if the index holds fewer (case R07).
            exclude: Ids that must not be returned.

        Returns:
            `(id, score)`, best first, ties by id; the choice at the k-th place is by id as well.

        Raises:
            ValueError: the vector has another width or is not finite.
        """
        if vector.shape != (self.dims,) or not np.isfinite(vector).all():
            raise ValueError(f"The query must be {self.dims} finite numbers, it has the shape {vector.shape}.")
        wanted = min(k + len(exclude), len(self))
        if k < 1 or wanted < 1:
            return []
        count = wanted + 1
        scores, rows = self._nearest(vector, count)
        while count < len(self) and len(rows) > wanted and scores[wanted - 1] == scores[-1]:
            count *= 2  # a tie goes on beyond what was fetched
            scores, rows = self._nearest(vector, count)
        found = [(self._ids[row].decode("ascii"), float(score)) for score, row in zip(scores, rows, strict=True)]
        found.sort(key=lambda item: (-item[1], item[0]))
        return [item for item in found if item[0] not in exclude][:k]

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


def write_ids(folder: Path, ids: Iterable[str]) -> None:
    """Write the ids of the rows, in their order."""
    np.save(folder / IDS, np.array([key.encode("ascii") for key in ids], dtype=f"S{_ID_BYTES}"))


class VectorFile:
    """A `.npy` file of float32 rows that is written block by block and goes on where a killed writer stopped.

    Args:
        folder: Holds the file, or will.
        rows: How many rows it will have in the end.
        dims: Width of a row.
        block: Rows of one `append`; the last one may be shorter. Only whole blocks survive a restart, so that a
            resumed build writes the same bytes as one without a break.
    """

    def __init__(self, folder: Path, *, rows: int, dims: int, block: int) -> None:
        self._path = folder / VECTORS
        self._rows, self._dims = rows, dims
        header = _header(rows, dims)
        self._file = self._path.open("r+b" if self._path.exists() else "w+b")
        if self._file.read(len(header)) != header:
            self._file.seek(0)
            self._file.truncate()
            self._file.write(header)
        self.done = self._usable_rows(len(header), block)
        self._file.seek(len(header) + self.done * dims * 4)
        self._file.truncate()

    def _usable_rows(self, header: int, block: int) -> int:
        written = (self._path.stat().st_size - header) // (self._dims * 4)
        whole = self._rows if written >= self._rows else max(written, 0) // block * block
        self._file.seek(header)
        for start in range(0, whole, block):
            count = min(block, whole - start) * self._dims
            rows = np.frombuffer(self._file.read(count * 4), dtype=np.float32).reshape(-1, self._dims)
            if not are_unit(rows):  # the machine went down before the block reached the disk
                return start
        return whole

    def append(self, rows: NDArray[np.float32]) -> None:
        """Write the next block; it is on the disk when this returns.

        Raises:
            ValueError: wrong shape, or rows that are not of length one.
        """
        if rows.ndim != 2 or rows.shape[1] != self._dims or self.done + len(rows) > self._rows:
            raise ValueError(f"Expected at most {self._rows - self.done} rows of {self._dims}, got {rows.shape}.")
        if not are_unit(rows):
            raise ValueError("The encoder returned rows that are not finite or not of length one.")
        self._file.write(np.ascontiguousarray(rows, dtype="<f4").tobytes())
        self._file.flush()
        os.fsync(self._file.fileno())
        self.done += len(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def are_unit(rows: NDArray[np.float32]) -> bool:
    """Whether all rows are finite and of length one, up to rounding."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return bool(np.all(np.abs(lengths - 1.0) < 1e-3))  # NaN compares false


def _header(rows: int, dims: int) -> bytes:
    from io import BytesIO

    from numpy.lib.format import write_array_header_1_0

    buffer = BytesIO()
    write_array_header_1_0(buffer, {"descr": "<f4", "fortran_order": False, "shape": (rows, dims)})
    return buffer.getvalue()
