"""The rows of `gate` as tables for people: tests down, what the gate changes across."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..output import Row


def gate_tables(rows: Sequence[Row]) -> list[Table]:
    """One table for each generator, then what to expect of the thresholds."""
    judged = [row for row in rows if row.get("generator") is not None]
    training = [row for row in rows if row.get("ground") is not None]
    names = dict.fromkeys((str(row["system"]), str(row["generator"])) for row in judged)
    tables = [
        _judged(system, generator, [row for row in judged if row["generator"] == generator])
        for system, generator in names
    ]
    return [*tables, *([_training(training)] if training else [])]


def _judged(system: str, generator: str, rows: Sequence[Row]) -> Table:
    table = Table(
        title=f"{escape(system)} in front of {escape(generator)}: without and with the gate, 95 % interval",
        title_justify="left",
    )
    table.add_column("test", no_wrap=True)
    for name in (
        "records\nof each label",
        "insufficient\nanswered",
        "of these answers\nprevented",
        "sufficient\nrefused",
        "refusals\nadded",
        "ms, median",
        "ms, p95",
        "gate ms\nmedian",
        "time\nsaved",
    ):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            _test(row),
            f"{row['n_sufficient']}, {row['n_insufficient']}",
            _both(row, "answered_insufficient"),
            _interval(row, "answers_prevented"),
            _both(row, "refused_sufficient"),
            _interval(row, "refusals_added"),
            f"{_ms(row['ms_p50'])} to {_ms(row['gated_ms_p50'])}",
            f"{_ms(row['ms_p95'])} to {_ms(row['gated_ms_p95'])}",
            _ms(row["score_ms_p50"]),
            _interval(row, "time_saved"),
        )
    return table


def _training(rows: Sequence[Row]) -> Table:
    table = Table(title="What the thresholds do to the training records they were chosen on", title_justify="left")
    table.add_column("training records of", no_wrap=True)
    table.add_column("test", no_wrap=True)
    for name in ("threshold", "records\nof each label", "sufficient\nstopped", "insufficient\nstopped", "AUROC"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            escape(str(row["ground"])),
            _test(row),
            _number(row["threshold"]),
            f"{row['n_sufficient']}, {row['n_insufficient']}",
            _number(row["stopped_sufficient"]),
            _number(row["stopped_insufficient"]),
            _number(row["auroc"]),
        )
    return table


def _test(row: Row) -> str:
    return "all" if row["dataset"] == "all" else f"{escape(str(row['dataset']))}, {row['construction']}"


def _both(row: Row, name: str) -> str:
    return f"{_number(row[name])} to {_number(row[f'gated_{name}'])}"


def _interval(row: Row, name: str) -> str:
    lo, hi = row[f"{name}_lo"], row[f"{name}_hi"]
    bounds = "" if lo is None or hi is None else f"\n{_number(lo)} to {_number(hi)}"
    return f"{_number(row[name])}{bounds}"


def _number(value: str | float | None) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-"


def _ms(value: str | float | None) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else "-"
