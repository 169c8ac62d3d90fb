"""Bars for each turn, chosen on training searches: too many combinations to try all, so one bar at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

    It begins with no bars but one in the middle of the scores at the last turn, and ends when a whole round
    changes nothing. Deterministic; a local optimum.

    Args:
        tuner: Training searches, and the levels that are tried.
        turns: At least 1.
        refusal_price: See `Tuner.merit`.
    """
    levels: Sequence[_Bar] = (None, *tuner.on.fine)
    middle = tuner.on.fine[len(tuner.on.fine) // 2]
    upper: list[_Bar] = [*([None] * (turns - 1)), middle]
    lower: list[_Bar] = [None] * (turns - 1)

    def merit() -> Merit | None:
        return tuner.merit(_bars(upper, lower), refusal_price=refusal_price)

    best = merit()
    for _ in range(SWEEPS):
        before = best
        for row, place in _coordinates(upper, lower):
            kept = row[place]
            for level in levels:
                row[place] = level
                found = None if upper[-1] is None or _crossed(upper, lower) else merit()
                if found is not None and (best is None or found > best):
                    best, kept = found, level
            row[place] = kept
        if best == before:
            break
    return _bars(upper, lower)


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
