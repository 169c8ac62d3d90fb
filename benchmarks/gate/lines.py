"""The record of a run: one JSON line a reply and one a score, so that a stopped run is taken up again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter

from ..runfile import HeadedLines

Seconds = Annotated[FiniteFloat, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    record: str
    """Identifies question and passages by content."""
    fingerprint: str
    """Of the generator or the scorer."""
    seconds: Seconds


class Reply(_Strict):
    """What a generator said about a record; it serves with and without a gate."""

    type: Literal["reply"] = "reply"
    text: str


class Score(_Strict):
    """What the gate's scorer says of a record that it has seen nothing of before."""

    type: Literal["score"] = "score"
    score: FiniteFloat


Line: TypeAlias = Reply | Score
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="type")])


class GateFile(HeadedLines[Line]):
    """Replies and scores by record and fingerprint; see `HeadedLines`. The first line of each counts."""

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.replies: dict[tuple[str, str], Reply] = {}
        self.scores: dict[tuple[str, str], Score] = {}
        super().__init__(path, depends_on)

    def read(self, line: bytes) -> Line:
        """A reply or a score."""
        return _LINE.validate_json(line)

    def take(self, record: Line, number: int) -> None:
        """Keep it."""
        del number  # a repeated line does no harm: the first one counts
        if isinstance(record, Reply):
            self.replies.setdefault((record.record, record.fingerprint), record)
        else:
            self.scores.setdefault((record.record, record.fingerprint), record)

    def write(self, record: Line) -> None:
        """Append it and keep it."""
        self.append(record)
        self.take(record, 0)
