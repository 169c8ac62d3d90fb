"""The hand-set ladder of RAGFlow, as a rival."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from .calibrated import Calibration
from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import nothing_to_judge, unchecked_at_end
from .errors import PolicyParameterError
from .parameters import require_share, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class RagflowLadder:
    """Answers when the calibrated score reaches the rung of the turn, and unchecked where the search ends or when
    `patience` turns in a row gained less than `min_gain` each.

    From RAGFlow (infiniflow/ragflow, rag/advanced_rag/harness, read in 2026): a sufficiency threshold of .85, .75,
    .65 or .55 for the thinking modes low, medium, high and ultra (config.py), a partial answer when the score has
    stagnated with a gain below .05 or the cycles are over (orchestrator/agentic.py). Ours: the rungs follow each
    other in one search, the last for all later turns (there a mode is chosen beforehand and keeps its threshold);
    a calibrated score takes the place of its fusion of self-assessment and cross-check; both of two turns in a row
    must gain too little (there it is the latest, from the third cycle on). Not taken over: replanning, its
    thresholds for partial answers, and the rater of its later versions.

    Raises:
        PolicyParameterError: no rungs, rungs outside [0, 1] or rising, `min_gain` outside [0, 1], `patience` below
        1.
    """

    calibration: Calibration
    rungs: tuple[float, ...] = (0.85, 0.75, 0.65, 0.55)
    """Probabilities, for turn 1, 2 and so on."""
    min_gain: float = 0.05
    """In probability, against the turn before."""
    patience: int = 2
    """Turns."""
    name: ClassVar[str] = "ragflow"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        for rung in self.rungs:
            require_share("RagflowLadder", "rungs", rung)
        if not self.rungs or any(low < high for low, high in pairwise(self.rungs)):
            raise PolicyParameterError(
                f"RagflowLadder: rungs must be at least 1 and never rise, they are {self.rungs}. Sort them, "
                "highest first."
            )
        require_share("RagflowLadder", "min_gain", self.min_gain)
        require_whole("RagflowLadder", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Climb."""
        score = state.score
        if score is None:
            return unchecked_at_end(nothing_to_judge(self.name, state), state)
        rung = self.rungs[min(max(state.turn, 1), len(self.rungs)) - 1]
        probability = self.calibration.probability(score, state.turn)
        values = {"score": score, "probability": probability, "rung": rung, "poor_turns": self._poor_turns(state)}
        if probability >= rung:
            return AnswerNow(reason=Reason(code="threshold_met", by=self.name, values=values))
        if values["poor_turns"] >= self.patience:
            stagnant = Reason(code="no_gain", by=self.name, values=values)
            return AnswerNow(reason=stagnant.replaced("unchecked_answer"))
        return unchecked_at_end(
            SearchOn(reason=Reason(code="below_threshold", by=self.name, values=values)), state
        )

    def _poor_turns(self, state: SearchState) -> int:
        """The latest turns in a row, `patience` at most, that gained too little; a missing score ends the row."""
        recent = state.tier_scores[-self.patience - 1 :]
        first = state.turn - len(recent) + 1
        known = [
            None if score is None else self.calibration.probability(score, turn)
            for turn, score in enumerate(recent, start=first)
        ]
        poor = 0
        for now, before in pairwise(reversed(known)):
            if now is None or before is None or now - before >= self.min_gain:
                break
            poor += 1
        return poor
