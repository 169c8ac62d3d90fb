"""Which dataset a file is, told from its content."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from pydantic_core import from_json

from .document import stream_entries
from .lines import Fault, open_binary, stream_lines

Format: TypeAlias = Literal["normalised", "hotpotqa", "2wikimultihopqa", "musique", "squad", "iirc"]

UNDERSTOOD: Mapping[Format, str] = {
    "hotpotqa": "HotpotQA, distractor or fullwiki (a JSON array; _id, question, context)",
    "2wikimultihopqa": "2WikiMultiHopQA (a JSON array; _id, question, context, evidences)",
    "musique": "MuSiQue, ans or full (JSON lines; id, question, paragraphs)",
    "squad": "SQuAD 2.0 or 1.1 (a JSON object; data, paragraphs, qas)",
    "iirc": "IIRC (a JSON array; title, text, questions)",
    "normalised": "our own JSON lines (id, dataset, question, passages)",
}
"""Each format with the keys by which it is known."""

_LOOK_AT = 100
"""Entries that are looked at: the first may be broken."""


def recognise(path: Path) -> Format | None:
    """The format of a file, plain or gzip, whatever its name; None = none that is understood.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    first = _first_sign(path)
    if first == b"[":
        entries, known = stream_entries(path), _of_array
    else:
        entries, known = stream_entries(path, "data"), _of_articles
    for _, entry in islice(entries, _LOOK_AT):
        if isinstance(entry, dict) and (found := known(entry)):
            return found
    return next(filter(None, map(_of_line, _lines(path))), None)


def _first_sign(path: Path) -> bytes:
    try:
        with open_binary(path) as file:
            return file.read(1024).removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return b""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for _, line in islice(stream_lines(path), _LOOK_AT):
        if not isinstance(line, Fault):
            try:
                entry = from_json(line)
            except ValueError:
                continue
            if isinstance(entry, dict):
                yield entry


def _of_array(entry: dict[str, Any]) -> Format | None:
    if {"title", "text", "questions"} <= entry.keys():
        return "iirc"
    if {"_id", "question", "context"} <= entry.keys():
        return "2wikimultihopqa" if "evidences" in entry else "hotpotqa"
    return None


def _of_articles(entry: dict[str, Any]) -> Format | None:
    return "squad" if {"title", "paragraphs"} <= entry.keys() else None


def _of_line(entry: dict[str, Any]) -> Format | None:
    if {"id", "question", "paragraphs"} <= entry.keys():
        return "musique"
    return "normalised" if {"id", "question", "dataset"} <= entry.keys() else None
