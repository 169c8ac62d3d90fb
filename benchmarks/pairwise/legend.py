"""Who stands in the table: what each scorer reads and runs on, and what the paper prints for its method."""

from __future__ import annotations

from collections.abc import Iterable

from ..output import Row
from .published import TABLE_4
from .systems import System

FAIR_READING = (
    "A backbone of 135M parameters shows that a method runs, and what it costs here. It does not show what the "
    "method reaches: the paper ran it on 0.8B to 7B, and its figures stand beside ours for that reason. Its tests "
    "and records are others than ours, so a difference between the two measures more than the backbone."
)
"""Stands wherever our figures stand beside the paper's."""
RUN, NOT_RUN = "run", "not_run_here"


def system_rows(systems: Iterable[System], absent: Iterable[System]) -> list[Row]:
    """A row of kind `system` for each scorer: those that ran, then those whose weights are not on this machine."""
    return [*(_row(one, RUN) for one in systems), *(_row(one, NOT_RUN) for one in absent)]


def _row(one: System, status: str) -> Row:
    row: Row = {
        "kind": "system",
        "system": one.name,
        "status": status,
        "title": one.title or one.name,
        "source": one.source or None,
        "reads": one.reads,
        "backbone": one.backbone,
        "cost": one.cost or None,
        "missing": ", ".join(one.missing) or None,
    }
    printed = TABLE_4.get(one.name.partition("@")[0])
    return row if printed is None else row | printed.row()
