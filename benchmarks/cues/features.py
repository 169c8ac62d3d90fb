"""Hashed word unigrams and bigrams, counted (RINSE, appendix C)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

DIMENSIONS = 16_384


class HashedCounts:
    """Counts of unigrams and bigrams in `DIMENSIONS` columns.

    The column is the four-byte BLAKE2b digest of the n-gram (UTF-8, the two words of a bigram joined by a space),
    read as a little-endian number, modulo the dimensions. n-grams that meet in a column add up: the paper weights
    by `log(1 + tf)`, which leaves no room for signs. Each n-gram is digested once, each passage looked up once.
    """

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}
        self._inner: dict[tuple[str, ...], NDArray[np.int32]] = {}

    def matrix(self, records: Iterable[Sequence[tuple[str, ...]]]) -> csr_array:
        """Counts, shape `(records, DIMENSIONS)`.

        Args:
            records: Each a sequence of texts as words; a bigram may join the end of one text and the beginning of
                the next, as if the words stood in one text.
        """
        from scipy.sparse import csr_array

        rows: list[NDArray[np.int32]] = []
        counts: list[NDArray[np.int32]] = []
        for texts in records:
            times = np.bincount(self._of(texts), minlength=DIMENSIONS)
            columns = np.flatnonzero(times)
            rows.append(columns.astype(np.int32))
            counts.append(times[columns].astype(np.int32))
        ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
        none = [np.zeros(0, np.int32)]
        parts = (np.concatenate([*none, *counts]), np.concatenate([*none, *rows]), ends)
        return csr_array(parts, shape=(len(rows), DIMENSIONS))

    def _of(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.int32]:
        spoken = [words for words in texts if words]
        joints = [self._column(f"{left[-1]} {right[0]}") for left, right in pairwise(spoken)]
        return np.concatenate([np.array(joints, dtype=np.int32), *map(self._inside, spoken)])

    def _inside(self, words: tuple[str, ...]) -> NDArray[np.int32]:
        known = self._inner.get(words)
        if known is None:
            grams = [*words, *(f"{left} {right}" for left, right in pairwise(words))]
            known = self._inner[words] = np.array([self._column(gram) for gram in grams], dtype=np.int32)
        return known

    def _column(self, gram: str) -> int:
        known = self._columns.get(gram)
        if known is None:
            digest = hashlib.blake2b(gram.encode("utf-8", "surrogatepass"), digest_size=4).digest()
            known = self._columns[gram] = int.from_bytes(digest, "little") % DIMENSIONS
        return known
