"""A threshold that refuses few of the searches that could be answered (split conformal prediction)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..decision import AnswerNow
from ..errors import PolicyParameterError
from ..replay import Stop
from .cases import Case, by_group, one_of_each
from .outcomes import Family


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalControl:
    """What the data say about a threshold that refuses at most a share of the sufficient searches."""

    at_most: float
    """The demanded share, in (0, 1): on average over calibration sets, not with a confidence."""
    parameter: float | None
    """None: the data cannot support it."""
    groups: int
    """Groups with a search whose evidence became complete; one such search of each counts."""
    refused: float | None
    """Share of these that the parameter refuses; None without a parameter."""
    groups_needed: int | None
    """Least number of such groups; None: some are never answered at any threshold, more of them would not help."""


def conformal_place(count: int, *, at_most: float) -> int:
    """The k for which a new number is below the k-th lowest of `count` with probability at most `at_most`.

    If all are exchangeable it is so with probability at most k / (count + 1), so k = floor(at_most * (count + 1))
    (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a Random World", ch. 2). 0: no number of these keeps
    the promise.

    >>> conformal_place(99, at_most=0.08), conformal_place(11, at_most=0.08)
    (8, 0)
    """
    return math.floor(at_most * (count + 1) + 1e-9)


def fewest_numbers(at_most: float) -> int:
    """The least count for which `conformal_place` is above 0; `at_most` in (0, 1).

    >>> fewest_numbers(0.08), fewest_numbers(0.5)
    (12, 1)
    """
    return math.ceil(1 / at_most - 1 - 1e-9)


def control_refusals(cases: Sequence[Case], family: Family, *, at_most: float, seed: int = 0) -> RefusalControl:
    """The highest threshold that refuses at most a share of the searches whose evidence becomes complete.

    The bar of a search is its own highest score at which it is answered, and at all lower ones; the parameter is
    the one of `conformal_place`. For families whose decisions change only where the parameter passes a score.

    Raises:
        PolicyParameterError: `at_most` outside (0, 1).
    """
    if not 0 < at_most < 1:
        raise PolicyParameterError(
            f"Calibration: at_most must be between 0 and 1, it is {at_most}. It is a share."
        )
    sufficient = [[case for case in members if case.supportable] for members in by_group(cases).values()]
    bars = sorted(_bar(case, family) for case in one_of_each(sufficient, seed))
    place = conformal_place(len(bars), at_most=at_most)
    bar = bars[place - 1] if place else -math.inf
    found = math.isfinite(bar)
    return RefusalControl(
        at_most=at_most,
        parameter=bar if found else None,
        groups=len(bars),
        refused=sum(one < bar for one in bars) / len(bars) if found else None,
        groups_needed=None if place and not found else fewest_numbers(at_most),
    )


def _bar(case: Case, family: Family) -> float:
    """Minus infinity: it is refused whatever the threshold."""
    bar = -math.inf
    for score in sorted(set(case.scores)):
        end = case.recorded.play(family(score))
        if not (isinstance(end, Stop) and isinstance(end.decision, AnswerNow)):
            break
        bar = score
    return bar
