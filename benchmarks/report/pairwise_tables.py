"""Tables of the report of `pairwise`: scorers down, tests across."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..output import Row
from .figures import NONE, cell, digits, number
from .page import Cell, Group, Line, Table
from .pairwise_rows import ACCURACY, MACRO, WHOLE, WORST, Compared, Kind, Sheet, Test, tests_of
from .ran import text_cell

_ALIKE = 1e-9
_TITLES: Sequence[tuple[tuple[Kind, ...], str]] = (
    (("reference", "evidence"), "Scorers that read question and evidence"),
    (("answer",), "Scorers that read a generated answer"),
    (("cue",), "Cues: they do not judge sufficiency"),
)
MARKS = (
    "★ marks the best of a column among all that ran here, cues and equals included; higher is better. "
    "Brackets: 95 % intervals, not adjusted for the number of systems. A dash: undefined or not measured; "
    "mean and worst are given only to systems with a figure in every test."
)
_PAPER = (
    "Paper: what it prints for the method, with its backbone: mean and lowest of its six datasets, which are not "
    "the tests of this table, and the median time on an A100. Set them beside ours, do not subtract them."
)


def headline_table(found: Compared, sheet: Sheet, *, caption: str) -> Table:
    """Mean and worst of every system, times, the paper's figures, and every headline test."""
    summary: list[tuple[str, Mapping[str, Row]]] = [("mean ↑", sheet.mean), ("worst ↑", sheet.worst)]
    columns = [*summary, *((test.counted, test.rows) for test in sheet.tests)]
    best = [_best(rows) for _, rows in columns]
    timed = any(number(row, "ms_p50") is not None for row in sheet.mean.values())
    reference = found.reference or NONE
    lines = {
        system: Line(
            name=system,
            note=_backbone(found.about.get(system)),
            strong=found.kind(system) == "reference",
            cells=[
                *_marked(system, columns[:2], best[:2]),
                cell(sheet.mean.get(system), "difference"),
                *(_times(sheet.mean.get(system)) if timed else []),
                *_papers(found.about.get(system)),
                *_marked(system, columns[2:], best[2:]),
            ],
        )
        for system in sheet.systems
    }
    return Table(
        caption=caption,
        columns=[
            "system, backbone",
            *(title for title, _ in columns[:2]),
            f"mean minus {reference}’s",
            *(["ms, median ↓", "ms, 95th percentile ↓", "records a second ↑"] if timed else []),
            *_PAPERS,
            *(title for title, _ in columns[2:]),
        ],
        groups=[
            Group(title=title, lines=mine)
            for kinds, title in _TITLES
            if (mine := [line for system, line in lines.items() if found.kind(system) in kinds])
        ],
        notes=[MARKS, _PAPER],
    )


_PAPERS = ("paper: backbone", "paper: mean", "paper: worst", "paper: ms, median")


def _best(rows: Mapping[str, Row]) -> float | None:
    return max((value for row in rows.values() if (value := number(row, ACCURACY)) is not None), default=None)


def _marked(
    system: str, columns: Sequence[tuple[str, Mapping[str, Row]]], best: Sequence[float | None]
) -> Iterator[Cell]:
    for (_, rows), top in zip(columns, best, strict=True):
        value = number(rows.get(system), ACCURACY)
        alike = value is not None and top is not None and abs(value - top) <= _ALIKE
        yield cell(rows.get(system), ACCURACY, best=alike)


def _backbone(about: Row | None) -> str:
    return str((about or {}).get("backbone") or "")


def _times(row: Row | None) -> list[Cell]:
    names = ("ms_p50", "ms_p95", "records_per_second")
    return [Cell(text=_three(number(row, name))) for name in names]


def _three(value: float | None) -> str:
    """Three digits that count, as many as a time of one run deserves."""
    if value is None:
        return NONE
    return digits(value, 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0)


def _papers(about: Row | None) -> list[Cell]:
    backbone = (about or {}).get("paper_backbone")
    figures = [cell(about, f"paper_{name}") for name in ("average", "worst")]
    return [
        Cell(text=NONE if backbone is None else str(backbone)),
        *figures,
        Cell(text=_three(number(about, "paper_ms_p50"))),
    ]


