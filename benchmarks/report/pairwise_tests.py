"""One plot for each headline test: every scorer with its interval, against chance and against the best cue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .figures import digits, number
from .marks import heading, short
from .page import Plot
from .pairwise_marks import KEY, colour, put_mark
from .pairwise_rows import ACCURACY, CHANCE, Compared, Sheet, Test
from .svg import INK, MUTED, TEXT, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.02
TESTS = (
    f"{KEY} Lines: 95 % intervals, not adjusted for the number of systems. Dashed: chance, 0.5. Dotted: the best "
    "cue, which does not judge sufficiency; what does not lie to the right of it may be following a cue."
)


def test_plots(found: Compared, sheet: Sheet, *, name: str) -> list[Plot]:
    """A plot for each test of the sheet on which a scorer has a figure; all on one scale."""
    scale = _scale(sheet.tests)
    return [
        plot
        for at, test in enumerate(sheet.tests)
        if (plot := _plot(found, test, scale, name=f"{name}-test{at}")) is not None
    ]


def _scale(tests: Sequence[Test]) -> tuple[float, float]:
    keys = (ACCURACY, f"{ACCURACY}_lo", f"{ACCURACY}_hi")
    values = [
        value
        for test in tests
        for row in test.rows.values()
        for key in keys
        if (value := number(row, key)) is not None
    ]
    return min([CHANCE, *values]) - _MARGIN, max([CHANCE, *values]) + _MARGIN


def _plot(found: Compared, test: Test, scale: tuple[float, float], *, name: str) -> Plot | None:
    cue = found.best_cue(test)
    wanted = [*found.scorers, *([] if cue is None else [cue])]
    placed = sorted(
        ((value, system) for system in wanted if (value := number(test.rows.get(system), ACCURACY)) is not None),
        key=lambda one: (one[0], wanted.index(one[1])),
    )
    if not any(system in found.scorers for _, system in placed):
        return None
    with drawing(66 + 24 * len(placed)) as figure:
        axes = figure.add_subplot()
        axes.axvline(CHANCE, color=MUTED, linewidth=1.4, linestyle="--", zorder=1)
        if cue is not None:
            best = number(test.rows[cue], ACCURACY)
            assert best is not None  # noqa: S101  only cues with a figure are compared
            axes.axvline(best, color=MUTED, linewidth=1.4, linestyle=":", zorder=1)
        for at, (value, system) in enumerate(placed):
            _interval(axes, found, test, system, at)
            put_mark(axes, found, system, (value, at), key=f"mark-{at}")
        _name_rows(axes, found, [system for _, system in placed])
        axes.set_xlim(*scale)
        axes.set_title(heading(test.title), loc="left", fontsize=TEXT, weight="bold")
        axes.set_xlabel("pairwise accuracy")
        tips = {f"mark-{at}": f"{system}: {digits(value)}" for at, (value, system) in enumerate(placed)}
        told = ", ".join(f"{system} {digits(value)}" for value, system in reversed(placed))
        svg = to_svg(
            figure,
            name=name,
            title=f"Pairwise accuracy: {test.title}",
            text=f"Highest first: {told}. Chance is 0.5.",
            tips=tips,
        )
    against = f" Best cue: {cue}." if cue else ""
    return Plot(svg=svg, caption=f"{test.counted}.{against}")


def _interval(axes: Axes, found: Compared, test: Test, system: str, at: int) -> None:
    ends = [number(test.rows[system], f"{ACCURACY}_{end}") for end in ("lo", "hi")]
    known = [end for end in ends if end is not None]
    if len(known) == len(ends):
        axes.plot(known, [at, at], color=colour(found, system), linewidth=1.6, marker="|", markersize=7, zorder=3)


def _name_rows(axes: Axes, found: Compared, systems: Sequence[str]) -> None:
    axes.set_yticks(range(len(systems)), [short(system) for system in systems])
    for label, system in zip(axes.get_yticklabels(), systems, strict=True):
        label.set_fontweight("bold" if found.kind(system) == "reference" else "normal")
        label.set_color(MUTED if found.kind(system) == "cue" else INK)
    axes.set_ylim(-0.7, len(systems) - 0.3)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
