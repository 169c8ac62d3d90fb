"""Accuracy against the number of passages that are added to both sides of a pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..output import Row
from .figures import NONE, cell, digits, number
from .marks import Name, along, heading, put_names, short
from .page import Cell, Group, Line, Plot, Table, shown
from .pairwise_marks import colour, put_mark
from .pairwise_rows import ACCURACY, CHANCE, WHOLE, Compared, Kind
from .svg import MUTED, TEXT, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CUES = ("cue-min-idf", "question-overlap")
"""Cues that are drawn beside the scorers: those that the paper warns of (section 3, table 2)."""
_DASHES: Mapping[Kind, str] = {"reference": "-", "evidence": "--", "answer": "-.", "cue": ":"}
ADDED = (
    "The same passages are added to both sides of a pair, so a scorer that judges sufficiency should hardly "
    "move. Solid: the scorer that the others are compared with; dashed: scorers that read the evidence; "
    "dash-dotted: those that read an answer; dotted: cues. Dashed level line: chance."
)


def measured_with_additions(found: Compared) -> bool:
    """Whether a scorer, not only cues, was measured with added passages."""
    return any(row["system"] in found.scorers for row in _rows(found) if row["added"])


def added_plots(found: Compared, *, name: str) -> list[Plot]:
    """A plot for each dataset and construction of which a scorer or a cue has at least two points."""
    tests: dict[tuple[str, str], list[Row]] = {}
    for row in _rows(found):
        tests.setdefault((str(row["dataset"]), str(row["construction"])), []).append(row)
    wanted = [*found.scorers, *_CUES]
    plots = []
    for at, ((dataset, construction), rows) in enumerate(tests.items()):
        curves = {system: _curve(rows, system) for system in wanted}
        curves = {system: curve for system, curve in curves.items() if len(curve) > 1}
        if curves:
            plots.append(_plot(found, shown(f"{dataset} {construction}"), curves, name=f"{name}{at}"))
    return plots


def _rows(found: Compared) -> list[Row]:
    return [
        row for row in found.rows if row["subset"] == WHOLE and "groups" in row and row.get(ACCURACY) is not None
    ]


def _curve(rows: Sequence[Row], system: str) -> list[tuple[float, float]]:
    return sorted(
        (float(row["added"] or 0), value)
        for row in rows
        if row["system"] == system and (value := number(row, ACCURACY)) is not None
    )


def _plot(found: Compared, title: str, curves: Mapping[str, Sequence[tuple[float, float]]], *, name: str) -> Plot:
    with drawing(320) as figure:
        axes = figure.add_subplot()
        axes.axhline(CHANCE, color=MUTED, linewidth=1.2, linestyle="--", zorder=1)
        for system, curve in curves.items():
            across, up = zip(*curve, strict=True)
            axes.plot(
                across, up, color=colour(found, system), linewidth=1.6, linestyle=_DASHES[found.kind(system)]
            )
            for point in curve:
                put_mark(axes, found, system, point)
        counts = sorted({count for curve in curves.values() for count, _ in curve})
        axes.set_title(heading(title), loc="left", fontsize=TEXT, weight="bold")
        axes.set_xticks(counts)
        axes.set_xlim(min(counts) - 1, max(counts) + 0.45 * (max(counts) - min(counts)))
        axes.margins(y=0.12)
        axes.set_xlabel("passages added to both sides")
        axes.set_ylabel("pairwise accuracy")
        axes.grid(visible=True)
        axes.set_axisbelow(True)
        left = _names(axes, found, curves)
        told = "; ".join(
            f"{system} from {digits(curve[0][1])} at {curve[0][0]:g} to {digits(curve[-1][1])} at {curve[-1][0]:g}"
            for system, curve in curves.items()
        )
        svg = to_svg(figure, name=name, title=f"Accuracy against added passages: {title}", text=f"{told}.")
    caption = f"{title}."
    if left:
        caption += f" Without a name for lack of room: {', '.join(map(shown, left))}."
    return Plot(svg=svg, caption=caption)


def _names(axes: Axes, found: Compared, curves: Mapping[str, Sequence[tuple[float, float]]]) -> list[str]:
    names = [
        Name(
            text=short(system),
            x=curve[-1][0],
            y=curve[-1][1],
            colour=colour(found, system),
            strong=found.kind(system) == "reference",
        )
        for system, curve in curves.items()
    ]
    marks = [point for curve in curves.values() for point in (*curve, *along(curve))]
    return put_names(axes, names, marks)


def falls_table(found: Compared) -> Table | None:
    """What the most additions cost each scorer, test by test; None where nothing is comparable."""
    rows = [row for row in found.rows if number(row, "fall") is not None and row["system"] in found.scorers]
    most = max((int(row["added"] or 0) for row in rows), default=0)
    rows = [row for row in rows if row["added"] == most]
    if not rows:
        return None
    tests = list(dict.fromkeys((str(row["dataset"]), str(row["construction"])) for row in rows))
    place = {(str(row["dataset"]), str(row["construction"]), str(row["system"])): row for row in rows}
    systems = [system for system in found.scorers if any((*test, system) in place for test in tests)]
    lines = [
        Line(
            name=system,
            strong=found.kind(system) == "reference",
            cells=[
                cell(row, "fall") if (row := place.get((*test, system))) is not None else Cell(text=NONE)
                for test in tests
            ],
        )
        for system in systems
    ]
    return Table(
        caption=f"Fall of the accuracy from no added passage to {most}, with paired 95 % intervals",
        columns=["scorer", *(f"{dataset} {construction}" for dataset, construction in tests)],
        groups=[Group(title="", lines=lines)],
        notes=["Above 0 is worse. Columns of “mean”: over the datasets of that construction."],
    )
