"""Whether the parts of an index belong together and do what they should (case R09)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError
from .dense import are_unit
from .links import Kind
from .view import View

_SAMPLE = 64
_SEED = 9


def check(view: View, *, dims: int) -> None:
    """Check counts and width, a seeded sample of vectors, texts and links, and that search finds what is there.

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
    _check_links(view, list(ids.values())[:: max(1, len(ids) - 1)][:2])
    for row in list(sample)[:: max(1, len(sample) - 1)][:2]:
        best = view.nearest(np.array(sample[row]), 1)
        if not best or (best[0][0] != ids[row] and abs(best[0][1] - 1.0) > 1e-3):
            raise IndexCorruptError(
                f"A search for the vector of {ids[row]} does not find it. Build the index again."
            )


def _check_links(view: View, ids: Sequence[str]) -> None:
    with view.links() as links:
        linked = links.of(ids).values()
        kinds: dict[Kind, set[int]] = {
            "topic": {key for one in linked for key in one.topics},
            "mention": {key for one in linked for key in one.mentions},
        }
        lost = sum(len(keys - links.counts(kind, keys).keys()) for kind, keys in kinds.items())
    if lost:
        raise IndexCorruptError(
            f"{lost} links lead from a passage of the index but not to it. Build the index again."
        )


def _check_vectors(sample: dict[int, NDArray[np.float32]]) -> None:
    for row, vector in sample.items():
        if not are_unit(vector[None, :]):
            raise IndexCorruptError(f"Vector {row} is not finite or not of length one. Build the index again.")
    if len(sample) >= _SAMPLE // 8 and len({vector.tobytes() for vector in sample.values()}) == 1:
        raise IndexCorruptError(
            f"{len(sample)} different texts have the same vector: the encoder that built the index is broken."
        )
