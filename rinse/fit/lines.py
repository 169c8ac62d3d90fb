"""JSON lines from outside: numbered, bounded, and what is wrong with one in words."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import AfterValidator, ValidationError
from pydantic_core import PydanticCustomError, from_json

from retrieval.corpora.files import open_bytes
from retrieval.corpora.tally import Tally

from .errors import LineError

MAX_LINE_BYTES = 8 * 2**20
"""Longest line, unpacked."""
MAX_FILE_BYTES = 16 * 2**30
"""Largest file, unpacked; a small packed file may unpack to anything."""

_FAULTS = MappingProxyType(
    {
        "extra_forbidden": "is no field of this format",
        "missing": "is missing",
        "string_type": "must be a text in quotes",
        "model_type": "must be one object, {...}",
        "tuple_type": "must be a list, [...]",
        "int_type": "must be a whole number",
        "bool_type": "must be true or false",
    }
)
"""pydantic's kinds of faults in the words of somebody who writes JSON."""


_A_LIST = "this is a JSON list. Write one object a line, without brackets and commas around them."


def _filled(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "is blank; expected some text")
    return text


FilledText = Annotated[str, AfterValidator(_filled)]
"""A text of more than white space."""


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and content of every line that is not blank; the file is plain, gzip or bzip2, or a pipe.

    Raises:
        LineError: the file cannot be read, is damaged or blank, or it or a line of it is too large.
    """
    number = total = found = 0
    try:
        with open_bytes(path, Tally(total=0)) as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number, total = number + 1, total + len(line)
                if len(line) > MAX_LINE_BYTES:
                    raise LineError(f"{path}, line {number}: a line has at most {MAX_LINE_BYTES} bytes. Split it.")
                if total > MAX_FILE_BYTES:
                    raise LineError(f"{path}, line {number}: a file has at most {MAX_FILE_BYTES} bytes. Split it.")
                if line.strip():
                    found += 1
                    yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
    except (EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise LineError(f"Cannot read {path} ({error.strerror}).") from error
        raise LineError(
            f"{path}, line {number + 1}: the compressed data is damaged ({error}). Make the file again."
        ) from error
    if not found:
        raise LineError(f"{path} is empty.")


def fault(line: bytes, error: ValidationError) -> str:
    """What is wrong with a line, with a full stop; the first fault if there are several."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    what = _FAULTS.get(first["type"], first["msg"].removeprefix("Value error, "))
    if first["type"] == "value_error":  # a sentence of its own
        return f"{where}: {what}." if where else f"{what}."
    return _fault_of_json(line) or f"{where or 'the line'} {what}."


def _fault_of_json(line: bytes) -> str | None:
    """None: it is a JSON value other than a list."""
    if b"\0" in line:
        return "this is no text file, or not in UTF-8. Save it as JSON lines in UTF-8."
    try:
        line.decode()
    except UnicodeDecodeError:
        return "this is not UTF-8 text. Save the file in UTF-8."
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        if line.lstrip().startswith(b"["):
            return _A_LIST
        if _is_json_with_nan(line):
            return "JSON has no NaN and no Infinity. Leave the field out, or write a text in quotes."
        return f"Invalid JSON: {str(error).replace('at line 1 column', 'at column')}."
    return _A_LIST if isinstance(value, list) else None


def _is_json_with_nan(line: bytes) -> bool:
    try:
        from_json(line)
    except ValueError:
        return False
    return True
