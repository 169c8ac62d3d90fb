"""Whether the parts of an index belong together and do what they should (case R09)."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from ..errors import IndexCorruptError
from .dense import DenseIndex, are_unit
from .sparse import SparseIndex
from .store import PassageStore

SPARSE = "sparse"
_SAMPLE = 64
_SEED = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The three opened parts of a data folder."""

    store: PassageStore
    dense: DenseIndex
    sparse: SparseIndex

    @classmethod
    def open(cls, data: Path) -> Self:
        """Open the parts for reading.

        Raises:
            IndexFolderError: one is missing, damaged or of another version.
        """
        with ExitStack() as undo:
            dense = DenseIndex.open(data)
            store = PassageStore(data)
            undo.callback(store.close)
            sparse = SparseIndex.open(data / SPARSE, read_only=True)
            undo.pop_all()
        return cls(store=store, dense=dense, sparse=sparse)

    def close(self) -> None:
        """Release the files."""
        self.store.close()
        self.sparse.close()

    def check(self, *, passages: int, dims: int) -> None:
        """Check counts and width, and on a seeded sample of rows ids, lengths and that search finds what is there.

        Costs two searches, whatever the size of the index.

        Raises:
            IndexCorruptError: the parts contradict each other or the vectors are useless.
        """
        counts = {"texts": len(self.store), "vectors": len(self.dense), "words": len(self.sparse)}
        wrong = [f"{count} {name}" for name, count in counts.items() if count != passages]
        if wrong or self.dense.dims != dims:
            raise IndexCorruptError(
                f"The parts of the index contradict each other: expected {passages} passages of {dims} dims, "
                f"found {', '.join(wrong) or f'{self.dense.dims} dims'}. Build the index again."
            )
        rows = np.random.default_rng(_SEED).choice(passages, size=min(_SAMPLE, passages), replace=False)
        self._check_rows(sorted(int(row) for row in rows))

    def _check_rows(self, rows: list[int]) -> None:
        sample = [(row, *self.dense.row(row)) for row in rows]
        for row, key, vector in sample:
            if not are_unit(vector[None, :]):
                raise IndexCorruptError(f"Vector {row} is not finite or not of length one. Build the index again.")
            if [passage.id for passage in self.store.rows(row, 1)] != [key]:
                raise IndexCorruptError(f"Vector {row} belongs to another text. Build the index again.")
        vectors = {vector.tobytes() for _, _, vector in sample}
        if len(sample) >= _SAMPLE // 8 and len(vectors) == 1:
            raise IndexCorruptError(
                f"{len(sample)} different texts have the same vector: the encoder that built the index is broken."
            )
        for _, key, vector in sample[:: max(1, len(sample) - 1)][:2]:
            best = self.dense.search(np.array(vector), 1)
            if not best or (best[0][0] != key and abs(best[0][1] - 1.0) > 1e-3):
                raise IndexCorruptError(
                    f"A search for the vector of {key} does not find it. Build the index again."
                )
