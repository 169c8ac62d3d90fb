"""Budgets, and the one place where they overrule a policy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from retrieval import Allowance, Spend

from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .errors import PolicyParameterError
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that one search may use. `None` = unlimited; 0 = nothing.

    Budgets are global to a search: widening to another tier never resets them (case L09). An exhausted budget
    is a decision with a reason, not an exception.

    Raises:
        PolicyParameterError: a negative or NaN amount.
    """

    max_turns: int | None = 8
    """Checked before a turn."""
    max_calls: int | None = 16
    """Checked before each call; a turn asks fewer queries when fewer calls are left."""
    max_seconds: float | None = 120.0
    """Wall clock; checked before a turn, and each await in it is cut at it. Answering has its own time-out."""
    max_tokens: int | None = None
    """Tokens of language models; checked before a turn."""
    max_price: float | None = None
    """In the unit of the tiers' prices; checked before each call."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and (math.isnan(value) or value < 0):
                raise PolicyParameterError(
                    f"{name} must be a number of at least 0, or None for unlimited; it is {value}."
                )

    def left(self, spend: Spend, *, turns: int) -> Allowance:
        """What is left after `spend` and `turns` finished turns."""
        return Allowance(
            turns=None if self.max_turns is None else self.max_turns - turns,
            calls=None if self.max_calls is None else self.max_calls - spend.calls,
            seconds=None if self.max_seconds is None else self.max_seconds - spend.seconds,
            tokens=None if self.max_tokens is None else self.max_tokens - spend.tokens,
            price=None if self.max_price is None else self.max_price - spend.price,
        )


def enforce(decision: Decision, state: SearchState) -> Decision:
    """What can really be done about a policy's wish.

    An answer or an abstention stands. Going on needs a budget, and in this tier also a query to ask and a tier
    that works; where only the latter are missing, the search widens. What cannot go on abstains: no wish to
    search on ever turns into an answer here (case L06).
    """
    if isinstance(decision, AnswerNow | Abstain):
        return decision
    if state.left.exhausted is not None:
        return Abstain(reason=_why(decision, state, f"budget_{state.left.exhausted}"))
    if isinstance(decision, Widen):
        if state.tiers_left:
            return decision
        return Abstain(reason=decision.reason)
    blocked = _blocked(state)
    if blocked is None:
        return decision
    reason = _why(decision, state, blocked)
    return Widen(reason=reason) if state.tiers_left else Abstain(reason=reason)


def _blocked(state: SearchState) -> str | None:
    """Why this tier cannot be searched further, or None."""
    if state.nothing_to_ask:
        return "nothing_to_ask"
    if state.failed_turns and (state.tiers_left or state.failed_turns > 1):
        return "tier_failed"  # the only tier left gets one more try
    if state.passages == 0 and state.tier_turns > 0 and not state.failed_turns:
        return "no_evidence"
    return None


def _why(decision: SearchOn | Widen, state: SearchState, code: str) -> Reason:
    """The reason to stop; a score that could not be used outranks all, an empty search outranks a budget."""
    if state.passages == 0 and not state.failed_turns and state.turn > 0:
        code = "no_evidence"
    elif state.score_invalid:
        code = "score_invalid"
    return Reason(code=code, by=f"enforce/{decision.reason.by}", values=decision.reason.values)
