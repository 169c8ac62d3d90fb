"""What the readers share: an entry against its model, and what the file's name tells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..lines import Fault, fields_fault

Row = TypeVar("Row", bound=BaseModel)

_SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}


def split_of(path: Path) -> str:
    """`train`, `dev` or `test` if the file's name says so, else `unknown`: no file says it inside.

    >>> split_of(Path("musique_ans_v1.0_dev.jsonl"))
    'dev'
    """
    words = re.split(r"[^a-z]+", path.name.lower())
    return next((_SPLITS[word] for word in words if word in _SPLITS), "unknown")


def parsed(model: type[Row], entry: object, *, file: str, line: int, inside: str = "") -> Row | Fault:
    """The entry as the model has it, or what is wrong with it; `inside` says where in the entry it stands."""
    try:
        return model.model_validate(entry)
    except ValidationError as error:
        return fields_fault(error, file=file, line=line, inside=inside)


def unlabelled(name: str, *, file: str, line: int, reason: str) -> Fault:
    """A question whose label its authors keep to themselves or have withdrawn."""
    detail = f"{name!r} {reason}: no evidence can be judged against it."
    return Fault(file=file, line=line, kind="no_label", detail=detail)
