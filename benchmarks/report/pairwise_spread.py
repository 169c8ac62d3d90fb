"""Distributions of a scorer's scores on both sides of the headline tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .figures import digits, number
from .marks import heading
from .page import Plot, shown
from .pairwise_rows import Compared, Sheet
from .svg import MUTED, ONE, TEXT, TWO, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPREAD = (
    "Upward, filled: sets that suffice. Downward, hatched: sets that do not. Heights are shares of a side, on one "
    "scale for all strips of a drawing; scores beyond the outer hundredths count in the end bins. Pairs are "
    "compared within a group, so a scorer can order every pair and still have distributions that overlap; AUROC "
    "over all sides says how far one threshold could go."
)
_STRIP = 74


def spread_plots(found: Compared, sheet: Sheet, *, name: str) -> list[Plot]:
    """A drawing for each scorer with histograms, a strip for each headline test."""
    places = {(test.dataset, test.construction): test for test in sheet.tests}
    plots = []
    for at, system in enumerate(found.scorers):
        mine = [
            one
            for one in found.histograms
            if one["system"] == system
            and one.get("subset", sheet.subset) == sheet.subset
            and (one["dataset"], one["construction"]) in places
            and len(one["edges"]) > 1
        ]
        if mine:
            aurocs = [
                number(places[one["dataset"], one["construction"]].rows.get(system), "auroc") for one in mine
            ]
            plots.append(_plot(found, system, mine, aurocs, name=f"{name}{at}"))
    return plots


def _plot(
    found: Compared,
    system: str,
    histograms: Sequence[Mapping[str, Any]],
    aurocs: Sequence[float | None],
    *,
    name: str,
) -> Plot:
    with drawing(74 + _STRIP * len(histograms)) as figure:
        strips = figure.subplots(len(histograms), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        figure.suptitle(heading(system), x=0.01, ha="left", fontsize=TEXT, weight="bold")
        highest = max(share for one in histograms for side in _sides(one) for share in side)
        strips[0].set_ylim(-1.1 * highest, 1.1 * highest)
        told = []
        for axes, one, auroc in zip(strips, histograms, aurocs, strict=True):
            title = shown(f"{one['dataset']} {one['construction']}")
            _strip(axes, one)
            axes.set_title(heading(title), loc="left", fontsize=TEXT, pad=3)
            axes.annotate(
                digits(auroc, 2),
                (1, 1),
                xycoords="axes fraction",
                xytext=(0, 3),
                textcoords="offset points",
                ha="right",
            )
            told.append(f"{title}: AUROC {digits(auroc, 2)}")
        strips[-1].set_xlabel("score (right above each strip: AUROC)")
        svg = to_svg(figure, name=name, title=f"Scores of {system} on both sides", text="; ".join(told) + ".")
    what = " (the scorer that the others are compared with)" if found.kind(system) == "reference" else ""
    return Plot(svg=svg, caption=f"{system}{what}.")


def _sides(one: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """The share of each bin: of the sets that suffice, and of those that do not."""
    counts = (one["sufficient"], one["insufficient"])
    enough, lacking = ([count / (sum(side) or 1) for count in side] for side in counts)
    return enough, lacking


def _strip(axes: Axes, one: Mapping[str, Any]) -> None:
    edges = [float(edge) for edge in one["edges"]]
    enough, lacking = _sides(one)
    axes.stairs(enough, edges, fill=True, linewidth=1.0, facecolor=ONE, edgecolor=ONE)
    down = [-share for share in lacking]
    axes.stairs(down, edges, fill=True, linewidth=1.0, facecolor="none", edgecolor=TWO, hatch="////")
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x")
    axes.set_axisbelow(True)
