"""Bars for each turn, chosen on training searches: too many combinations to try all, so one bar at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from policies.bars import Bars

from .tuning import Merit, Tuner

TURNS = 3
"""Turns with bars of their own; from the last one on there is one bar, and what is below it is given up."""
SWEEPS = 6
"""Most rounds over all bars; three or four are enough."""

_Bar: TypeAlias = float | None


def climb(tuner: Tuner, *, turns: int = TURNS, refusal_price: float = 0.0) -> Bars:
    """Coordinate ascent: each bar in turn goes to the level that is best with the others as they are.

    It begins twice with no bar but one at the last turn, in the middle of the scores and where that bar is best,
    ends when a whole round changes nothing, and takes the better outcome. Deterministic; a local optimum.

    Args:
        tuner: Training searches, and the levels that are tried.
        turns: At least 1.
        refusal_price: See `Tuner.merit`.
    """

    def merit(bars: Bars) -> Merit | None:
        return tuner.merit(bars, refusal_price=refusal_price)

    levels = tuner.on.fine
    flat = max(
        levels, key=lambda level: _order(merit(_bars([None] * (turns - 1) + [level], [None] * (turns - 1))))
    )
    found = [_climbed(levels, start, turns, merit) for start in dict.fromkeys((levels[len(levels) // 2], flat))]
    return max(found, key=lambda bars: _order(merit(bars)))


def _climbed(levels: Sequence[float], start: float, turns: int, merit: Callable[[Bars], Merit | None]) -> Bars:
    """To the top, from one bar at the last turn."""
    upper: list[_Bar] = [*([None] * (turns - 1)), start]
    lower: list[_Bar] = [None] * (turns - 1)
    best = _order(merit(_bars(upper, lower)))
    for _ in range(SWEEPS):
        before = best
        for row, place in _coordinates(upper, lower):
            kept = row[place]
            for level in (None, *levels):
                row[place] = level
                if upper[-1] is None or _crossed(upper, lower):
                    continue
                found = _order(merit(_bars(upper, lower)))
                if found > best:
                    best, kept = found, level
            row[place] = kept
        if best == before:
            break
    return _bars(upper, lower)


def _order(merit: Merit | None) -> Merit:
    """What leaves the record comes last."""
    return (-math.inf, 0.0) if merit is None else merit


def _coordinates(upper: list[_Bar], lower: list[_Bar]) -> Iterator[tuple[list[_Bar], int]]:
    for place in range(len(upper)):
        yield upper, place
        if place < len(lower):
            yield lower, place


def _crossed(upper: Sequence[_Bar], lower: Sequence[_Bar]) -> bool:
    return any(
        high is not None and low is not None and low > high for high, low in zip(upper[:-1], lower, strict=True)
    )


def _bars(upper: Sequence[_Bar], lower: Sequence[_Bar]) -> Bars:
    return Bars(answer_at=tuple(upper), abstain_below=(*lower, upper[-1]))
