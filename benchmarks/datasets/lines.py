"""Lines of files that came from outside, and what is said about those that cannot be used."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from pydantic import ValidationError

from ..errors import DatasetError

MAX_LINE_BYTES = 8 * 2**20
"""Longest line, unpacked. A longer one is a fault: it is skipped and counted, never held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something in a file that could not be used. Faults are counted and reported, never dropped."""

    file: str
    """Name of the file, without its folder."""
    line: int
    """1 = the first line; of a file that is one JSON document, 1 = its first entry (an article of SQuAD, a passage
    of IIRC). 0 = no single place."""
    kind: str
    """`not_json`, `bad_fields`, `no_support`, `no_label`, `repeated_id`, `line_too_long`, `entry_too_large`,
    `file_damaged`."""
    detail: str
    """For people: what was found, what was expected."""


def stream_lines(path: Path) -> Iterator[tuple[int, bytes | Fault]]:
    """Number and content of every line that is not blank; memory is bounded by `MAX_LINE_BYTES`.

    Gzip is recognised by its first bytes. Damage ends the file with a `Fault`.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    number = 0
    try:
        with open_binary(path) as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    _skip_line(file, line)
                    detail = f"The line is longer than {MAX_LINE_BYTES} bytes."
                    yield number, Fault(file=path.name, line=number, kind="line_too_long", detail=detail)
                elif line.strip():
                    yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        detail = f"The compressed data ends here ({error}); what follows is lost. Fetch the file again."
        yield number + 1, Fault(file=path.name, line=number + 1, kind="file_damaged", detail=detail)


def open_binary(path: Path) -> IO[bytes]:
    """The file's bytes, unpacked if they are gzip.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")
    except OSError as error:
        raise DatasetError(f"Cannot read {path} ({error.strerror}). Expected a file of JSON.") from error


def fields_fault(error: ValidationError, *, file: str, line: int, inside: str = "") -> Fault:
    """The first thing that was wrong with a record, as a `Fault`; `inside` says where on the line it stands."""
    first = error.errors(include_url=False, include_input=False)[0]
    kind = "not_json" if first["type"] == "json_invalid" else "bad_fields"
    where = ".".join(str(part) for part in first["loc"])
    detail = ": ".join(part for part in (inside, where, first["msg"]) if part)
    return Fault(file=file, line=line, kind=kind, detail=detail)


def _skip_line(file: IO[bytes], line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = file.readline(MAX_LINE_BYTES)
