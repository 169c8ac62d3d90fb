"""Accuracy against latency: what a better judgment of sufficiency costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .figures import digits, number
from .marks import Name, along, put_names, short
from .page import Plot, shown
from .pairwise_marks import colour, legend, put_mark
from .pairwise_rows import ACCURACY, CHANCE, Compared, Sheet, of_sheet
from .svg import MUTED, WIDTH, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT = 420
_STEPS = 30
"""Points of the line of chance that names keep off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A scorer with a mean accuracy and a time."""

    system: str
    milliseconds: float
    """Of the median record."""
    slow: float | None
    """Of the record at the 95th percentile."""
    accuracy: float
    lo: float | None
    hi: float | None


def latency_plot(found: Compared, sheet: Sheet, *, name: str, width: float = WIDTH) -> Plot | None:
    """Mean accuracy over the headline tests against milliseconds for each record; None where no time is known."""
    placed = [one for system in found.scorers if (one := _place(sheet, system)) is not None]
    if not placed:
        return None
    with drawing(_HEIGHT, width) as figure:
        axes = figure.add_subplot()
        axes.set_xscale("log")
        _scale(axes, placed)
        for at, one in enumerate(placed):
            _cross(axes, found, one)
            put_mark(axes, found, one.system, (one.milliseconds, one.accuracy), key=f"mark-{at}")
        legend(figure, found, [one.system for one in placed])
        left = _names(axes, found, placed)
        ranked = sorted(placed, key=lambda one: -one.accuracy)
        told = ", ".join(
            f"{one.system} {digits(one.accuracy)} at {digits(one.milliseconds, 1)} ms" for one in ranked
        )
        tips = {
            f"mark-{at}": f"{one.system}: {digits(one.accuracy)}, {digits(one.milliseconds, 1)} ms"
            for at, one in enumerate(placed)
        }
        svg = to_svg(
            figure,
            name=name,
            title="Pairwise accuracy against latency",
            text=f"Mean over {len(sheet.tests)} tests, highest first: {told}. Chance is 0.5.",
            tips=tips,
        )
    caption = (
        f"{of_sheet(sheet)}: mean accuracy over {len(sheet.tests)} tests against the median time of a record. The "
        "diamond is the scorer that the others are compared with. Upright lines: 95 % intervals. Level lines: "
        "from the median to the 95th percentile of the time. Dashed: chance."
    )
    if left:
        caption += f" Without a name for lack of room: {', '.join(map(shown, left))}."
    return Plot(svg=svg, caption=caption)


def _place(sheet: Sheet, system: str) -> _Placed | None:
    row = sheet.mean.get(system)
    milliseconds, accuracy = number(row, "ms_p50"), number(row, ACCURACY)
    if milliseconds is None or accuracy is None or milliseconds <= 0:
        return None
    slow = number(row, "ms_p95")
    return _Placed(
        system=system,
        milliseconds=milliseconds,
        slow=slow if slow is not None and slow > milliseconds else None,
        accuracy=accuracy,
        lo=number(row, f"{ACCURACY}_lo"),
        hi=number(row, f"{ACCURACY}_hi"),
    )


def _scale(axes: Axes, placed: list[_Placed]) -> None:
    """Room for names on all sides of the outermost marks."""
    times = [time for one in placed for time in (one.milliseconds, one.slow) if time is not None]
    axes.set_xlim(min(times) / 2.5, max(times) * 2.5)
    heights = [end for one in placed for end in (one.accuracy, one.lo, one.hi) if end is not None]
    low, high = min([CHANCE, *heights]), max([CHANCE, *heights])
    margin = 0.08 * (high - low) or 0.05
    axes.set_ylim(low - margin, high + margin)
    axes.axhline(CHANCE, color=MUTED, linewidth=1.4, linestyle="--", zorder=1)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("milliseconds for a record, log scale")
    axes.set_ylabel("pairwise accuracy, mean of tests")
    axes.grid(visible=True)
    axes.set_axisbelow(True)


def _cross(axes: Axes, found: Compared, one: _Placed) -> None:
    shade = colour(found, one.system)
    if one.lo is not None and one.hi is not None:
        axes.plot([one.milliseconds] * 2, [one.lo, one.hi], color=shade, linewidth=1.2, zorder=3)
    if one.slow is not None:
        axes.plot(
            [one.milliseconds, one.slow], [one.accuracy] * 2, color=shade, linewidth=0.8, alpha=0.6, zorder=2
        )


def _names(axes: Axes, found: Compared, placed: list[_Placed]) -> list[str]:
    """The reference first, then the most accurate; names that found no place are returned."""
    order = sorted(placed, key=lambda one: (found.kind(one.system) != "reference", -one.accuracy))
    names = [
        Name(
            text=short(one.system),
            x=one.milliseconds,
            y=one.accuracy,
            colour=colour(found, one.system),
            strong=found.kind(one.system) == "reference",
        )
        for one in order
    ]
    marks = [(one.milliseconds, one.accuracy) for one in placed]
    bars = [
        point
        for one in placed
        if one.lo is not None and one.hi is not None
        for point in along([(one.milliseconds, one.lo), (one.milliseconds, one.hi)])
    ]
    left, right = axes.get_xlim()
    chance = [(left * (right / left) ** (at / _STEPS), CHANCE) for at in range(_STEPS + 1)]
    return put_names(axes, names, [*marks, *bars, *chance])
