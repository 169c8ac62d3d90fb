"""How systems look in the drawings of `pairwise`: told apart by shape as well as by colour."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .pairwise_rows import Compared, Kind
from .svg import INK, MUTED, ONE, PAPER, TWO

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOOKS: Mapping[Kind, Mapping[str, Any]] = {
    "reference": {"marker": "D", "markersize": 9, "color": INK, "markeredgecolor": PAPER, "zorder": 6},
    "evidence": {"marker": "o", "markersize": 8, "color": ONE, "markeredgecolor": PAPER, "zorder": 5},
    "answer": {"marker": "s", "markersize": 7, "color": TWO, "markerfacecolor": PAPER, "zorder": 5},
    "cue": {"marker": "x", "markersize": 7, "color": MUTED, "markeredgewidth": 2, "zorder": 4},
}
KEY = (
    "Diamond: the scorer that the others are compared with. Filled circles: scorers that read question and "
    "evidence. Hollow squares: scorers that read a generated answer. Crosses: cues."
)


def colour(found: Compared, system: str) -> str:
    """Of a system's mark and of its name."""
    return str(_LOOKS[found.kind(system)]["color"])


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
