"""Files of training pairs: the benchmark's contrasts, and one JSON line a pair for everybody else.

A pair of two passage sets, or of two questions about one set; what stands in brackets may be left out:

    {"question": "...", "sufficient": [PASSAGE, ...], "insufficient": [PASSAGE, ...], ["answers": [...]]}
    {"question": "...", "insufficient_question": "...", "passages": [PASSAGE, ...], ["answers": [...]]}

A passage is a string or `{"text": "...", ["title": "..."], ["source_id": "..."]}`. Both forms take `"group"`
(pairs that share one weigh together as one) and `"family"` (families weigh the same; `--without` names one).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from retrieval import Passage

from .errors import LineError, PairsError
from .groups import TrainingGroup, TrainingSide
from .lines import FilledText, fault, numbered_lines

CONTRASTS = "sufficit-contrast-1"
"""Marks a line of the benchmark's format."""
MAX_PASSAGES = 1000
"""Passages of a side."""
FAMILY_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
"""A family's name is also that of a folder."""
FAMILY = "own"
"""Family of pairs that name none."""


def _family(name: str) -> str:
    if not re.fullmatch(FAMILY_PATTERN, name):
        raise PydanticCustomError(
            "family", "must be letters, digits, '.', '_' or '-', at most 100, a letter or digit first"
        )
    return name


_Name = Annotated[FilledText, Field(max_length=200)]
_Family = Annotated[str, AfterValidator(_family)]
_EXPECTED = (
    'Expected a pair such as {"question": "...", "sufficient": ["..."], "insufficient": ["..."]}, see docs/fit.md.'
)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


class _PassageLine(_Strict):
    text: FilledText
    title: str = ""
    source_id: str = ""


def _plain_text(value: object) -> object:
    if not isinstance(value, str | dict):
        raise PydanticCustomError("passage", 'must be a text in quotes or {"text": "..."}')
    return {"text": value} if isinstance(value, str) else value


_Passages = Annotated[
    tuple[Annotated[_PassageLine, BeforeValidator(_plain_text)], ...], Field(max_length=MAX_PASSAGES)
]


class _PairLine(_Strict):
    question: FilledText
    sufficient: _Passages | None = None
    insufficient: _Passages | None = None
    insufficient_question: FilledText | None = None
    passages: _Passages | None = None
    answers: tuple[FilledText, ...] = ()
    group: _Name | None = None
    family: _Family = FAMILY

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        sets = (self.sufficient, self.insufficient)
        swap = (self.insufficient_question, self.passages)
        if not (None not in sets and swap == (None, None)) and not (None not in swap and sets == (None, None)):
            raise ValueError(
                "a pair has either 'sufficient' and 'insufficient', or 'insufficient_question' and 'passages'"
            )
        if not (self.sufficient or self.passages):
            raise ValueError("the set that suffices needs at least one passage")
        return self

    def training_group(self, fallback: str) -> TrainingGroup:
        good = _side(self.question, self.sufficient if self.passages is None else self.passages, self.answers)
        other = self.insufficient_question or self.question
        answers = self.answers if self.passages is None else ()
        bad = _side(other, self.insufficient if self.passages is None else self.passages, answers, label=False)
        return TrainingGroup(family=self.family, group=self.group or fallback, sides=(good, bad))


class _Contrast(_Strict):
    """Of the benchmark's line what fitting needs; the rest belongs to the benchmark."""

    model_config = ConfigDict(extra="ignore")

    class Piece(_Strict):
        """A passage."""

        model_config = ConfigDict(extra="ignore")
        text: FilledText
        title: str = ""
        section: str = ""
        source_id: str = ""
        url: str | None = None

    class Side(_Strict):
        """A side; passages by place."""

        model_config = ConfigDict(extra="ignore")
        question: FilledText
        answers: tuple[str, ...] = ()
        sufficient: bool
        passages: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(max_length=MAX_PASSAGES)]
        support: tuple[Annotated[int, Field(ge=0)], ...] = ()

    format: Literal["sufficit-contrast-1"]
    dataset: _Family
    construction: Annotated[str, Field(max_length=200)] = ""
    group: Annotated[str, Field(min_length=1)]
    passages: tuple[Piece, ...]
    sides: tuple[Side, ...]

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        if {side.sufficient for side in self.sides} != {True, False}:
            raise ValueError("a contrast needs a sufficient and an insufficient side")
        last = max((place for side in self.sides for place in (*side.passages, *side.support)), default=0)
        if last >= len(self.passages):
            raise ValueError(f"a side names passage {last}, the line holds {len(self.passages)} from 0")
        return self

    def training_group(self) -> TrainingGroup:
        pieces = [Passage(**piece.model_dump()) for piece in self.passages]
        sides = tuple(
            TrainingSide(
                question=side.question,
                passages=tuple(pieces[place] for place in dict.fromkeys(side.passages)),
                sufficient=side.sufficient,
                answers=tuple(answer for answer in side.answers if answer.strip()),
                support=tuple(pieces[place].id for place in dict.fromkeys(side.support)),
            )
            for side in self.sides
        )
        return TrainingGroup(family=self.dataset, construction=self.construction, group=self.group, sides=sides)


def stream_pairs(path: Path) -> Iterator[TrainingGroup]:
    """Read a file of training pairs, plain or gzip, one line at a time; each line says which format it has.

    The family of a line of the benchmark is its dataset.

    Raises:
        PairsError: the file cannot be read, or a line cannot be used. The first such line ends the reading: pairs
            that were silently left out would change what is fitted.
    """
    try:
        for number, line in numbered_lines(path):
            yield _group(line, path, number)
    except LineError as error:
        raise PairsError(f"{error} {_EXPECTED}") from error


def _group(line: bytes, path: Path, number: int) -> TrainingGroup:
    try:
        if _is_contrast(line):
            return _Contrast.model_validate_json(line).training_group()
        return _PairLine.model_validate_json(line).training_group(f"{path.name}:{number}")
    except ValidationError as error:
        raise LineError(f"{path}, line {number}: {fault(line, error)}") from error


def _is_contrast(line: bytes) -> bool:
    if CONTRASTS.encode() not in line:
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("format") == CONTRASTS


def _side(
    question: str,
    passages: tuple[_PassageLine, ...] | None,
    answers: tuple[str, ...],
    *,
    label: bool = True,
) -> TrainingSide:
    found = tuple(Passage(**one.model_dump()) for one in passages or ())
    return TrainingSide(question=question, passages=found, sufficient=label, answers=answers)
