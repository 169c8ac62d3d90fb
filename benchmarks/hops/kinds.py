"""Types of questions, as the datasets name them: `bridge` and `comparison`, `2hop`, `compositional` and so on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ValidationError

from ..datasets.formats import recognise
from ..datasets.lines import Fault, stream_lines

Kinds: TypeAlias = dict[tuple[str, str], str]
"""The type by dataset and id."""


class _Meta(BaseModel):
    type: str = ""


class _Row(BaseModel):
    id: str
    dataset: str
    kind: str = ""
    meta: _Meta = _Meta()


def load_kinds(paths: Iterable[Path]) -> Kinds:
    """The types that files of JSON lines tell, under `kind` or `meta.type`; questions without one are left out.

    Of two lines with the same dataset and id the first one counts. Official files are not read.

    Raises:
        DatasetError: a file cannot be opened.
    """
    found: Kinds = {}
    for path in paths:
        if recognise(path) not in {None, "normalised"}:
            continue
        for _, line in stream_lines(path):
            row = None if isinstance(line, Fault) else _parsed(line)
            kind = (row.kind or row.meta.type) if row else ""
            if row and kind:
                found.setdefault((row.dataset, row.id), kind)
    return found


def _parsed(line: bytes) -> _Row | None:
    try:
        return _Row.model_validate_json(line)
    except ValidationError:
        return None  # whoever reads the questions reports the line