def not_run_table(found: Compared) -> Table | None:
    """Scorers whose weights this machine lacks, with the paper's figures alone; None where all ran."""
    if not found.not_run:
        return None
    lines = [
        Line(
            name=name,
            note=_backbone(found.about[name]),
            cells=[
                *_papers(found.about[name]),
                text_cell(found.about[name].get("missing")),
                text_cell(found.about[name].get("source")),
            ],
        )
        for name in found.not_run
    ]
    return Table(
        caption="Not run here: the weights are not on the machine that measured",
        columns=["scorer, backbone", *_PAPERS, "weights that are missing", "source"],
        groups=[Group(title="", lines=lines)],
        notes=["All figures of this table are the paper's; none was measured here."],
    )


def paper_table(found: Compared) -> Table | None:
    """Figures of ours that the paper prints for a test made by the same rule; None where there is none."""
    lines = [
        Line(
            name=str(row["system"]),
            cells=[
                text_cell(f"{row['dataset']} {row['construction']}"),
                Cell(text=f"+{row['added']}"),
                Cell(text=f"{row['n']:,}"),
                cell(row, ACCURACY),
                Cell(text=digits(paper)),
                text_cell(_backbone(found.about.get(str(row["system"]))) or NONE),
                text_cell(row.get("paper_backbone") or NONE),
            ],
        )
        for row in found.rows
        if (paper := number(row, "paper")) is not None and row["dataset"] not in {MACRO, WORST}
    ]
    if not lines:
        return None
    return Table(
        caption="Ours beside the paper's, where both built the test by the same rule",
        columns=["system", "test", "added passages", "pairs", "ours", "paper", "our backbone", "paper's backbone"],
        groups=[Group(title="", lines=lines)],
        notes=[
            "The paper's records are others than ours, its sets and its backbones larger; few pairs tell little."
        ],
    )


def cue_table(found: Compared) -> Table | None:
    """Every cue on every test of all groups, also those that do not count; None where no cue was measured."""
    tests = tests_of(_plain(found, WHOLE))
    cues = dict.fromkeys(system for test in tests for system in test.rows if found.kind(system) == "cue")
    if not cues:
        return None
    measured = any(found.reference in test.rows for test in tests)
    shown = [*cues, *([found.reference] if found.reference and measured else [])]
    strongest = [found.best_cue(test) for test in tests]
    lines = [
        Line(
            name=system,
            strong=system == found.reference,
            cells=[
                cell(test.rows.get(system), ACCURACY, best=system == top)
                for test, top in zip(tests, strongest, strict=True)
            ],
        )
        for system in shown
    ]
    return Table(
        caption="What tells the two sides apart beside sufficiency",
        columns=["cue", *(test.counted for test in tests)],
        groups=[Group(title="", lines=lines)],
        notes=["★ marks the strongest cue of a test, the first of equals. Below 0.5 a cue misleads."],
    )


def subset_tables(found: Compared) -> Iterator[Table]:
    """The scorers on further subsets, such as the pairs on which cues tie or mislead."""
    shown = {sheet.subset for sheet in found.sheets} | {WHOLE}
    for subset in dict.fromkeys(str(row["subset"]) for row in found.rows):
        if subset in shown:
            continue
        tests = tests_of([row for row in _plain(found, subset) if row["system"] in found.scorers])
        tests = [test for test in tests if test.pairs]
        if tests:
            yield _subset_table(found, subset, tests)


def _subset_table(found: Compared, subset: str, tests: Sequence[Test]) -> Table:
    lines = [
        Line(
            name=system,
            strong=system == found.reference,
            cells=[cell(test.rows.get(system), ACCURACY) for test in tests],
        )
        for system in found.scorers
        if any(system in test.rows for test in tests)
    ]
    return Table(
        caption=f"Pairs of the subset {subset}",
        columns=["scorer", *(test.counted for test in tests)],
        groups=[Group(title="", lines=lines)],
    )


def _plain(found: Compared, subset: str) -> list[Row]:
    """Rows of single tests, without additions."""
    return [row for row in found.rows if row["subset"] == subset and not row["added"] and "groups" in row]
