"""The rows of `pairwise` as tables for people: systems down, tests across."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.markup import escape
from rich.table import Table

from ..output import Row
from .roster import roster
from .rows import ALL
from .sample import SUBSET as SAMPLED

_Place: TypeAlias = tuple[str | int | float | bool | None, ...]


def pairwise_tables(rows: Sequence[Row]) -> list[Table]:
    """Headline rows with their summary; the sample; what stands beside; subsets; additions; readers; the paper."""
    legend = [row for row in rows if row.get("kind") == "system"]
    rows = [row for row in rows if row.get("kind") is None]
    ablation = [row for row in rows if row.get("readers")]
    rows = [row for row in rows if not row.get("readers")]
    plain = [row for row in rows if row["subset"] == ALL and row["added"] == 0]
    tables = [
        _pivot("Headline: pairwise accuracy, 95 % interval", [row for row in plain if row["headline"]], _test)
    ]
    sample = [row for row in rows if row["subset"] == SAMPLED]
    if sample:
        title = "Sample for scorers that take seconds a side: all scorers on the same pairs, 95 % interval"
        tables.append(_pivot(title, sample, _test))
    tables.append(roster(legend, rows))
    others = [row for row in plain if not row["headline"]]
    tables.append(_pivot("For comparison only, not a headline", others, _test))
    for subset in dict.fromkeys(str(row["subset"]) for row in rows if row["subset"] not in {ALL, SAMPLED}):
        same = [row for row in rows if row["subset"] == subset and row["added"] == 0]
        tables.append(_pivot(f"Subset: {subset}", same, _test))
    added = [row for row in rows if row["added"] and row["subset"] == ALL]
    tests = dict.fromkeys((row["dataset"], row["construction"]) for row in added)
    for dataset, construction in tests:
        same = [
            row
            for row in rows
            if (row["dataset"], row["construction"], row["subset"]) == (dataset, construction, ALL)
        ]
        tables.append(
            _pivot(
                f"{escape(str(dataset))}, {construction}: shared additions", same, lambda row: f"+{row['added']}"
            )
        )
    tables += [_falls(rows), *_ablation(ablation), _paper(rows)]
    return [table for table in tables if table.row_count]


def _ablation(rows: Sequence[Row]) -> Iterator[Table]:
    """Sets of readers down, tests across, a table for each scorer and subset."""
    for system, subset in dict.fromkeys((row["system"], row["subset"]) for row in rows):
        same = [
            row | {"system": row["readers"]} for row in rows if (row["system"], row["subset"]) == (system, subset)
        ]
        suffix = "" if subset == ALL else f", subset {subset}"
        yield _pivot(f"Readers of {escape(str(system))}{suffix}", same, _test)


def _falls(rows: Sequence[Row]) -> Table:
    """What the largest number of shared additions costs."""
    found = [row for row in rows if row.get("fall") is not None]
    most = max((int(row["added"] or 0) for row in found), default=0)
    as_accuracy = {f"pairwise_accuracy{end}": f"fall{end}" for end in ("", "_lo", "_hi")}
    same = [
        row | {shown: row[name] for shown, name in as_accuracy.items()} for row in found if row["added"] == most
    ]
    return _pivot(
        f"Fall of the accuracy from +0 to +{most}, paired 95 % interval",
        same,
        lambda row: f"{escape(str(row['dataset']))}\n{row['construction']}",
    )


def _test(row: Row) -> str:
    dataset = escape(str(row["dataset"]))
    return f"{dataset}\n{row['construction']}\n{row['n']} pairs" if "groups" in row else dataset


def _pivot(title: str, rows: Iterable[Row], column: Callable[[Row], str]) -> Table:
    """Systems down, `column` across; a system's number of pairs may be smaller where it failed."""
    rows = list(rows)
    full: dict[_Place, Row] = {}
    for row in rows:
        place = (row["dataset"], row["construction"], row["added"])
        if place not in full or int(row["n"] or 0) > int(full[place]["n"] or 0):
            full[place] = row
    names = {place: column(row) for place, row in full.items()}
    table = Table(title=title, title_justify="left")
    table.add_column("system", no_wrap=True)
    for name in dict.fromkeys(names.values()):
        table.add_column(name, justify="right")
    for system in dict.fromkeys(row["system"] for row in rows):
        cells = {
            names[row["dataset"], row["construction"], row["added"]]: _cell(row)
            for row in rows
            if row["system"] == system
        }
        table.add_row(escape(str(system)), *(cells.get(name, "-") for name in dict.fromkeys(names.values())))
    return table


def _cell(row: Row) -> str:
    value, lo, hi = (row[f"pairwise_accuracy{end}"] for end in ("", "_lo", "_hi"))
    if not isinstance(value, float):
        return "-"
    if not isinstance(lo, float) or not isinstance(hi, float):
        return f"{value:.3f}"
    return f"{value:.3f}\n{_short(lo)}-{_short(hi)}"


def _short(share: float) -> str:
    """Two digits without the leading zero, so that many columns fit a terminal."""
    return f"{share:.2f}".replace("0.", ".", 1)


def _paper(rows: Sequence[Row]) -> Table:
    table = Table(title="Cross-checks: ours beside the paper's", title_justify="left")
    for name in (
        "dataset",
        "construction",
        "subset",
        "system",
        "added",
        "ours",
        "interval",
        "paper",
        "its backbone",
    ):
        table.add_column(name)
    for row in rows:
        paper, value = row.get("paper"), row["pairwise_accuracy"]
        if isinstance(paper, float) and isinstance(value, float):
            names = [escape(str(row[name])) for name in ("dataset", "construction", "subset", "system", "added")]
            interval = _cell(row).partition("\n")[2]
            table.add_row(*names, f"{value:.3f}", interval, f"{paper:.3f}", str(row.get("paper_backbone") or "-"))
    return table
