"""How systems look in the drawings of `pairwise`: told apart by shape as well as by colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .pairwise_rows import Compared, Kind
from .svg import INK, MUTED, ONE, PAPER, TWO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS: Mapping[Kind, Mapping[str, Any]] = {
    "reference": {"marker": "D", "markersize": 9, "color": INK, "markeredgecolor": PAPER, "zorder": 6},
    "evidence": {"marker": "o", "markersize": 8, "color": ONE, "markeredgecolor": PAPER, "zorder": 5},
    "answer": {"marker": "s", "markersize": 7, "color": TWO, "markerfacecolor": PAPER, "zorder": 5},
    "cue": {"marker": "x", "markersize": 7, "color": MUTED, "markeredgewidth": 2, "zorder": 4},
}
_TOLD: Mapping[Kind, str] = {
    "evidence": "reads the evidence",
    "answer": "reads an answer",
}
KEY = (
    "Diamond: the scorer that the others are compared with. Filled circles: scorers that read question and "
    "evidence. Hollow squares: scorers that read a generated answer. Crosses: cues."
)


def colour(found: Compared, system: str) -> str:
    """Of a system's mark and of its name."""
    return str(_LOOKS[found.kind(system)]["color"])


def legend(figure: Figure, found: Compared, systems: Sequence[str]) -> None:
    """What the shapes mean, above the drawing; the reference is told by its name. To be called before names."""
    from matplotlib.lines import Line2D

    kinds = dict.fromkeys(kind for system in systems if (kind := found.kind(system)) in _TOLD)
    if kinds:
        handles = [Line2D([], [], linestyle="none", label=_TOLD[kind], **_LOOKS[kind]) for kind in kinds]
        figure.legend(
            handles=handles, loc="outside upper left", ncols=len(handles), frameon=False, handletextpad=0.2
        )


def put_mark(axes: Axes, found: Compared, system: str, at: tuple[float, float], *, key: str | None = None) -> None:
    """A system's mark.

    Args:
        axes: To draw on.
        found: Says what the system is.
        system: Its name.
        at: In the coordinates of the data.
        key: The mark's `gid`, for a tip.
    """
    axes.plot([at[0]], [at[1]], linestyle="none", gid=key, **_LOOKS[found.kind(system)])
