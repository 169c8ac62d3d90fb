"""Entries of a file that is one JSON document: read one by one, whatever its size."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import ijson

from .lines import Fault, open_binary

MAX_ENTRY_BYTES = 32 * 2**20
"""Longest entry, unpacked. Memory is bounded by it; a longer one ends the file with a fault."""


def stream_entries(path: Path, prefix: str) -> Iterator[tuple[int, Any | Fault]]:
    """Number (from 1) and content of every entry of the array at `prefix`, as `ijson` writes it.

    `item` is the array that is the whole document, `data.item` the one under the key `data`. A document that is
    cut off or broken yields what came before, then one `Fault`.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    number = 0
    with open_binary(path) as file:
        guarded = _Guarded(file)
        try:
            for entry in ijson.items(guarded, prefix, use_float=True):
                number += 1
                guarded.allow_another_entry()
                yield number, entry
        except _TooLongError:
            detail = f"The entry is longer than {MAX_ENTRY_BYTES} bytes; neither it nor what follows is read."
            yield number + 1, Fault(file=path.name, line=number + 1, kind="line_too_long", detail=detail)
        except (ijson.JSONError, UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            reason = " ".join(str(error).split())[:100]
            detail = f"The document ends or breaks here ({reason}); what follows is lost. Fetch the file again."
            yield number + 1, Fault(file=path.name, line=number + 1, kind="file_damaged", detail=detail)


class _TooLongError(Exception):
    """An entry outgrew its bound."""


class _Guarded:
    """The file as the parser reads it: no byte order mark, and no more than one entry may need."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = MAX_ENTRY_BYTES
        self._begun = False

    def allow_another_entry(self) -> None:
        self._left = MAX_ENTRY_BYTES

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if data and not self._begun:
            self._begun = True
            data = data.removeprefix(codecs.BOM_UTF8)
        self._left -= len(data)
        if self._left < 0:
            raise _TooLongError
        return data
