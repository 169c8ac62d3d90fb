"""JSON lines: one document a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import CorpusError
from .document import Document, Section
from .files import DAMAGED, open_bytes
from .tally import ProblemKind, Tally

EXPECTED = 'one JSON object a line, {"id": ..., "title": ..., "text": ...}, with url, section and aliases optional'

_LINE_BYTES = 16 * 1024 * 1024
_PROBED_LINES = 10


class _Record(BaseModel):
    """A line. Other keys are allowed and ignored; numbers as ids are taken as text."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    id: str
    text: str
    title: str = ""
    section: str = ""
    url: str | None = None
    aliases: tuple[str, ...] = ()


def read(path: Path, tally: Tally) -> Iterator[Document]:
    """The documents of a JSON lines file, plain, .gz or .bz2, each with one section; memory: one line and the ids.

    A line that cannot be used is counted in `tally` and left out; an id that was seen before is counted, and its
    document kept.
    """
    seen: set[int] = set()
    for number, line in _lines(path, tally):
        where = f"{path.name}, line {number}"
        record = _parsed(line, where, tally)
        if record is None:
            continue
        if not record.text.strip():
            tally.problem(ProblemKind.EMPTY_TEXT, where, f"The text of {record.id!r} is blank.")
            continue
        if hash(record.id) in seen:
            tally.problem(ProblemKind.REPEATED_ID, where, f"The id {record.id!r} occurred before; both are kept.")
        seen.add(hash(record.id))
        yield Document(
            id=record.id,
            title=record.title,
            url=record.url,
            sections=(Section(title=record.section, text=record.text),),
            aliases=record.aliases,
        )


def probe(path: Path) -> None:
    """Refuse a file that is no JSON lines file at all.

    Raises:
        CorpusError: none of its first lines is a record; names the first line and what is wrong with it.
    """
    trial = Tally(total=path.stat().st_size)
    for count, (number, line) in enumerate(_lines(path, trial), start=1):
        if _parsed(line, f"line {number}", trial) is not None:
            return
        if count == _PROBED_LINES:
            break
    if trial.examples:
        first = trial.examples[0]
        raise CorpusError(
            f"{path}, {first.where}: {first.detail} Expected {EXPECTED}. "
            "Convert the file, or give another format: a folder of .txt, .md and .html files, or a MediaWiki dump."
        )


def _lines(path: Path, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Line numbers from 1 and the lines that are not blank; lines above the limit are counted and left out."""
    number = 0
    try:
        with open_bytes(path, tally) as stream:
            while line := stream.readline(_LINE_BYTES):
                number += 1
                if len(line) == _LINE_BYTES and not line.endswith(b"\n"):
                    limit = f"The line is longer than {_LINE_BYTES >> 20} MiB."
                    tally.problem(ProblemKind.TOO_LARGE, f"{path.name}, line {number}", limit)
                    while len(line) == _LINE_BYTES and not line.endswith(b"\n"):
                        line = stream.readline(_LINE_BYTES)
                    continue
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield number, line
    except DAMAGED as error:
        tally.problem(ProblemKind.TRUNCATED, f"{path.name}, after line {number}", f"The file is damaged: {error}.")


def _parsed(line: bytes, where: str, tally: Tally) -> _Record | None:
    try:
        return _Record.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        tally.problem(ProblemKind.MISSING_FIELD, where, f"The record has no {field!r}.")
    elif first["type"] == "json_invalid":
        tally.problem(ProblemKind.BROKEN_RECORD, where, f"{first['msg']}.")
    else:
        subject = f"{field!r}: " if field else ""
        tally.problem(ProblemKind.WRONG_TYPE, where, f"{subject}{first['msg']}.")
    return None
