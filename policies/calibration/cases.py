"""Recorded searches with labels, as calibration sees them. The unit is the group, never the search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import CalibrationDataError
from ..replay import Recorded

CANDIDATES = 60
"""Most thresholds that are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One recorded search and whether its evidence was complete.

    Raises:
        CalibrationDataError: not one label for each recorded state, or no state.
    """

    group: str
    """Ties searches that are no independent trials: variants of one question, a question and its twin."""
    recorded: Recorded
    complete: tuple[bool, ...]
    """Whether the evidence held all annotated support, at each recorded state."""

    def __post_init__(self) -> None:
        states = len(self.recorded.states)
        if not states or len(self.complete) != states:
            raise CalibrationDataError(
                f"A search of group {self.group!r} has {states} recorded states and {len(self.complete)} labels; "
                "it needs at least one state, and a label for each. Record it again."
            )

    @property
    def supportable(self) -> bool:
        """Whether its evidence was complete at any time: no policy answers another one with support."""
        return any(self.complete)

    @property
    def scores(self) -> tuple[float, ...]:
        """Its valid scores, in order of the states; what is NaN, infinite or missing is left out (case S04)."""
        found = (state.score for state in self.recorded.states)
        return tuple(score for score in found if score is not None)


@dataclass(frozen=True, slots=True)
class Look:
    """One scored state with its label."""

    score: float
    turn: int
    complete: bool
    weight: float
    """All looks of one group together weigh 1."""


def by_group(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The searches of each group, groups in order of their names: the order of a file changes nothing."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return dict(sorted(groups.items()))


def looks(cases: Iterable[Case]) -> list[Look]:
    """Every validly scored state, each group with the same weight.

    Raises:
        CalibrationDataError: there is none.
    """
    found: list[Look] = []
    for members in by_group(cases).values():
        mine = [
            (state.score, state.turn, complete)
            for case in members
            for state, complete in zip(case.recorded.states, case.complete, strict=True)
            if state.score is not None
        ]
        found += [Look(score, turn, complete, 1 / len(mine)) for score, turn, complete in mine]
    if not found:
        raise CalibrationDataError(
            "No recorded search has a valid score. Record searches with a scorer that works."
        )
    return found


def thresholds_seen(cases: Iterable[Case]) -> tuple[float, ...]:
    """Candidates for a threshold: quantiles of the scores seen; empty without a valid score."""
    return spread([score for case in cases for score in case.scores])


def spread(scores: ArrayLike, most: int = CANDIDATES) -> tuple[float, ...]:
    """At most so many of the scores, rising strictly, evenly by rank; with the lowest and the highest."""
    found = np.asarray(scores, dtype=np.float64)
    if not found.size:
        return ()
    return tuple(map(float, np.unique(np.quantile(found, np.linspace(0, 1, most), method="nearest"))))


def one_of_each(groups: Sequence[Sequence[Case]], seed: int) -> list[Case]:
    """One search of each group, drawn: independent trials of "a group, then one of its searches"."""
    draw = np.random.default_rng(seed)
    return [members[int(draw.integers(len(members)))] for members in groups if members]


def divided(groups: int, share: float, seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of groups to learn from and of groups to test on, both in the order in which they were drawn."""
    order = np.random.default_rng(seed).permutation(groups)
    cut = round(groups * share)
    return order[:cut], order[cut:]
