"""From a rule that ends a search to a policy that also says whether to answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from .budget import enforce
from .combine import said_by
from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .endings import leave_tier
from .parameters import require_threshold
from .policy import StopPolicy
from .state import SearchState


@dataclass(frozen=True, slots=True)
class Gated:
    """Lets `part` say when to stop, and the score whether to answer then.

    `part` stops when it says anything but search on, or when its search ends because nothing can go on. Then a
    score of at least `answer_at` answers. Any other does not: the tier is left as the part wished, and where it
    wished to answer, the search widens, and abstains after the last tier (cases L08, L10). Published stop rules
    (no more gain, nothing new) answer whenever they stop: that is `answer_at=None`, unchecked by the user's choice
    (case L06), and the reason says so.

    Monotone where `part` looks at no score: a higher score of the present evidence never takes an answer back.

    Raises:
        PolicyParameterError: `answer_at` NaN or infinite.
    """

    part: StopPolicy
    answer_at: float | None
    """On the scorer's own scale; fitted for one fingerprint. None = no gate: answers if there is evidence."""
    name: ClassVar[str] = "gated"

    def __post_init__(self) -> None:
        if self.answer_at is not None:
            require_threshold("Gated", "answer_at", self.answer_at, remedy="Pass answer_at=None for no gate.")

    @property
    def requires(self) -> frozenset[str]:
        """What the part requires."""
        return self.part.requires

    def decide(self, state: SearchState) -> Decision:
        """Ask the part, then the gate."""
        wish = said_by(self.name, self.part.decide(state))
        if isinstance(wish, SearchOn):
            end = enforce(wish, state)
            return self._stopped(end, state) if isinstance(end, Abstain) else wish
        return self._stopped(wish, state)

    def _stopped(self, stop: AnswerNow | Widen | Abstain, state: SearchState) -> Decision:
        if not state.passages or (self.answer_at is None and isinstance(stop, AnswerNow)):
            return stop
        if self.answer_at is None:
            return AnswerNow(reason=stop.reason.replaced("unchecked_answer"))
        if state.score is None:
            return _refused(stop, stop.reason.replaced("score_invalid"), state)
        values = {"score": state.score, "answer_at": self.answer_at}
        if state.score >= self.answer_at:
            return AnswerNow(reason=stop.reason.replaced("threshold_met", values=values))
        return _refused(stop, stop.reason.replaced("below_threshold", values=values), state)


def _refused(stop: AnswerNow | Widen | Abstain, reason: Reason, state: SearchState) -> Decision:
    """The stop as the part wished it, but no answer."""
    return leave_tier(reason, state) if isinstance(stop, AnswerNow) else replace(stop, reason=reason)
