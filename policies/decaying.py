"""A bar that falls as the search goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import nothing_to_judge
from .errors import PolicyParameterError
from .parameters import require_threshold, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayingBar:
    """Answers when the score is at least a bar that falls in a line from `start` at turn 1 to `end` at turn
    `turns`, and stays there. Never gives up by itself.

    Where time is dear, the best bar for stopping falls with time (Frazier and Yu 2007, "Sequential hypothesis
    testing under stochastic deadlines"; Drugowitsch et al. 2012). That it falls in a line is ours.
    Monotone: a higher score of the present evidence never turns an answer into going on.

    Raises:
        PolicyParameterError: `start` or `end` NaN or infinite, `end` above `start`, `turns` below 2.
    """

    start: float
    """On the scorer's own scale; fitted for one fingerprint. Also the bar for given evidence."""
    end: float
    """Same scale, at most `start`."""
    turns: int = 6
    """From this turn on the bar stays at `end`."""
    name: ClassVar[str] = "decaying"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_threshold("DecayingBar", "start", self.start)
        require_threshold("DecayingBar", "end", self.end)
        if self.end > self.start:
            raise PolicyParameterError(
                f"DecayingBar: end must be at most start ({self.start}), it is {self.end}. Exchange "
                "them; a bar that rises would punish evidence for coming late."
            )
        require_whole("DecayingBar", "turns", self.turns, at_least=2)

    def decide(self, state: SearchState) -> Decision:
        """Hold the score against the bar of this turn."""
        score = state.score
        if score is None:
            return nothing_to_judge(self.name, state)
        bar = self.bar(state.turn)
        values = {"score": score, "answer_at": bar}
        if score >= bar:
            return AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
        return SearchOn(reason=Reason(code="below_threshold", by=self.name, values=values))

    def bar(self, turn: int) -> float:
        """The score that an answer after this turn takes.

        >>> [DecayingBar(start=1.0, end=0.5, turns=3).bar(turn) for turn in range(5)]
        [1.0, 1.0, 0.75, 0.5, 0.5]
        """
        share = min(max(turn - 1, 0) / (self.turns - 1), 1.0)
        return self.start + share * (self.end - self.start)
