"""Curves behind the rows, as plain lists, for plots: risk by coverage, utility by calls, when searches stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .roster import DEFAULT, Entry
from .rows import Part
from .selective import curve

ON_CURVE = 200
"""Most points of one curve; more are thinned evenly."""


def curves(parts: Sequence[Part], entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """One object for each dataset with all its searches, twins included; `docs/stopping.md` lists its keys."""
    return [_curves(part, entries) for part in parts if part.subset == "all"]


def _curves(part: Part, entries: Sequence[Entry]) -> dict[str, Any]:
    return {
        "dataset": part.dataset,
        "pareto": [_point(part, entry.name) for entry in entries if (entry.name, "utility") in part.sheet.columns],
        "risk_coverage": _risk_coverage(part, entries),
        "stop_turns": _stops(part, entries),
    }


def _point(part: Part, policy: str) -> dict[str, Any]:
    """Where a policy lies: calls across, correct decisions and utility up."""
    names = ("calls_per_question", "correct_decisions", "utility")
    found = {name: part.sheet.interval(policy, name) for name in names}
    return {
        "policy": policy,
        **{name: interval.estimate for name, interval in found.items()},
        **{f"{name}_lo": interval.lo for name, interval in found.items()},
        **{f"{name}_hi": interval.hi for name, interval in found.items()},
    }


def _risk_coverage(part: Part, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """By the score at the stop, for each policy; and the point that it answers at itself."""
    if part.board is None:
        return []
    found = []
    for entry in entries:
        played = part.plays.get(entry.name)
        if played is None or played.off.any():
            continue
        points = curve(
            part.board.at(part.board.score, played.look), part.board.at(part.board.complete, played.look) > 0
        )
        thinned = np.unique(np.linspace(0, len(points) - 1, ON_CURVE).round().astype(int))
        found.append(
            {
                "policy": entry.name,
                "points": [[points[at]["coverage"], points[at]["risk"]] for at in thinned],
                "coverage": part.sheet.interval(entry.name, "coverage").estimate,
                "risk": part.sheet.interval(entry.name, "risk").estimate,
                "certified": entry.name.startswith("ltt-"),
            }
        )
    return found


def _stops(part: Part, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """How many searches each policy ended after each turn, answered or not, beside the oracle of the support."""
    if part.board is None:
        return []
    found = []
    for entry in entries:
        played = part.plays.get(entry.name)
        if played is None or played.off.any():
            continue
        turns = part.board.at(part.board.turns, played.look).astype(int)
        last = int(part.board.turns.max()) + 1
        found.append(
            {
                "policy": entry.name,
                "answered": np.bincount(turns[played.answered], minlength=last).tolist(),
                "abstained": np.bincount(turns[~played.answered], minlength=last).tolist(),
                "reference": entry.name == DEFAULT,
            }
        )
    return found
