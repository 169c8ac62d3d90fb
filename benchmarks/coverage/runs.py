"""Every strategy over one stream: each with a folder, a clock and an origin that know nothing of the others."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.config import Settings
from retrieval.cache.records import Tally

from ..progress import counted
from .desk import ORDINARY, PRODUCT, Clock, Desk, Manner
from .figures import MATCHED
from .lines import CoverageFile, Line
from .origin import Counts, Origin
from .replay import Course, replay
from .shared_work import SharedWork
from .strategies import NEVER, Always, CoverageVerdict, Nearest, OnlyTtl, Oracle, Similarity, Strategy
from .stream import Ask
from .tuning import best_threshold, support_recall

COVERAGE = "coverage"
HTTP = "http"
"""Asks the web for every question, pages through the HTTP cache."""
SIMILARITY = "similarity"
SPARING = "sparing"
"""Marks rivals that ask the web as coverage does, page by page."""
NEAREST: tuple[Nearest, ...] = ("question", "passage")
PLAIN: Mapping[str, tuple[Callable[[Desk], Strategy], Manner]] = {
    "always": (Always, ORDINARY),
    COVERAGE: (CoverageVerdict, PRODUCT),
    "ttl": (OnlyTtl, ORDINARY),
    "oracle": (Oracle, PRODUCT),
}
"""In this order; similarity comes last, since it is tuned to the support recall of coverage."""


def miscounts(name: str, before: Tally, after: Tally, truth: Counts) -> list[dict[str, Any]]:
    """Where a cache counted otherwise than the origin did while a strategy ran."""
    pairs = {"requests": truth.pages, "revalidations": truth.not_modified, "bytes": truth.bytes}
    counted_by_cache = {key: getattr(after, key) - getattr(before, key) for key in pairs}
    return [
        {"strategy": name, "miscounted": key, "by_cache": counted_by_cache[key], "by_origin": pairs[key]}
        for key in pairs
        if counted_by_cache[key] != pairs[key]
    ]


@dataclass(frozen=True, slots=True)
class _Leg:
    """A part of a stream for one strategy."""

    name: str
    strategy: Callable[[Desk], Strategy]
    manner: Manner
    asks: Sequence[Ask]
    folder: Path


class Runs:
    """All strategies, one after the other.

    Args:
        origin: The running origin.
        work: The encoder.
        settings: Of the searches.
        way: The stream.
        folder: For the caches; empty.
        file: Strategies that it holds whole are not run again; None = nothing is kept.
    """

    def __init__(
        self,
        *,
        origin: Origin,
        work: SharedWork,
        settings: Settings,
        way: Course,
        folder: Path,
        file: CoverageFile | None,
    ) -> None:
        self._origin, self._work, self._settings, self._way = origin, work, settings, way
        self._folder, self._file = folder, file
        self._half = len(way.stream) // 2
        self.faults: list[dict[str, Any]] = []
        """Where the cache's own counts are not those of the origin."""

    def all(self) -> tuple[dict[str, tuple[Line, ...]], dict[str, float]]:
        """The lines of every strategy, and the thresholds of similarity."""
        lines = {name: self._known(name) or self._plain(name) for name in PLAIN}
        thresholds: dict[str, float] = {}
        self._rivals(lines, thresholds, ORDINARY, "", {"tuned": slice(None, self._half), "matched": self._second})
        self._rivals(lines, thresholds, PRODUCT, f"-{SPARING}", {"matched": self._second})
        return lines, thresholds

    @property
    def _second(self) -> slice:
        return slice(self._half, None)

    def _rivals(
        self,
        lines: dict[str, tuple[Line, ...]],
        thresholds: dict[str, float],
        manner: Manner,
        ending: str,
        parts: Mapping[str, slice],
    ) -> None:
        """Add the HTTP cache alone, and similarity before it, both asking the web in one manner."""
        never = lines[f"{HTTP}{ending}"] = self._known(f"{HTTP}{ending}") or self._http(f"{HTTP}{ending}", manner)
        for nearest in NEAREST:
            for how, part in parts.items():
                name = f"{SIMILARITY}-{nearest}-{how}{ending}"
                target = support_recall(lines[COVERAGE][part]) - MATCHED
                thresholds[name] = best_threshold(never[part], nearest, recall=target)
                known = self._known(name)
                lines[name] = known or self._similarity(name, nearest, thresholds[name], never, manner)

    def _known(self, name: str) -> tuple[Line, ...] | None:
        return None if self._file is None else self._file.whole(name, len(self._way.stream))

    def _keep(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        if self._file is not None:
            self._file.write(lines)
        return tuple(lines)

    def _plain(self, name: str) -> tuple[Line, ...]:
        strategy, manner = PLAIN[name]
        return self._keep(self._run(_Leg(name, strategy, manner, self._way.stream, self._folder / name)))

    def _http(self, name: str, manner: Manner) -> tuple[Line, ...]:
        """Similarity that nothing reaches: fills the cache, and notes what a hit would have served."""
        return self._keep([*self._first_half(name, manner), *self._from_half(name, "question", NEVER, manner)])

    def _similarity(
        self, name: str, nearest: Nearest, threshold: float, never: Sequence[Line], manner: Manner
    ) -> tuple[Line, ...]:
        """Similarity with its threshold, from what the first half left in the cache."""
        if not self._half_of(manner).exists():
            self._first_half(never[0].strategy, manner)
        first = [line.model_copy(update={"strategy": name}) for line in never[: self._half]]
        return self._keep([*first, *self._from_half(name, nearest, threshold, manner)])

    def _half_of(self, manner: Manner) -> Path:
        return self._folder / f"half-{'product' if manner == PRODUCT else 'ordinary'}"

    def _first_half(self, name: str, manner: Manner) -> list[Line]:
        def strategy(desk: Desk) -> Strategy:
            return Similarity(desk, nearest="question", threshold=NEVER)

        first = self._way.stream[: self._half]
        return self._run(_Leg(name, strategy, manner, first, self._half_of(manner)))

    def _from_half(self, name: str, nearest: Nearest, threshold: float, manner: Manner) -> list[Line]:
        earlier = [ask.record.question for ask in self._way.stream[: self._half]]

        def strategy(desk: Desk) -> Strategy:
            return Similarity(desk, nearest=nearest, threshold=threshold, earlier=earlier)

        shutil.copytree(self._half_of(manner), self._folder / name)
        return self._run(_Leg(name, strategy, manner, self._way.stream[self._half :], self._folder / name))

    def _run(self, leg: _Leg) -> list[Line]:
        caches = leg.name != "always"

        async def run(done: Callable[[], None]) -> list[Line]:
            clock = Clock()
            clock.now = self._way.moment(leg.asks[0])
            parts = (leg.folder, self._origin, self._work, clock, self._settings)
            async with Desk(*parts, caches=caches, manner=leg.manner) as desk:
                before = desk.counted()
                lines = await replay(
                    leg.name,
                    leg.strategy(desk),
                    desk,
                    origin=self._origin,
                    asks=leg.asks,
                    course=self._way,
                    done=done,
                )
                if caches:
                    self.faults += miscounts(leg.name, before, desk.counted(), self._origin.counts())
                return lines

        self._origin.reset()
        with counted(leg.name, total=len(leg.asks)) as done:
            return asyncio.run(run(done))
