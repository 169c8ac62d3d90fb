"""The rows of `replay` as tables for people: how the score ranks, then a table a dataset, best utility first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from ..output import Row
from .context import GAIN, SCORE

COLUMNS: Mapping[str, str] = {
    "utility": "utility",
    "utility_vs_default": "against default",
    "correct_decisions": "correct",
    "calls_per_question": "calls",
    "regret_utility": "regret",
    "coverage": "answered",
    "risk": "risk",
    "supported_refused": "supported\nrefused",
    "unsupported_cut": "unsupported\nanswers cut",
    "f1": "F1",
    "auroc": "AUROC\nat stop",
    "correct_decisions_over_frontier": "correct over\nfrontier",
}
"""Figures of a table and their headings."""
_WITH_ENDS = frozenset(
    {"utility", "utility_vs_default", "correct_decisions", "regret_utility", "correct_decisions_over_frontier"}
)


def replay_tables(rows: Sequence[Row], left_out: Mapping[str, str]) -> list[Table]:
    """Headline rows only: all searches, twins included. JSON holds the rest."""
    headline = [row for row in rows if row["headline"]]
    datasets = list(dict.fromkeys(str(row["dataset"]) for row in headline))
    tables = [_scores([row for row in headline if row["case"] == SCORE])]
    for dataset in datasets:
        mine = [row for row in headline if row["dataset"] == dataset]
        notes = [str(row["note"]) for row in mine if row["case"] == GAIN and row["note"]]
        tables.append(_policies(dataset, [row for row in mine if row["policy"]], notes))
    tables.append(_left_out(left_out))
    return [table for table in tables if table.row_count]


def _scores(rows: Sequence[Row]) -> Table:
    table = Table(title="Pooled AUROC of the score after each look, 95 % interval", title_justify="left")
    looks = sorted({int(row["look"] or 0) for row in rows})
    table.add_column("dataset")
    for look in looks:
        table.add_column(f"look {look}", justify="right")
    for dataset in dict.fromkeys(str(row["dataset"]) for row in rows):
        cells = {row["look"]: _cell(row, "auroc", ends=True) for row in rows if row["dataset"] == dataset}
        table.add_row(escape(dataset), *(cells.get(look, "-") for look in looks))
    return table


def _policies(dataset: str, rows: Sequence[Row], notes: Sequence[str]) -> Table:
    size = f"{rows[0]['n']} searches, {rows[0]['groups']} questions" if rows else ""
    table = Table(
        title=f"{escape(dataset)}: {size}", title_justify="left", caption=escape("; ".join(notes)) or None
    )
    table.add_column("policy", no_wrap=True)
    for heading in COLUMNS.values():
        table.add_column(heading, justify="right")
    for row in sorted(rows, key=_by_utility):
        table.add_row(escape(str(row["policy"])), *_cells(row))
    return table


def _by_utility(row: Row) -> tuple[bool, float]:
    value = row["utility"]
    return (False, -value) if isinstance(value, float) else (True, 0.0)


def _cells(row: Row) -> Iterator[str]:
    if row["off_record"]:
        yield f"off the record in {row['off_record']}"
        return
    for name in COLUMNS:
        yield _cell(row, name, ends=name in _WITH_ENDS)


def _cell(row: Row, name: str, *, ends: bool) -> str:
    value, lo, hi = row[name], row[f"{name}_lo"], row[f"{name}_hi"]
    if not isinstance(value, float):
        return "-"
    shown = f"{value:.3f}"
    return f"{shown}\n{lo:.2f} to {hi:.2f}" if ends and isinstance(lo, float) and isinstance(hi, float) else shown


def _left_out(notes: Mapping[str, str]) -> Table:
    table = Table(title="Not compared", title_justify="left")
    table.add_column("policy", no_wrap=True)
    table.add_column("why")
    for name, why in notes.items():
        table.add_row(escape(name), escape(why))
    return table
