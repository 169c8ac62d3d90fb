"""Plots of all policies: correct decisions against calls, regret with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..output import Row
from ..stopping.roster import DEFAULT
from .figures import digits, number
from .marks import Name, along, put_names, short
from .page import Plot, shown
from .replayed import Replayed, fixed_calls, uses_gold
from .svg import INK, ONE, PAPER, THREE, TWO, drawing, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CALLS, RIGHT, REGRET = "calls_per_question", "correct_decisions", "regret_utility"
_COLOURS = (INK, THREE, TWO, ONE)
"""Of names, by rank."""


def front(policies: Sequence[tuple[str, float, float]]) -> list[tuple[str, float, float]]:
    """Those that no other one beats with as many calls or fewer, the fewest calls first.

    Args:
        policies: Name, calls, correct decisions.
    """
    best = float("-inf")
    kept = []
    for one in sorted(policies, key=lambda item: (item[1], -item[2], item[0])):
        if one[2] > best:
            kept.append(one)
            best = one[2]
    return kept


def pareto_plot(found: Replayed, *, name: str) -> Plot | None:
    """Correct decisions against calls; None where no policy has both."""
    placed = [
        (policy, calls, right * 100)
        for policy, row in found.policies.items()
        if (calls := number(row, CALLS)) is not None and (right := number(row, RIGHT)) is not None
    ]
    if not placed:
        return None
    free = [one for one in placed if not uses_gold(one[0])]
    best = front(free)
    with drawing(400) as figure:
        axes = figure.add_subplot()
        _marks(axes, placed, best)
        _cross(axes, found.default)
        axes.set_xlabel("calls per question (fewer is better)")
        axes.set_ylabel("correct decisions, % of searches")
        axes.grid(visible=True)
        axes.set_axisbelow(True)
        axes.margins(0.14, 0.1)
        left = put_names(axes, _names(placed, best), [*((x, y) for _, x, y in placed), *_along(placed, best)])
        tips = {
            f"policy-{at}": f"{policy}: {digits(x, 2)} calls, {digits(y, 1)} % correct"
            for at, (policy, x, y) in enumerate(placed)
        }
        told = ", ".join(f"{policy} ({digits(x, 2)} calls, {digits(y, 1)} %)" for policy, x, y in best)
        svg = to_svg(
            figure,
            name=name,
            title=f"Correct decisions against calls: {found.title}",
            text=f"{len(placed)} policies. On the Pareto front of policies without gold: {told}.",
            tips=tips,
        )
    caption = (
        "Correct decisions against calls. Diamond: the default, with 95 % intervals. Filled circles on the solid "
        "line: the Pareto front of policies without gold; hollow circles lie below it. Squares on the dashed "
        "line: a fixed number of calls. Stars: oracles, which know the annotations."
    )
    if left:
        caption += f" Without a name for lack of room: {', '.join(shown(one) for one in left)}."
    return Plot(svg=svg, caption=caption)


def _marks(
    axes: Axes, placed: Sequence[tuple[str, float, float]], best: Sequence[tuple[str, float, float]]
) -> None:
    fixed = sorted(((x, y) for policy, x, y in placed if fixed_calls(policy)))
    axes.plot(
        [x for _, x, _ in best],
        [y for _, _, y in best],
        color=ONE,
        linewidth=1.6,
        drawstyle="steps-post",
        zorder=2,
    )
    axes.plot([x for x, _ in fixed], [y for _, y in fixed], color=TWO, linewidth=1.4, linestyle="--", zorder=2)
    on_front = {policy for policy, _, _ in best}
    for at, (policy, x, y) in enumerate(placed):
        look: dict[str, Any]
        if policy == DEFAULT:
            look = {"marker": "D", "markersize": 9, "markerfacecolor": INK, "markeredgecolor": PAPER, "zorder": 5}
        elif uses_gold(policy):
            look = {
                "marker": "*",
                "markersize": 13,
                "markerfacecolor": THREE,
                "markeredgecolor": PAPER,
                "zorder": 4,
            }
        elif fixed_calls(policy):
            look = {"marker": "s", "markersize": 6, "markerfacecolor": TWO, "markeredgecolor": TWO, "zorder": 3}
        else:
            fill = ONE if policy in on_front else PAPER
            look = {"marker": "o", "markersize": 7, "markerfacecolor": fill, "markeredgecolor": ONE, "zorder": 3}
        axes.plot([x], [y], linestyle="none", gid=f"policy-{at}", **look)


def _along(
    placed: Sequence[tuple[str, float, float]], best: Sequence[tuple[str, float, float]]
) -> list[tuple[float, float]]:
    """Points of both lines that names should not cover."""
    fixed = sorted((x, y) for policy, x, y in placed if fixed_calls(policy))
    steps = [(x, y) for one, two in pairwise(best) for x, y in ((one[1], one[2]), (two[1], one[2]))]
    return [point for line in (fixed, [*steps, *((x, y) for _, x, y in best[-1:])]) for point in along(line)]


def _cross(axes: Axes, row: Row | None) -> None:
    """The intervals of the default."""
    x, y = number(row, CALLS), number(row, RIGHT)
    ends = [number(row, f"{name}_{end}") for name in (CALLS, RIGHT) for end in ("lo", "hi")]
    known = [end for end in ends if end is not None]
    if x is None or y is None or len(known) < len(ends):
        return
    left, right, low, high = known
    axes.plot([left, right], [y * 100, y * 100], color=INK, linewidth=1.2, zorder=4)
    axes.plot([x, x], [low * 100, high * 100], color=INK, linewidth=1.2, zorder=4)


def _names(placed: Sequence[tuple[str, float, float]], best: Sequence[tuple[str, float, float]]) -> list[Name]:
    """The default, the oracles, the ends of the row of fixed numbers, the front."""
    on_front = {policy for policy, _, _ in best}
    fixed = sorted((fixed_calls(policy) or 0, policy) for policy, _, _ in placed if fixed_calls(policy))
    ends = {fixed[0][1], fixed[-1][1]} if fixed else set()
    wanted = []
    for rank, policy, x, y in sorted((_rank(policy, on_front, ends), policy, x, y) for policy, x, y in placed):
        if rank < len(_COLOURS):
            colour = _COLOURS[rank]
            wanted.append(Name(text=short(policy), x=x, y=y, colour=colour, strong=rank == 0))
    return wanted


def _rank(policy: str, on_front: set[str], ends: set[str]) -> int:
    if policy == DEFAULT:
        return 0
    if uses_gold(policy):
        return 1
    return 2 if policy in ends else 3 if policy in on_front else 4


def regret_plot(found: Replayed, *, name: str) -> Plot | None:
    """Regret to the oracle of the utility, the lowest first; None where no policy has one."""
    bars = sorted(
        ((value, policy) for policy, row in found.policies.items() if (value := number(row, REGRET)) is not None),
        reverse=True,
    )
    if not bars:
        return None
    with drawing(64 + 21 * len(bars)) as figure:
        axes = figure.add_subplot()
        for at, (value, policy) in enumerate(bars):
            _bar(axes, at, value, policy, found.policies[policy])
        axes.set_yticks(range(len(bars)), [short(policy) for _, policy in bars])
        for label, (_, policy) in zip(axes.get_yticklabels(), bars, strict=True):
            label.set_fontweight("bold" if policy == DEFAULT else "normal")
        axes.set_ylim(-0.7, len(bars) - 0.3)
        axes.set_xlim(left=0)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("regret: mean utility below the best end")
        axes.grid(visible=True, axis="x")
        axes.set_axisbelow(True)
        lowest = [f"{policy} {digits(value)}" for value, policy in reversed(bars) if not uses_gold(policy)][:3]
        svg = to_svg(
            figure,
            name=name,
            title=f"Regret by policy: {found.title}",
            text=f"{len(bars)} policies. Lowest regret without gold: {', '.join(lowest) or 'none'}.",
        )
    caption = (
        "Regret: by how much the mean utility lies below that of the best end of each search. Lines: 95 % "
        "intervals. The default's name is bold. Hatched: oracles, which know the annotations."
    )
    return Plot(svg=svg, caption=caption)


def _bar(axes: Axes, at: int, value: float, policy: str, row: Row) -> None:
    gold = uses_gold(policy)
    fill = INK if policy == DEFAULT else "none" if gold else ONE
    axes.barh(at, value, height=0.62, color=fill, edgecolor=THREE if gold else fill, hatch="///" if gold else None)
    low, high = number(row, f"{REGRET}_lo"), number(row, f"{REGRET}_hi")
    if low is not None and high is not None:
        axes.plot([low, high], [at, at], color=PAPER, linewidth=4, solid_capstyle="butt")
        axes.plot([low, high], [at, at], color=INK, linewidth=1.4, marker="|", markersize=7)
