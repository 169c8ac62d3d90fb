"""A bounded memory of results that threads share."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(Generic[K, V]):
    """Keeps the most recently used values up to a total size. Thread-safe.

    Args:
        limit: The most that all values together may measure; a value above it is not kept.
        size: Measures a value, e.g. in bytes.
    """

    def __init__(self, limit: int, size: Callable[[V], int]) -> None:
        self._limit = limit
        self._measure = size
        self._values: OrderedDict[K, V] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """The value, or None; it counts as used."""
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: K, value: V) -> None:
        """Keep a value and drop the least recently used ones that no longer fit."""
        size = self._measure(value)
        with self._lock:
            if key in self._values:
                self._used -= self._measure(self._values.pop(key))
            if size > self._limit:
                return
            self._values[key] = value
            self._used += size
            while self._used > self._limit:
                _, dropped = self._values.popitem(last=False)
                self._used -= self._measure(dropped)

    def __len__(self) -> int:
        """How many values are kept."""
        with self._lock:
            return len(self._values)
