"""Entries of a file that is one JSON document: read one by one, whatever its size."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import ijson

from .lines import Fault, open_binary

MAX_ENTRY_BYTES = 32 * 2**20
"""Longest entry, unpacked. Memory is bounded by it; a longer one ends the file with a fault."""


MAX_DEPTH = 64
"""Deepest nesting of a document; the official files need nine levels."""

_OPENING = frozenset({"start_map", "start_array"})
_CLOSING = frozenset({"end_map", "end_array"})


def stream_entries(path: Path, key: str | None = None) -> Iterator[tuple[int, Any | Fault]]:
    """Number (from 1) and content of every entry of an array: the whole document, or what its `key` holds.

    A document that is cut off or broken yields what came before, then one `Fault`.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    number = 0
    with open_binary(path) as file:
        guarded = _Guarded(file)
        try:
            for entry in _entries(ijson.basic_parse(guarded, use_float=True), key):
                number += 1
                guarded.allow_another_entry()
                yield number, entry
        except _TooLargeError as error:
            detail = f"{error}; neither it nor what follows is read."
            yield number + 1, Fault(file=path.name, line=number + 1, kind="entry_too_large", detail=detail)
        except (ijson.JSONError, UnicodeDecodeError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            reason = " ".join(str(error).split())[:100]
            detail = f"The document ends or breaks here ({reason}); what follows is lost. Fetch the file again."
            yield number + 1, Fault(file=path.name, line=number + 1, kind="file_damaged", detail=detail)


def _entries(events: Iterable[tuple[str, Any]], key: str | None) -> Iterator[Any]:
    """Of the array that is the document (`key` None) or that stands under the key of the outermost object.

    `ijson.items` does the same, but the memory of its paths grows with the square of the depth.
    """
    level = 1 if key is None else 2
    depth, reading, latest = 0, False, None
    builder = ijson.ObjectBuilder()
    for event, value in events:
        depth -= event in _CLOSING
        if depth < level:
            latest = value if event == "map_key" else latest
            reading = event == "start_array" and depth == level - 1 and latest == key
        elif reading:
            if depth == level and event not in _CLOSING:
                builder = ijson.ObjectBuilder()
            builder.event(event, value)
            if depth == level and event not in _OPENING:
                yield builder.value
        depth += event in _OPENING
        if depth > MAX_DEPTH:
            raise _TooLargeError(f"The entry is nested deeper than {MAX_DEPTH} levels")


class _TooLargeError(Exception):
    """An entry outgrew a bound."""


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
            raise _TooLargeError(f"The entry is longer than {MAX_ENTRY_BYTES} bytes")
        return data
