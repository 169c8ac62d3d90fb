"""P(True): does a model hold its own answer for true?

Source: Kadavath et al. 2022. Adapted as in appendix A of the RINSE paper: given the shared greedy answer, True
against False as the next token. The score is their log-odds, which orders as the probability does and does not
round to 1. Backbone: any `ChatModel` (the paper's: Qwen2.5-1.5B-Instruct). Cost: the shared answer (one pass
over all passages and up to 24 decoded tokens) and a second pass over all passages. The order of passages
matters.
"""

from __future__ import annotations

from retrieval import EvidenceSet

from ..sufficiency import Sufficiency
from .answers import GreedyAnswers
from .documents import any_cut, question_and_documents
from .model import identity, prompt_and_head

_TASK = """\
Somebody read the documents above and gave this answer: {answer}
Is the given answer true? Reply with one word, True or False."""
_TRUE = ("True", " True", "true", " true", "TRUE", " TRUE")
_FALSE = ("False", " False", "false", " false", "FALSE", " FALSE")


class PTrueScorer:
    """A `SufficiencyScorer`: log-odds of True against False for the model's own answer, without bounds.

    Args:
        answers: Give the shared answer; their model judges it.
    """

    def __init__(self, answers: GreedyAnswers) -> None:
        self._answers = answers
        self.spared_seconds = 0.0
        """What a store of answers and kept heads spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompts and settings by content."""
        return identity("p-true", self._answers.fingerprint, _TASK, repr((_TRUE, _FALSE)))

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: see `GreedyAnswers.answer`; the second prompt may be too long too.
        """
        answer, self.spared_seconds = self._answers.answer(question, evidence)
        begin = question_and_documents(question, evidence)
        model = self._answers.model
        prompt, head = prompt_and_head(model, begin, _TASK.format(answer=answer.text))
        odds = model.log_odds(prompt, _TRUE, _FALSE, head=head)
        return Sufficiency(score=odds, passages=len(evidence), truncated=any_cut(evidence))
