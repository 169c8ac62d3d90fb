"""Policies that hold the sufficiency score against thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import leave_tier, not_before, nothing_to_judge
from .errors import PolicyParameterError
from .parameters import require_threshold, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreThreshold:
    """Answers when the score is at least `answer_at`; never gives up by itself.

    Monotone: a higher score of the present evidence never turns an answer into going on.

    Raises:
        PolicyParameterError: `answer_at` NaN or infinite, `min_turns` below 1.
    """

    answer_at: float
    """On the scorer's own scale; fitted for one fingerprint."""
    min_turns: int = 1
    """No answer before so many turns, as long as another turn is possible."""
    name: ClassVar[str] = "threshold"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_threshold("ScoreThreshold", "answer_at", self.answer_at)
        require_whole("ScoreThreshold", "min_turns", self.min_turns, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Hold the score against the threshold."""
        score = state.score
        if score is None:
            return nothing_to_judge(self.name, state)
        values = {"score": score, "answer_at": self.answer_at}
        if score >= self.answer_at:
            answer = AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
            return not_before(self.min_turns, answer, state)
        return SearchOn(reason=Reason(code="below_threshold", by=self.name, values=values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Answers from `answer_at` up, goes on inside the band, gives the tier up below `abstain_below`.

    The first turns of a search with several hops often score low, because half of the support covers little of
    the question. So it takes `patience` low scores in a row, each on evidence that is new from the present tier,
    to give that tier up: the search then widens, and after the last tier it abstains (case L10). A turn without
    new passages, or without a valid score, neither adds to the row nor breaks it.
    Monotone: with a higher score of the present evidence the decision moves from giving up over going on to
    answering, never back.

    Raises:
        PolicyParameterError: a threshold NaN or infinite, `abstain_below` above `answer_at`, a count below 1.
    """

    answer_at: float
    """On the scorer's own scale; fitted for one fingerprint."""
    abstain_below: float
    """Same scale, at most `answer_at`. Equal: there is no band, only low and high."""
    min_turns: int = 1
    """Neither answer nor abstention before so many turns, as long as another turn is possible."""
    patience: int = 2
    """How many low scores in a row give a tier up."""
    name: ClassVar[str] = "band"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_threshold("Band", "answer_at", self.answer_at)
        require_threshold("Band", "abstain_below", self.abstain_below)
        if self.abstain_below > self.answer_at:
            raise PolicyParameterError(
                f"Band: abstain_below must be at most answer_at ({self.answer_at}), it is {self.abstain_below}. "
                "Lower it, or use ScoreThreshold, which never gives up on a low score."
            )
        require_whole("Band", "min_turns", self.min_turns, at_least=1)
        require_whole("Band", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Place the score above, inside or below the band."""
        score = state.score
        if score is None:
            return nothing_to_judge(self.name, state)
        return not_before(self.min_turns, self._judged(score, state), state)

    def _judged(self, score: float, state: SearchState) -> Decision:
        values = {"score": score, "answer_at": self.answer_at, "abstain_below": self.abstain_below}
        if score >= self.answer_at:
            return AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
        if score >= self.abstain_below:
            return SearchOn(reason=Reason(code="in_band", by=self.name, values=values))
        low = self._low_in_a_row(state)
        values |= {"low_turns": low, "patience": self.patience}
        reason = Reason(code="below_band", by=self.name, values=values)
        return leave_tier(reason, state) if low >= self.patience else SearchOn(reason=reason)

    def _low_in_a_row(self, state: SearchState) -> int:
        """The latest scores of this tier below the band, counted on new evidence only."""
        low = 0
        for score, new in zip(reversed(state.tier_scores), reversed(state.tier_new_passages), strict=False):
            if score is None or new == 0:
                continue
            if score >= self.abstain_below:
                break
            low += 1
        return low
