"""The file of passages that `sufficit score` takes: JSON lines, one passage each."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

from retrieval import EvidenceSet, Passage
from rinse.fit.errors import LineError
from rinse.fit.lines import FilledText, fault, numbered_lines
from rinse.fit.pairs import MAX_PASSAGES

from .errors import PassagesError

EXPECTED = (
    'Expected one passage a line, {"text": "..."} with title, section, source_id and url optional, '
    "or only its text in quotes."
)


class _Line(BaseModel):
    """Other fields are let be: lines of a corpus are passages too, and evidence of `sufficit ask --json`."""

    model_config = ConfigDict(frozen=True, strict=True)

    text: FilledText
    title: str = ""
    section: str = ""
    url: str | None = None
    source_id: str = ""
    id: str | int = ""

    def passage(self) -> Passage:
        return Passage(
            text=self.text,
            title=self.title,
            section=self.section,
            url=self.url,
            source_id=self.source_id or str(self.id),
        )


def _as_object(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


_LINE: TypeAdapter[_Line] = TypeAdapter(Annotated[_Line, BeforeValidator(_as_object)])


def read_passages(path: Path) -> EvidenceSet:
    """The passages of a file, plain, gzip or bzip2; one that stands there twice is in the set once.

    `id` stands for `source_id` where that is missing: passages of one source are chunks of one document.

    Raises:
        PassagesError: the file cannot be read, is empty, has more passages than `rinse.fit.pairs.MAX_PASSAGES`, or
            a line is none. One that was left out would change the score, so the first such line ends the reading.
    """
    try:
        lines = islice(numbered_lines(path), MAX_PASSAGES + 1)
        passages = [_passage(line, f"{path}, line {number}") for number, line in lines]
    except LineError as error:
        raise PassagesError(f"{error} {EXPECTED}") from error
    if len(passages) > MAX_PASSAGES:
        raise PassagesError(f"{path}: a set has at most {MAX_PASSAGES} passages. Give fewer. {EXPECTED}")
    return EvidenceSet.of(passages)


def _passage(line: bytes, where: str) -> Passage:
    try:
        return _LINE.validate_json(line).passage()
    except ValidationError as error:
        raise LineError(f"{where}: {fault(line, error)}") from error
