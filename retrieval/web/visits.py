"""The pages that a search visited, so that it asks for each of them once, whatever came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..passage import Passage
from .outcome import Kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(slots=True)
class Visit:
    """One page in one search: on its way until `done`, then with its outcome."""

    done: asyncio.Event = field(default_factory=asyncio.Event)
    outcome: Kind | None = None
    """None while it is on its way, and for good if whoever fetched it was cancelled: then others may fetch it."""
    passages: tuple[Passage, ...] = ()
    age: float | None = None
    """Of the content in seconds, at the moment `at`."""
    stale: bool = False
    at: float = 0.0
    """On `time.monotonic()`."""

    def age_at(self, moment: float) -> float | None:
        """The age of the content at a moment of `time.monotonic()`."""
        return None if self.age is None else self.age + max(moment - self.at, 0.0)


class Visits:
    """The pages of one search, by the tier that visited them and their key."""

    def __init__(self) -> None:
        self._pages: dict[int, dict[str, Visit]] = {}
        self.vectors: dict[str, NDArray[np.float32]] = {}
        """Of passages, by id, and of queries: one search encodes each once."""

    def of(self, tier: object) -> dict[str, Visit]:
        """The visits of one tier, which the caller adds to; tiers may ask different sources."""
        return self._pages.setdefault(id(tier), {})


_VISITS: ContextVar[Visits | None] = ContextVar("sufficit_visits", default=None)


def current_visits() -> Visits:
    """The visits of the search that this runs in; outside of one, new ones for this call alone."""
    return _VISITS.get() or Visits()


@contextmanager
def one_search() -> Iterator[Visits]:
    """What runs inside, and the tasks that it starts, is one search: no page is asked for twice in it."""
    visits = Visits()
    token = _VISITS.set(visits)
    try:
        yield visits
    finally:
        _VISITS.reset(token)
