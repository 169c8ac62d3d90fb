"""Whether the parts of an index belong together and do what they should (case R09)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError
from .dense import are_unit
from .view import View

_SAMPLE = 64
_SEED = 9


def check(view: View, *, dims: int) -> None:
    """Check counts and width, and a seeded sample of vectors and texts, and that search finds what is there.

    Costs two searches, whatever the size of the index.

    Raises:
        IndexCorruptError: the parts contradict each other or the vectors are useless.
    """
    numbers = view.numbers()
    _, texts = view.counts()
    if texts != len(numbers) or view.facts.dims != dims:
        raise IndexCorruptError(
            f"The parts of the index contradict each other: {texts} texts of which {len(numbers)} are indexed, "
            f"vectors of {view.facts.dims} dims, expected {dims}. Build the index again."
        )
    rows = np.random.default_rng(_SEED).choice(numbers, size=min(_SAMPLE, len(numbers)), replace=False)
    sample = {int(row): view.vector(int(row)) for row in sorted(rows)}
    ids = view.ids(list(sample))
    view.passages(list(ids.values()))  # a text that is missing or not the one of its id is an error
    _check_vectors(sample)
    for row in list(sample)[:: max(1, len(sample) - 1)][:2]:
        best = view.nearest(np.array(sample[row]), 1)
        if not best or (best[0][0] != ids[row] and abs(best[0][1] - 1.0) > 1e-3):
            raise IndexCorruptError(
                f"A search for the vector of {ids[row]} does not find it. Build the index again."
            )


def _check_vectors(sample: dict[int, NDArray[np.float32]]) -> None:
    for row, vector in sample.items():
        if not are_unit(vector[None, :]):
            raise IndexCorruptError(f"Vector {row} is not finite or not of length one. Build the index again.")
    if len(sample) >= _SAMPLE // 8 and len({vector.tobytes() for vector in sample.values()}) == 1:
        raise IndexCorruptError(
            f"{len(sample)} different texts have the same vector: the encoder that built the index is broken."
        )
