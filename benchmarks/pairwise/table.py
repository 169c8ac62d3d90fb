"""The rows of `pairwise` as tables for people: systems down, tests across."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from rich.markup import escape
from rich.table import Table

from ..output import Row

PAPER = {
    ("hotpotqa", "substitution", "cue-min-idf", 0): 0.941,
    ("hotpotqa", "substitution", "cue-min-idf", 5): 0.541,
    ("hotpotqa", "substitution", "cue-min-idf", 10): 0.520,
    ("hotpotqa", "substitution", "cue-min-idf", 15): 0.513,
    ("hotpotqa", "substitution", "cue-min-idf", 20): 0.510,
    ("hotpotqa", "substitution", "cue-size", 0): 0.500,
    ("hotpotqa", "substitution", "cue-question-only", 0): 0.500,
    ("hotpotqa", "substitution", "cue-evidence-only", 0): 0.763,
    ("hotpotqa", "substitution", "cue-evidence-only", 20): 0.743,
    ("squad2", "unrelated-swap", "question-overlap", 0): 0.993,
    ("squad2", "question-swap", "question-overlap", 0): 0.573,
    ("squad2", "question-swap", "cue-min-idf", 0): 0.577,
    ("squad2", "question-swap", "cue-question-only", 0): 0.607,
}
"""What the paper prints (section 3, table 2) for tests that are built by the same rule, by dataset,
construction, system and shared additions. Its records are others than ours, its sets larger."""


def with_paper(row: Row) -> Row:
    """The row with the paper's figure for the same test, where it prints one."""
    if row["subset"] != "all":
        return row
    added = row["added"]
    key = (
        str(row["dataset"]),
        str(row["construction"]),
        str(row["system"]),
        added if isinstance(added, int) else 0,
    )
    return row | {"paper": PAPER[key]} if key in PAPER else row


_Place: TypeAlias = tuple[str | int | float | bool | None, ...]


def pairwise_tables(rows: Sequence[Row]) -> list[Table]:
    """Headline rows with their summary; what stands beside them; subsets; additions; readers; the paper."""
    ablation = [row for row in rows if row.get("readers")]
    rows = [row for row in rows if not row.get("readers")]
    plain = [row for row in rows if row["subset"] == "all" and row["added"] == 0]
    tables = [
        _pivot("Headline: pairwise accuracy, 95 % interval", [row for row in plain if row["headline"]], _test)
    ]
    others = [row for row in plain if not row["headline"]]
    tables.append(_pivot("For comparison only, not a headline", others, _test))
    for subset in dict.fromkeys(str(row["subset"]) for row in rows if row["subset"] != "all"):
        same = [row for row in rows if row["subset"] == subset and row["added"] == 0]
        tables.append(_pivot(f"Subset: {subset}", same, _test))
    added = [row for row in rows if row["added"] and row["subset"] == "all"]
    tests = dict.fromkeys((row["dataset"], row["construction"]) for row in added)
    for dataset, construction in tests:
        same = [
            row
            for row in rows
            if (row["dataset"], row["construction"], row["subset"]) == (dataset, construction, "all")
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
        suffix = "" if subset == "all" else f", subset {subset}"
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
    for name in ("dataset", "construction", "system", "added", "ours", "interval", "paper"):
        table.add_column(name)
    for row in rows:
        paper, value = row.get("paper"), row["pairwise_accuracy"]
        if isinstance(paper, float) and isinstance(value, float):
            names = [escape(str(row[name])) for name in ("dataset", "construction", "system", "added")]
            interval = _cell(row).partition("\n")[2]
            table.add_row(*names, f"{value:.3f}", interval, f"{paper:.3f}")
    return table
