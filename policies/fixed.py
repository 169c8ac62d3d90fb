"""Fixed-k: the baseline that looks at no score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import leave_tier, unchecked_at_end
from .parameters import require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True)
class FixedK:
    """Answers after `k` calls, whatever was found: unchecked by design, the baseline for policies that look.

    A call is one query to one tier. A turn may make two calls, so the last turn can pass `k` by one;
    `Budget(max_calls=k)` makes it exact. Where the search ends earlier, it answers then, with reason
    `unchecked_answer`. Without any passage it leaves the tier instead, and abstains after the last.

    Raises:
        PolicyParameterError: `k` below 1.
    """

    k: int
    """Calls."""
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_whole("FixedK", "k", self.k, at_least=1)

    @property
    def name(self) -> str:
        """E.g. `fixed-6`."""
        return f"fixed-{self.k}"

    def decide(self, state: SearchState) -> Decision:
        """Count calls."""
        if state.spend.calls < self.k:
            return unchecked_at_end(SearchOn(reason=self._reason("fixed_k_pending", state)), state)
        if state.passages:
            return AnswerNow(reason=self._reason("fixed_k", state))
        return leave_tier(self._reason("tier_failed" if state.failed_turns else "no_evidence", state), state)

    def _reason(self, code: str, state: SearchState) -> Reason:
        return Reason(code=code, by=self.name, values={"calls": state.spend.calls, "k": self.k})
