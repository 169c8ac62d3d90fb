"""Bars of its own for each turn: one to answer from, one to give up below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .budget import can_go_on
from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import leave_tier, nothing_to_judge
from .errors import PolicyParameterError
from .parameters import require_threshold
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Answers from the turn's upper bar up, gives the tier up below its lower bar, searches on between them.

    What a score means changes with the turn: after one call much support is still to come, so a middling score is
    a reason to go on; after three it is not. The two-sided boundaries that vary with time are those of optimal
    sequential tests at a price for each observation (Wald and Wolfowitz 1948; Arrow, Blackwell and Girshick 1949,
    "Bayes and minimax solutions of sequential decision problems"); here they are chosen on recorded searches.

    Turns are those on the present tier: a tier that was widened to begins with the first bars. Evidence that was
    given is never given up on. Where the search cannot go on, and for given evidence, the score is held against
    all bars to come: an answer takes the last upper bar and every lower one from this turn on.

    Monotone: with a higher score of the present evidence the decision moves from giving up over going on to
    answering, never back.

    Raises:
        PolicyParameterError: no bar, another number of lower bars than of upper ones, a bar NaN or infinite, a
            lower bar above its upper one, or no last upper bar.
    """

    answer_at: tuple[float | None, ...]
    """After turn 1, 2 and so on, on the scorer's own scale; None = no answer after this turn. The last one goes
    for all later turns."""
    abstain_below: tuple[float | None, ...]
    """As many, same scale; None = the tier is not given up after this turn."""
    name: ClassVar[str] = "bars"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if not self.answer_at or len(self.answer_at) != len(self.abstain_below) or self.answer_at[-1] is None:
            raise PolicyParameterError(
                "Bars: answer_at and abstain_below must hold one bar for each turn, at least 1, and the last of "
                f"answer_at a number; they are {self.answer_at} and {self.abstain_below}. Write None for no bar."
            )
        for upper, lower in zip(self.answer_at, self.abstain_below, strict=True):
            for name, bar in (("answer_at", upper), ("abstain_below", lower)):
                if bar is not None:
                    require_threshold("Bars", name, bar)
            if upper is not None and lower is not None and lower > upper:
                raise PolicyParameterError(
                    f"Bars: abstain_below must be at most answer_at ({upper}), it is {lower}. Lower it."
                )

    def decide(self, state: SearchState) -> Decision:
        """Hold the score against the bars of this turn."""
        score = state.score
        if score is None:
            return nothing_to_judge(self.name, state)
        upper, lower = self._bars(state)
        values = {"score": score}
        if upper is not None:
            values["answer_at"] = upper
            if score >= upper:
                return AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
        if lower is not None:
            values["abstain_below"] = lower
            if score < lower:
                return leave_tier(Reason(code="below_band", by=self.name, values=values), state)
        return SearchOn(reason=Reason(code="in_band", by=self.name, values=values))

    def _bars(self, state: SearchState) -> tuple[float | None, float | None]:
        last = len(self.answer_at) - 1
        place = min(max(state.tier_turns - 1, 0), last)
        if state.turn == 0 or not can_go_on(state):
            bars = (self.answer_at[last], *self.abstain_below[place:])
            return max(bar for bar in bars if bar is not None), None
        return self.answer_at[place], self.abstain_below[place]
