"""The policies that a command line or a configuration names."""

from __future__ import annotations

import re

from .combine import AnswerAtEnd, FirstOf
from .errors import PolicyParameterError
from .fixed import FixedK
from .policy import StopPolicy
from .stagnation import Stagnation
from .threshold import Band, ScoreThreshold

DEFAULT_POLICY = "band"
"""What `sufficit ask` uses."""
KNOWN_POLICIES = ("band", "fixed-K", "threshold")
"""Names that `build_policy` understands; K is a number of calls, as in `fixed-6`."""


def build_policy(
    spec: str = DEFAULT_POLICY,
    *,
    answer_at: float,
    abstain_below: float,
    min_turns: int = 1,
    patience: int = 2,
    unchecked: bool = False,
) -> StopPolicy:
    """Build a policy from its name.

    Args:
        spec: `band` (answer, go on, give up) and `threshold` (answer or go on), each with `Stagnation` behind it,
            or `fixed-K`, which uses none of the other parameters.
        answer_at: Answer from this score up.
        abstain_below: `band` gives a tier up below this score.
        min_turns: Neither answer nor abstain for a score before so many turns.
        patience: Low scores, or turns without new passages, in a row that give a tier up.
        unchecked: Answer from whatever evidence there is where the search would otherwise abstain.

    Raises:
        PolicyParameterError: an unknown name, or parameters that the policy refuses.

    >>> build_policy("fixed-6", answer_at=0.0, abstain_below=0.0)
    FixedK(k=6)
    """
    policy: StopPolicy
    fixed = re.fullmatch(r"fixed-([0-9]{1,6})", spec)
    if fixed:
        policy = FixedK(int(fixed.group(1)))
    elif spec == "band":
        band = Band(answer_at=answer_at, abstain_below=abstain_below, min_turns=min_turns, patience=patience)
        policy = FirstOf(band, Stagnation(patience))
    elif spec == "threshold":
        policy = FirstOf(ScoreThreshold(answer_at=answer_at, min_turns=min_turns), Stagnation(patience))
    else:
        raise PolicyParameterError(
            f"Unknown policy {spec!r}. Known: {', '.join(KNOWN_POLICIES)} (K = calls, e.g. fixed-6)."
        )
    return AnswerAtEnd(policy) if unchecked else policy
