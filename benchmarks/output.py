"""What a benchmark prints: one JSON object, or the same figures as a table for people."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .environment import machine, versions

WIDE = 10
"""Columns that fit a terminal."""

UNSEEN = 220
"""Columns of a table that goes to a file: nobody's terminal limits it."""

Row: TypeAlias = dict[str, str | int | float | bool | None]
"""One flat row: keys that say what was measured, then figures. Undefined is None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The outcome of one benchmark."""

    benchmark: str
    """Its name on the command line."""
    settings: Mapping[str, Any]
    """All that was chosen, so that the command can be repeated."""
    seed: int
    rows: Sequence[Row]
    failures: Sequence[Mapping[str, Any]] = ()
    """What could not be measured, each with the reason."""
    versions: Mapping[str, str | None] = field(default_factory=versions)
    machine: Mapping[str, Any] = field(default_factory=machine)


def report_json(report: Report) -> str:
    """The report as one JSON object on one line. A number that is not finite becomes null (case E02)."""
    return json.dumps(_plain(dataclasses.asdict(report)), ensure_ascii=False, allow_nan=False)


def emit(report: Report, *, as_json: bool) -> None:
    """Print the report on stdout: the JSON object and nothing else, or a table."""
    if as_json:
        sys.stdout.write(report_json(report) + "\n")
        return
    console = Console() if sys.stdout.isatty() else Console(width=UNSEEN)
    for table in _tables(report):
        console.print(table)
    for failure in report.failures:
        console.print("failure:", ", ".join(f"{key} {value}" for key, value in failure.items()), markup=False)


def _tables(report: Report) -> Sequence[Table]:
    if report.benchmark == "pairwise":
        from .pairwise.table import pairwise_tables

        return pairwise_tables(report.rows)
    if report.benchmark == "replay":
        from .stopping.table import replay_tables

        return replay_tables(report.rows, report.settings["left_out"])
    if report.benchmark == "gate":
        from .gate.table import gate_tables

        return gate_tables(report.rows)
    return [report_table(report)]


def report_table(report: Report) -> Table:
    """A line for each row, or for each figure where these are many and rows are few."""
    names = list(dict.fromkeys(name for row in report.rows for name in row))
    by_figure = len(report.rows) < len(names) > WIDE
    table = Table(title=f"{report.benchmark}, seed {report.seed}", show_header=not by_figure)
    if by_figure:
        for name in names:
            table.add_row(name, *(_cell(row.get(name)) for row in report.rows))
        return table
    for name in names:
        table.add_column(name)
    for row in report.rows:
        table.add_row(*(_cell(row.get(name)) for name in names))
    return table


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else escape(str(value))
