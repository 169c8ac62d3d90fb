"""Figures of rows as people write them: a true minus, an interval in brackets, a dash for what is undefined."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .page import Cell

NONE = "–"
"""What an undefined figure is shown as."""
_MINUS = "\N{MINUS SIGN}"


def number(row: Mapping[str, Any] | None, name: str) -> float | None:
    """A figure of a row; None where it is undefined, not finite, or not there."""
    value = None if row is None else row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def digits(value: float | None, places: int = 3, *, percent: bool = False) -> str:
    """A figure as it is shown: no minus before a zero, a dash where it is undefined."""
    if value is None:
        return NONE
    text = f"{value * 100 if percent else value:.{places}f}"
    return text.replace("-", _MINUS) if float(text) else text.lstrip("-")


def interval(row: Mapping[str, Any] | None, name: str, places: int = 3, *, percent: bool = False) -> str:
    """The interval beside a figure; empty where it is undefined."""
    ends = [number(row, f"{name}_{end}") for end in ("lo", "hi")]
    if None in ends:
        return ""
    return "[" + ", ".join(digits(end, places, percent=percent) for end in ends) + "]"


def cell(
    row: Mapping[str, Any] | None, name: str, places: int = 3, *, percent: bool = False, best: bool = False
) -> Cell:
    """A figure of a row with its interval."""
    return Cell(
        text=digits(number(row, name), places, percent=percent),
        interval=interval(row, name, places, percent=percent),
        best=best,
    )
