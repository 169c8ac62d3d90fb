"""Recorded searches made of numbers, for tests of calibration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from policies import SearchState, StopPolicy
from policies.calibration import Case
from policies.replay import Recorded
from policies.threshold import ScoreThreshold
from retrieval import Allowance, Spend

LOOKS = 6


def threshold(answer_at: float) -> StopPolicy:
    """The simplest family."""
    return ScoreThreshold(answer_at=answer_at)


def case(
    group: str, scores: Sequence[float | None], complete_from: int | None, *, horizon: int | None = None
) -> Case:
    """One call a turn, five new passages each; the budget ends with the last score, unless `horizon` says else.

    Args:
        group: Of the search.
        scores: After each turn.
        complete_from: Turn, from 1, from which on the evidence is complete; None = never.
        horizon: Calls that the budget allows.
    """
    calls = len(scores) if horizon is None else horizon
    states = [
        SearchState(
            turn=turn,
            tier="local",
            scores=tuple(scores[:turn]),
            score_invalid=scores[turn - 1] is None,
            new_passages=(5,) * turn,
            passages=5 * turn,
            tier_turns=turn,
            spend=Spend(calls=turn),
            left=Allowance(turns=calls - turn, calls=calls - turn),
        )
        for turn in range(1, len(scores) + 1)
    ]
    complete = tuple(complete_from is not None and state.turn >= complete_from for state in states)
    return Case(group=group, recorded=Recorded(states), complete=complete)


def pairs(number: int, *, seed: int, gain: float = 4.0, never: float = 0.2) -> list[Case]:
    """Questions, whose evidence as a rule becomes complete and then scores `gain` more, each with a twin."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    for place in range(number):
        start = None if rng.random() < never else int(rng.integers(1, LOOKS))
        for complete_from in (start, None):
            lift = [gain * (complete_from is not None and turn >= complete_from) for turn in range(1, LOOKS + 1)]
            scores = [float(score) for score in rng.normal(0, 1, LOOKS) + lift]
            found.append(case(f"q{place:04}", scores, complete_from))
    return found
