"""One encoder for all strategies: each text is encoded once, and whoever asks again is charged what it took."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrieval.index.encoder import Encoder, TokenStates
from retrieval.memo import Memo
from rinse.readers.states import TokenEncoder

T = TypeVar("T")
MEMORY = 1_500_000_000
"""Bytes of token vectors that are kept."""
_VECTORS = 200_000_000


class Backbone(Encoder, TokenEncoder, Protocol):
    """What the product uses one model for."""


class SharedWork:
    """An encoder that remembers across strategies, which changes no vector, and counts the time that this saves.

    Each strategy has a scorer and a cache of its own, as a process of its own would have; only what these would
    have sent to the model is taken from here. So `spared` added to the wall clock is the time that the strategy
    would have taken alone.

    Args:
        encoder: The backbone.
    """

    def __init__(self, encoder: Backbone) -> None:
        self._encoder = encoder
        self.spared = 0.0
        """Seconds of work that were saved so far."""
        self._lock = threading.Lock()
        self._vectors: _Remembered[NDArray[np.float32]] = _Remembered(_VECTORS, lambda vector: vector.nbytes)
        self._states: _Remembered[TokenStates] = _Remembered(MEMORY, lambda states: states.states.nbytes)

    @property
    def fingerprint(self) -> str:
        """That of the backbone."""
        return self._encoder.fingerprint

    @property
    def name(self) -> str:
        """That of the backbone."""
        return self._encoder.name

    @property
    def dims(self) -> int:
        """Width of a vector."""
        return self._encoder.dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        if not texts:
            return self._encoder.encode(texts)
        rows = self._all(texts, self._vectors, self._rows)
        return np.stack(rows)

    def stored(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of texts that the asker's index holds already: no work was spared."""
        before = self.spared
        vectors = self.encode(texts)
        self.spared = before
        return vectors

    def token_states(self, texts: Sequence[str]) -> list[TokenStates]:
        """See `TokenEncoder.token_states`."""
        return self._all(texts, self._states, self._encoder.token_states)

    def _rows(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return list(self._encoder.encode(texts))

    def _all(
        self, texts: Sequence[str], memory: _Remembered[T], make: Callable[[Sequence[str]], list[T]]
    ) -> list[T]:
        found, spared = memory.look_up(texts)
        fresh = [text for text in dict.fromkeys(texts) if text not in found]
        if fresh:
            began = time.perf_counter()
            made = make(fresh)
            spent = time.perf_counter() - began
            found |= memory.keep(fresh, made, spent)
        with self._lock:
            self.spared += spared
        return [found[text] for text in texts]


class _Remembered(Generic[T]):
    """Results by text, each with its share of the time of its batch, by length."""

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self._memo: Memo[str, tuple[T, float]] = Memo(limit, lambda pair: size(pair[0]))

    def look_up(self, texts: Sequence[str]) -> tuple[dict[str, T], float]:
        """What is known, and the seconds that it took."""
        known = {text: pair for text in dict.fromkeys(texts) if (pair := self._memo.get(text)) is not None}
        return {text: pair[0] for text, pair in known.items()}, sum(pair[1] for pair in known.values())

    def keep(self, texts: Sequence[str], made: Sequence[T], seconds: float) -> dict[str, T]:
        """Remember what was made."""
        total = sum(map(len, texts)) or 1
        for text, value in zip(texts, made, strict=True):
            self._memo.put(text, (value, seconds * len(text) / total))
        return dict(zip(texts, made, strict=True))
