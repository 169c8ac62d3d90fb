"""Two opinions of the evidence in one number: the score, and how an answer that was tried from it behaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import not_before, not_observed, nothing_to_judge
from .errors import PolicyParameterError
from .parameters import require_threshold, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeWeights:
    """What score, stability and margin of a probed answer add to the log-odds of complete support. Fitted.

    Raises:
        PolicyParameterError: a weight NaN or infinite, or a negative one of the score or of stability.
    """

    score: float
    stable: float
    """Of the natural logarithm of the looks in a row with this answer."""
    margin: float
    """Of the lead of the answer; counts 0 where the answer has none."""
    unmarked: float
    """Of an answer that has no margin: yes or no, one of two, a whole sentence."""

    def __post_init__(self) -> None:
        for name in ("score", "stable", "margin", "unmarked"):
            require_threshold("ProbeWeights", name, getattr(self, name))
        if min(self.score, self.stable) < 0:
            raise PolicyParameterError(
                f"ProbeWeights: score and stable must be at least 0, they are {self.score} and {self.stable}. A "
                "fit that says otherwise rests on too little."
            )

    def evidence(self, score: float, stable: float, margin: float | None) -> float:
        """The sum, on the scale of log-odds without an intercept.

        >>> ProbeWeights(score=1.0, stable=2.0, margin=3.0, unmarked=0.5).evidence(0.5, 1.0, None)
        1.0
        """
        marked = self.unmarked if margin is None else self.margin * margin
        return self.score * score + self.stable * math.log(max(stable, 1.0)) + marked


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """Answers when score and probed answer together reach `answer_at`; never gives up by itself.

    Stability and margin are the two signs of TASR (see `policies.stability`), which looks at no score; that a
    logistic curve joins the three is ours. It costs an answer after each turn, which nobody sees.
    Monotone: a higher score of the present evidence never turns an answer into going on.

    Raises:
        PolicyParameterError: `answer_at` NaN or infinite, `min_turns` below 1.
    """

    weights: ProbeWeights
    answer_at: float
    """On the scale of `ProbeWeights.evidence`."""
    min_turns: int = 1
    """No answer before so many turns, as long as another turn is possible."""
    name: ClassVar[str] = "probed"
    requires: ClassVar[frozenset[str]] = frozenset({"probe"})

    def __post_init__(self) -> None:
        require_threshold("Probed", "answer_at", self.answer_at)
        require_whole("Probed", "min_turns", self.min_turns, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Hold the sum against the threshold."""
        score, stable = state.score, state.observed("probe.stable")
        if score is None:
            return nothing_to_judge(self.name, state)
        if stable is None or not state.passages:
            return not_observed(self.name, state)
        evidence = self.weights.evidence(score, stable, state.observed("probe.margin"))
        values = {"score": score, "stable": stable, "evidence": evidence, "answer_at": self.answer_at}
        if evidence >= self.answer_at:
            answer = AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
            return not_before(self.min_turns, answer, state)
        return SearchOn(reason=Reason(code="below_threshold", by=self.name, values=values))
