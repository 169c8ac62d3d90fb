"""The record of a simulation: one JSON line a question and strategy, written when the strategy has finished."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from ..runfile import HeadedLines


class Line(BaseModel):
    """What one strategy did with one question, judged."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    type: Literal["ask"] = "ask"
    strategy: str
    number: int
    """Place in the stream."""
    kind: Literal["repeat", "related", "new"]
    dataset: str
    cluster: str
    """Questions of the stream that hang together, as one; what is resampled."""
    answerable: bool
    hit: bool
    """Served as complete without asking the web."""
    needs: int
    """Pieces of annotated support; 0 for an unanswerable question."""
    held: int
    """Of these, in what was served."""
    complete_before: bool | None
    """Whether pages that the cache might serve held all support before; None: no support, or no cache."""
    served: int
    """Passages."""
    stale: int
    """Of these, from a page that its origin had revised since."""
    pages: int
    """Requests for pages that reached the origin, conditional ones and errors included."""
    not_modified: int
    refused: int
    searches: int
    robots: int
    bytes: int
    """That the origin sent in bodies of pages."""
    calls: int
    """Of tiers."""
    wall_seconds: float
    spared_seconds: float
    """What the strategy would have taken longer alone, see `SharedWork`."""
    verdict: Literal["hit", "partial", "miss"] | None = None
    """Of the product, where the cache was asked."""
    nearest_question: float | None = None
    nearest_passage: float | None = None
    would_hold: int | None = None
    """Pieces of support in what a hit would have served; only of similarity."""

    @property
    def seconds(self) -> float:
        """What the asker would have waited."""
        return self.wall_seconds + self.spared_seconds

    @property
    def false_hit(self) -> bool:
        """Served as complete although annotated support was missing; never of an unanswerable question."""
        return self.answerable and self.hit and self.held < self.needs

    @property
    def false_miss(self) -> bool:
        """Asked the web although the cache held all annotated support."""
        return not self.hit and self.complete_before is True


class CoverageFile(HeadedLines[Line]):
    """Lines of whole strategies; see `HeadedLines`. The first line of a strategy and question counts."""

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.lines: dict[str, dict[int, Line]] = {}
        super().__init__(path, depends_on)

    def read(self, line: bytes) -> Line:
        """One line."""
        return Line.model_validate_json(line)

    def take(self, record: Line, number: int) -> None:
        """Keep it."""
        self.lines.setdefault(record.strategy, {}).setdefault(record.number, record)

    def whole(self, strategy: str, length: int) -> tuple[Line, ...] | None:
        """All lines of a strategy by number; None unless it has finished."""
        known = self.lines.get(strategy, {})
        if known.keys() != set(range(length)):
            return None
        return tuple(known[number] for number in range(length))

    def write(self, lines: Sequence[Line]) -> None:
        """Append the lines of a strategy."""
        for line in lines:
            self.append(line)
