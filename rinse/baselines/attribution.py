"""Attribution: does a passage entail the claim that the answer makes?

Source: Honovich et al. 2022 and Gao et al. 2023. Adapted as in appendix A of the RINSE paper: the shared greedy
answer becomes the claim "the answer to q is a", and the passage that entails it most counts. Backbone: any
`ChatModel` for the answer (the paper's: Qwen2.5-1.5B-Instruct) and an `Entailment` (the paper's:
mDeBERTa-v3-base, 279M). Cost: the shared answer (one pass over all passages and up to 24 decoded tokens) and
one entailment pass a passage. The order of passages matters to the answer only.
"""

from __future__ import annotations

import math

from retrieval import EvidenceSet

from ..errors import ScoreError
from ..sufficiency import Sufficiency
from .answers import GreedyAnswers
from .documents import any_cut, document
from .entailment import Entailment
from .model import identity

_CLAIM = "The answer to {question} is {answer}."


class AttributionScorer:
    """A `SufficiencyScorer`: the best passage's probability of entailing the answer, in [0, 1].

    Args:
        answers: Give the shared answer.
        entailment: Compares passages with the claim.
    """

    def __init__(self, answers: GreedyAnswers, entailment: Entailment) -> None:
        self._answers = answers
        self._entailment = entailment
        self.spared_seconds = 0.0
        """What a store of answers and kept heads spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies models, prompts and settings by content."""
        return identity("attribution", self._answers.fingerprint, self._entailment.fingerprint, _CLAIM)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: see `GreedyAnswers.answer` and `Entailment.entails`.
        """
        answer, self.spared_seconds = self._answers.answer(question, evidence)
        claim = _CLAIM.format(question=question.strip(), answer=answer.text.rstrip("."))
        values = self._entailment.entails([(document(passage), claim) for passage in evidence])
        if any(math.isnan(value) for value in values):
            raise ScoreError("The entailment model gave NaN. Check its weights with: sufficit doctor")
        return Sufficiency(score=max(values), passages=len(evidence), truncated=any_cut(evidence))
