"""Names beside marks in a drawing: each where it covers neither a mark nor another name, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from .page import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

_PLACES = (
    ("left", "bottom", 1, 1), ("left", "top", 1, -1), ("right", "bottom", -1, 1), ("right", "top", -1, -1),
    ("center", "bottom", 0, 1), ("center", "top", 0, -1), ("left", "center", 1, 0), ("right", "center", -1, 0),
)  # fmt: skip
"""Where a name may stand, the best place first: alignment, then the direction from its mark."""
_DISTANCES = (7.0, 20.0, 34.0, 50.0, 68.0)
"""From the mark, in units of the drawing; from the second on a line leads to it."""
_MARK = 5.0
_SHORT = 18
"""Characters of a name in a plot."""
_TITLE = 40
"""Characters of a title in a plot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """What a mark is called."""

    text: str
    x: float
    y: float
    """In the coordinates of the data."""
    colour: str
    strong: bool = False


def put_names(axes: Axes, names: Sequence[Name], marks: Sequence[tuple[float, float]]) -> list[str]:
    """Write the names beside their marks, the first one first.

    Args:
        axes: With its final limits.
        names: The most important first.
        marks: All that must stay visible, in the coordinates of the data.

    Returns:
        Names that found no place.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.transforms import Bbox

    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101  axes of ours are always in one
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    inside = axes.get_window_extent()
    dots = [axes.transData.transform(mark) for mark in marks]
    taken = [Bbox.from_extents(x - _MARK, y - _MARK, x + _MARK, y + _MARK) for x, y in dots]
    left = []
    for name in names:
        box = _put(axes, name, taken, inside, canvas)
        if box is None:
            left.append(name.text)
        else:
            taken.append(box)
    return left


def short(name: str) -> str:
    """A name that fits a plot."""
    return _cut(name, _SHORT)


def along(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points of a line, its corners left out, that names should not cover."""
    return [
        (one[0] + share * (two[0] - one[0]), one[1] + share * (two[1] - one[1]))
        for one, two in pairwise(line)
        for share in (0.2, 0.4, 0.6, 0.8)
    ]


def heading(text: str) -> str:
    """A title that fits above a plot."""
    return _cut(text, _TITLE)


def _cut(text: str, longest: int) -> str:
    line = shown(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _put(axes: Axes, name: Name, taken: Sequence[Bbox], inside: Bbox, canvas: FigureCanvasAgg) -> Bbox | None:
    from matplotlib.text import Text

    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    for distance in _DISTANCES:
        for across, down, right, up in _PLACES:
            text = axes.annotate(
                name.text,
                (name.x, name.y),
                xytext=(right * distance, up * distance),
                textcoords="offset points",
                ha=across,
                va=down,
                color=name.colour,
                weight="bold" if name.strong else "normal",
                arrowprops={"arrowstyle": "-", "color": name.colour, "linewidth": 0.8, "shrinkB": _MARK}
                if distance > _DISTANCES[0]
                else None,
            )
            text.set_in_layout(False)
            text.update_positions(renderer)
            box = Text.get_window_extent(text, renderer)  # without the line that leads to it
            if _within(box, inside) and not any(box.overlaps(other) for other in taken):
                return box
            text.remove()
    return None


def _within(box: Bbox, other: Bbox) -> bool:
    return bool(box.x0 >= other.x0 and box.x1 <= other.x1 and box.y0 >= other.y0 and box.y1 <= other.y1)
