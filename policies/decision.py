"""What a stop policy says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ReasonCode: TypeAlias = Literal[
    # answer
    "threshold_met", "fixed_k", "unchecked_answer",
    # search on
    "below_threshold", "in_band", "min_turns", "fixed_k_pending",
    # why it cannot or should not go on here
    "below_band", "stagnation", "no_gain", "no_evidence", "nothing_to_ask", "tier_failed", "score_invalid",
    "budget_turns", "budget_calls", "budget_seconds", "budget_tokens", "budget_price",
    # after an answer was produced
    "not_verified", "answer_failed",
]  # fmt: skip
"""Every reason that the product itself gives. A policy of your own may use other strings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why: a code for machines, who said it, and the numbers that it rests on."""

    code: ReasonCode | str
    by: str
    """The policy or part that gave it, e.g. `band`, `first_of/stagnation`."""
    values: Mapping[str, float] = field(default_factory=dict)
    """E.g. `{"score": 1.2, "answer_at": 1.0}`; finite numbers only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNow:
    """The evidence suffices: answer from it."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOn:
    """Search on in this tier."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Widen:
    """Leave this tier for another one that was not tried yet."""

    reason: Reason
    tier: str | None = None
    """The tier to go to; None = the next in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstain:
    """Stop without an answer."""

    reason: Reason


Decision: TypeAlias = AnswerNow | SearchOn | Widen | Abstain
