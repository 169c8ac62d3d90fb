"""What a stop policy says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .errors import PolicyContractError

ReasonCode: TypeAlias = Literal[
    # answer
    "threshold_met", "fixed_k", "unchecked_answer", "chance", "answer_stable", "llm_stop", "llm_sufficient",
    "worth_answering", "oracle",
    # search on
    "below_threshold", "in_band", "min_turns", "fixed_k_pending", "progress", "chance_pending", "answer_unstable",
    "llm_search", "llm_insufficient", "not_observed", "worth_searching", "oracle_pending",
    # why it cannot or should not go on here; a patient policy searches on with some of these
    "never", "below_band", "stagnation", "no_gain", "low_novelty", "not_worth_it", "oracle_hopeless",
    "no_evidence", "nothing_to_ask", "tier_failed", "score_invalid",
    "budget_turns", "budget_calls", "budget_seconds", "budget_tokens", "budget_price",
    "budget_fetches",
    # after an answer was produced
    "not_verified", "answer_failed",
]  # fmt: skip
"""Every reason that the product itself gives. A policy of your own may use other strings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why: a code for machines, who said it, and the numbers that it rests on.

    Raises:
        PolicyContractError: a value is NaN or infinite; nothing may rest on it.
    """

    code: ReasonCode | str
    by: str
    """The policy or part that gave it, outermost first, e.g. `band`, `first_of/stagnation`, `enforce/band`."""
    values: Mapping[str, float] = field(default_factory=dict)
    """E.g. `{"score": 1.2, "answer_at": 1.0}`; finite numbers only."""
    overruled: tuple[str, ...] = ()
    """Codes of the reasons that this one took the place of, the latest first: an `unchecked_answer` may stand
    over `("budget_calls", "in_band")`."""

    def __post_init__(self) -> None:
        if all(map(math.isfinite, self.values.values())):
            return
        bad = {name: value for name, value in self.values.items() if not math.isfinite(value)}
        raise PolicyContractError(
            f"The reason {self.code!r} of {self.by!r} rests on {bad}; its values must be finite numbers. "
            "Let the policy search on where a number is missing; SearchState.score is None then."
        )

    def replaced(
        self, code: ReasonCode | str, *, by: str = "", values: Mapping[str, float] | None = None
    ) -> Reason:
        """Another code in the place of this one, which stays known in `overruled`, as its numbers do.

        >>> Reason(code="in_band", by="band").replaced("budget_calls", by="enforce").overruled
        ('in_band',)
        """
        return Reason(
            code=code,
            by=f"{by}/{self.by}" if by else self.by,
            values={**self.values, **(values or {})},
            overruled=(self.code, *self.overruled),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNow:
    """The evidence suffices: answer from it."""

    reason: Reason
    action: Literal["answer"] = "answer"
    """Tells the decisions apart in JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOn:
    """Search on in this tier."""

    reason: Reason
    action: Literal["search"] = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Widen:
    """Leave this tier for another one that was not tried yet."""

    reason: Reason
    tier: str | None = None
    """The tier to go to; None, or a name that is not left = the next in order."""
    action: Literal["widen"] = "widen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstain:
    """Stop without an answer."""

    reason: Reason
    action: Literal["abstain"] = "abstain"


Decision: TypeAlias = AnswerNow | SearchOn | Widen | Abstain
