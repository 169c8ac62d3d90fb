"""What the readers said of every record, kept in a file: a line a group, written as the group completes."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from retrieval import EvidenceSet, Passage

from ..errors import ScoreError
from ..paper.outputs import ReaderOutputs
from .groups import TrainingGroup
from .padding import Padding

MAX_LINE_BYTES = 256 * 2**20
"""Longest line of the file: a group of many sides, padded to many sizes, of a wide model."""


class Reads(Protocol):
    """What `PaperReaders` does."""

    def read(self, question: str, evidence: EvidenceSet) -> ReaderOutputs:
        """Read question and set."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A side of a group, padded or not."""

    side: int
    """Its place in the group."""
    added: int
    """Passages of other questions that were added; 0 = the side itself."""
    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the readers said of one record."""

    side: int
    added: int
    features: NDArray[np.float64]
    """Shape `(n_features,)`."""
    margin: float
    state: NDArray[np.float32]
    """Shape `(dims,)`."""
    passages: int
    """|E|."""


def records(group: TrainingGroup, padding: Padding, sizes: Sequence[int]) -> list[Record]:
    """The group's sides, each also padded by every one of `sizes` passages that the family can give."""
    drawn = padding.draw(group, max(sizes, default=0))
    counts = [0, *(size for size in sorted(set(sizes)) if 0 < size <= len(drawn))]
    return [
        Record(side=place, added=count, question=side.question, passages=(*side.passages, *drawn[:count]))
        for place, side in enumerate(group.sides)
        for count in counts
    ]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    class Entry(BaseModel):
        """One record."""

        model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
        side: Annotated[int, Field(ge=0)]
        added: Annotated[int, Field(ge=0)]
        features: tuple[float, ...]
        margin: float
        state: str
        """float32, little endian, base64."""
        passages: Annotated[int, Field(ge=0)]

    format: Literal["sufficit-readings-1"] = "sufficit-readings-1"
    key: str
    records: tuple[Entry, ...]
    failed: Annotated[int, Field(ge=0)] = 0
    """Records for which a reader gave nothing usable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupReadings:
    """All records of one group."""

    readings: tuple[Reading, ...]
    failed: int
    """Records for which a reader gave nothing usable; they are not among the readings."""


class ReadingStore:
    """The file. A line that a crash cut off is dropped when it is opened.

    Args:
        path: Made if absent.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, GroupReadings] = {}
        for line in whole_lines(path):
            try:
                found = _Line.model_validate_json(line)
                self._known[found.key] = _readings(found)
            except ValueError:
                continue  # damaged or of another version: the group is read again

    def get(self, key: str) -> GroupReadings | None:
        """What is known of a group."""
        return self._known.get(key)

    def read(self, key: str, wanted: Sequence[Record], readers: Reads) -> GroupReadings:
        """Read the records, unless they are known, and keep the result."""
        known = self._known.get(key)
        if known is None:
            line = _read(key, wanted, readers)
            with self._path.open("ab") as file:
                file.write(line.model_dump_json().encode() + b"\n")
            known = self._known[key] = _readings(line)
        return known


def readings_key(readers: str, wanted: Sequence[Record]) -> str:
    """sha256 (hex) of the readers' content and all that they see of these records."""
    seen = [
        [one.side, one.added, one.question, [[p.id, p.title, p.section, p.source_id] for p in one.passages]]
        for one in wanted
    ]
    return hashlib.sha256(json.dumps([readers, seen]).encode()).hexdigest()


def _read(key: str, wanted: Sequence[Record], readers: Reads) -> _Line:
    entries, failed = [], 0
    for one in wanted:
        try:
            outputs = readers.read(one.question, EvidenceSet.of(one.passages))
        except ScoreError:
            failed += 1
            continue
        entries.append(
            _Line.Entry(
                side=one.side,
                added=one.added,
                features=tuple(outputs.features.tolist()),
                margin=float(outputs.margin),
                state=base64.b64encode(outputs.state.astype("<f4").tobytes()).decode(),
                passages=outputs.passages,
            )
        )
    return _Line(key=key, records=tuple(entries), failed=failed)


def _readings(line: _Line) -> GroupReadings:
    return GroupReadings(
        readings=tuple(
            Reading(
                side=entry.side,
                added=entry.added,
                features=np.asarray(entry.features, dtype=np.float64),
                margin=entry.margin,
                state=np.frombuffer(base64.b64decode(entry.state, validate=True), dtype="<f4").astype(np.float32),
                passages=entry.passages,
            )
            for entry in line.records
        ),
        failed=line.failed,
    )


def whole_lines(path: Path) -> Iterator[bytes]:
    """Every line that ends; what follows the last end of a line is cut off."""
    path.touch()
    end = 0
    with path.open("rb") as file:
        while (line := file.readline(MAX_LINE_BYTES)).endswith(b"\n"):
            end += len(line)
            yield line
    with path.open("ab") as file:
        file.truncate(end)
