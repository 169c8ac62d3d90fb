"""Plots of single policies: risk by coverage with certified points, and when searches stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..stopping.roster import DEFAULT
from .figures import digits, number
from .marks import Name, put_names, short
from .page import Plot
from .replayed import Replayed, uses_gold
from .svg import INK, MUTED, ONE, PAPER, THREE, TWO, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = 2
"""Certified policies whose whole curve is drawn; the points of further ones are drawn alone."""


def risk_plot(found: Replayed, *, name: str) -> Plot | None:
    """Risk by coverage; None where no policy has a curve."""
    curves = {str(one["policy"]): one for one in found.curves.get("risk_coverage", ())}
    certified = [policy for policy, one in curves.items() if one["certified"]]
    wanted = [policy for policy in (DEFAULT, found.longest) if policy in curves]
    wanted += [policy for policy in certified if policy not in wanted][:_CURVES]
    if not wanted:
        return None
    with drawing(360) as figure:
        axes = figure.add_subplot()
        for policy, look in zip(wanted, _LOOKS, strict=False):
            _curve(axes, curves[policy]["points"], look)
        points = [curves[policy] for policy in (*wanted, *certified) if curves[policy]["coverage"] is not None]
        ends = _points(axes, points)
        _levels(axes, certified)
        axes.set_xlim(0, 105)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("coverage, % of searches answered")
        axes.set_ylabel("risk, % of answers without support")
        axes.grid(visible=True)
        axes.set_axisbelow(True)
        names = [
            Name(text=short(policy), x=x, y=y, colour=INK, strong=policy == DEFAULT)
            for policy, (x, y) in ends.items()
        ]
        lines = [(100 * x, 100 * y) for policy in wanted for x, y in curves[policy]["points"]]
        put_names(axes, names, [*ends.values(), *lines])
        told = "; ".join(
            f"{policy} answers {digits(x, 1)} % at a risk of {digits(y, 1)} %" for policy, (x, y) in ends.items()
        )
        svg = to_svg(
            figure,
            name=name,
            title=f"Risk by coverage: {found.title}",
            text=f"Curves of {', '.join(wanted)}. {told}.",
        )
    return Plot(svg=svg, caption=_risk_caption(wanted, certified))


_LOOKS: Sequence[Mapping[str, Any]] = (
    {"color": INK, "linestyle": "-"},
    {"color": TWO, "linestyle": "--"},
    {"color": ONE, "linestyle": "-."},
    {"color": THREE, "linestyle": ":"},
)
_WORDS = ("solid", "dashed", "dash-dotted", "dotted")


def _risk_caption(wanted: Sequence[str], certified: Sequence[str]) -> str:
    lines = ", ".join(f"{short(policy)} ({word})" for policy, word in zip(wanted, _WORDS, strict=False))
    caption = (
        "Risk by coverage: of the searches with the highest scores at the stop, the share whose annotated support "
        f"is incomplete. Lines: {lines}. A diamond is where the default answers itself, a circle any other policy."
    )
    if certified:
        return (
            f"{caption} Squares: certified on training searches ({', '.join(map(short, certified))}); thin lines: "
            "the risk that each demanded."
        )
    return f"{caption} No policy with a certificate was compared."


def _curve(axes: Axes, points: Sequence[Sequence[float]], look: Mapping[str, Any]) -> None:
    if points:
        across, up = zip(*points, strict=True)
        axes.plot([100 * x for x in across], [100 * y for y in up], linewidth=1.7, **look)


def _points(axes: Axes, curves: Sequence[Mapping[str, Any]]) -> dict[str, tuple[float, float]]:
    """Where policies answer themselves; one that answers nothing has no risk and no point."""
    ends = {}
    for one in curves:
        coverage, risk = number(one, "coverage"), number(one, "risk")
        if coverage is None or risk is None:
            continue
        policy = str(one["policy"])
        ends[policy] = (coverage * 100, risk * 100)
        marker = "D" if policy == DEFAULT else "s" if one["certified"] else "o"
        fill = PAPER if marker == "o" else INK
        axes.plot(
            *([value] for value in ends[policy]), marker=marker, color=INK, markerfacecolor=fill, markersize=8
        )
    return ends


def _levels(axes: Axes, certified: Sequence[str]) -> None:
    """The risk that each certificate demands stands in the policy's name, `ltt-0.10`."""
    for policy in certified:
        try:
            level = float(policy.rpartition("-")[2])
        except ValueError:
            continue
        axes.axhline(level * 100, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)))


def stops_plot(found: Replayed, *, name: str) -> Plot | None:
    """After which turn searches ended, a strip for each policy; None where nothing was counted."""
    stops = {str(one["policy"]): one for one in found.curves.get("stop_turns", ())}
    oracles = [policy for policy in stops if uses_gold(policy)]
    wanted = [policy for policy in (DEFAULT, *oracles, found.longest) if policy in stops]
    if not wanted:
        return None
    with drawing(52 + 92 * len(wanted)) as figure:
        strips = figure.subplots(len(wanted), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
        for axes, policy in zip(strips, wanted, strict=True):
            _strip(axes, stops[policy], policy)
        strips[-1].set_xlabel("turn of the stop")
        figure.supylabel("searches", fontsize=13, color=INK)
        svg = to_svg(
            figure,
            name=name,
            title=f"When searches stopped: {found.title}",
            text=". ".join(_told(policy, stops[policy]) for policy in wanted) + ".",
        )
    caption = "When searches stopped. Filled: answered; hatched: abstained. Oracles know the annotations."
    return Plot(svg=svg, caption=caption)


def _strip(axes: Axes, one: Mapping[str, Any], policy: str) -> None:
    answered, abstained = list(one["answered"]), list(one["abstained"])
    turns = range(1, len(answered))
    fill = INK if policy == DEFAULT else THREE if uses_gold(policy) else TWO
    for turn in turns:
        yes, no = answered[turn], abstained[turn]
        if yes:
            axes.bar(turn, yes, width=0.7, color=fill, edgecolor=fill)
        if no:
            axes.bar(turn, no, width=0.7, bottom=yes, color="none", edgecolor=fill, hatch="////")
    axes.set_title(short(policy), loc="left", fontsize=13, weight="bold" if policy == DEFAULT else "normal", pad=3)
    axes.set_xticks(list(turns))
    axes.locator_params(axis="y", nbins=3, integer=True)
    axes.grid(visible=True, axis="y")
    axes.set_axisbelow(True)


def _told(policy: str, one: Mapping[str, Any]) -> str:
    turns = [
        f"{yes} answered and {no} abstained after turn {turn}"
        for turn, (yes, no) in enumerate(zip(one["answered"], one["abstained"], strict=True))
        if yes or no
    ]
    return f"{policy}: {', '.join(turns)}"
