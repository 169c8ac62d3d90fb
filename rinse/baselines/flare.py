"""FLARE: how sure was a model of the least sure token of its answer?

Source: Jiang et al. 2023, who retrieve again when a coming sentence holds an unlikely token. Adapted as in
appendix A of the RINSE paper: the minimum token log-probability of the shared greedy answer, without another
retrieval. Backbone: any `ChatModel` (the paper's: Qwen2.5-1.5B-Instruct). Cost: the shared answer, which is one
pass over all passages and up to 24 decoded tokens. The order of passages matters.
"""

from __future__ import annotations

from retrieval import EvidenceSet

from ..sufficiency import Sufficiency
from .answers import GreedyAnswers
from .documents import any_cut
from .model import identity


class FlareScorer:
    """A `SufficiencyScorer`: the lowest log-probability of a token of the greedy answer, not above 0.

    Args:
        answers: Give the shared answer.
    """

    def __init__(self, answers: GreedyAnswers) -> None:
        self._answers = answers
        self.spared_seconds = 0.0
        """What a store of answers and kept heads spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings by content."""
        return identity("flare", self._answers.fingerprint)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: see `GreedyAnswers.answer`.
        """
        answer, self.spared_seconds = self._answers.answer(question, evidence)
        return Sufficiency(score=min(answer.logprobs), passages=len(evidence), truncated=any_cut(evidence))
