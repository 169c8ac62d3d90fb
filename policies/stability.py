"""Policies that stop when the answer stops changing. An observer `probe` asks the answerer after each turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import not_observed
from .parameters import require_amount, require_whole
from .state import SearchState

_STABLE = "probe.stable"
"""How many turns in a row, the latest included, gave the same normalised answer; 1 = it has just changed."""
_MARGIN = "probe.margin"
"""By how much the best candidate leads the next one with another text, on the answerer's own scale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStability:
    """Answers when the probed answer was the same for `turns` turns in a row. Never gives up by itself.

    Self-consistency over time; the first half of TASR, see `Tasr`. It looks at no score.

    Raises:
        PolicyParameterError: `turns` below 2: one answer alone is always the same as itself.
    """

    turns: int = 2
    """The latest turn included."""
    name: ClassVar[str] = "stability"
    requires: ClassVar[frozenset[str]] = frozenset({"probe"})

    def __post_init__(self) -> None:
        require_whole("AnswerStability", "turns", self.turns, at_least=2)

    def decide(self, state: SearchState) -> Decision:
        """Count the latest turns with the same answer."""
        stable = state.observed(_STABLE)
        if stable is None or not state.passages:
            return not_observed(self.name, state)
        return _when(stable >= self.turns, {"stable": stable, "turns": self.turns}, by=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasr:
    """Answers when the probed answer was the same for `turns` turns in a row and leads by more than `margin`.

    TASR (Kieback et al. 2026, "TASR: Training-Free Adaptive Stopping for Iterative Retrieval", arXiv 2606.13814):
    stop when the model repeats its normalised answer of the round before and its isotonically calibrated logit
    margin exceeds 0.25. Here the margin is the answerer's own, on its own scale and not calibrated, so the
    threshold must be chosen for the answerer; 0.25 has no meaning on it. Its paper compares it with fixed-k
    over all questions, so it answers at the end of the rounds too: `AnswerAtEnd(Tasr(...))`. Read was the paper's
    abstract only. Monotone in the margin; it looks at no score.

    Raises:
        PolicyParameterError: `turns` below 2, `margin` negative, NaN or infinite.
    """

    margin: float
    """On the answerer's scale; must be exceeded."""
    turns: int = 2
    """The latest turn included; 2 in the paper."""
    name: ClassVar[str] = "tasr"
    requires: ClassVar[frozenset[str]] = frozenset({"probe"})

    def __post_init__(self) -> None:
        require_amount("Tasr", "margin", self.margin)
        require_whole("Tasr", "turns", self.turns, at_least=2)

    def decide(self, state: SearchState) -> Decision:
        """Hold stability and margin against their thresholds. Without a rival candidate there is no margin."""
        stable, margin = state.observed(_STABLE), state.observed(_MARGIN)
        if stable is None or margin is None or not state.passages:
            return not_observed(self.name, state)
        values = {"stable": stable, "turns": self.turns, "margin": margin, "margin_above": self.margin}
        return _when(stable >= self.turns and margin > self.margin, values, by=self.name)


def _when(stable: bool, values: dict[str, float], *, by: str) -> Decision:
    if stable:
        return AnswerNow(reason=Reason(code="answer_stable", by=by, values=values))
    return SearchOn(reason=Reason(code="answer_unstable", by=by, values=values))
