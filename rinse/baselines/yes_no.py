"""The yes/no prompt: how much likelier is "yes" than "no" when a model is asked whether the documents suffice?

Source: the control of the RINSE paper (appendix A), template and score as printed there. Backbone: any
`ChatModel` (the paper's: Qwen2.5-1.5B-Instruct). Cost: one pass over all passages, nothing decoded. The order
of passages matters: it is the set's order of arrival.
"""

from __future__ import annotations

from retrieval import EvidenceSet

from ..sufficiency import Sufficiency
from .documents import CHARACTERS, any_cut, numbered_documents, require_input
from .model import ChatModel, identity

TEMPLATE = """\
Judge whether the documents below contain enough information for a diligent reader to derive a definitive \
answer to the question. Combining facts across documents is allowed; guessing beyond the documents is not.
Question: {question}
Documents:
{documents}
Do the documents contain enough information to answer the question? Answer with one word, yes or no."""
"""As the paper prints it."""

YES = ("yes", "Yes", "YES", " yes", " Yes", " YES")
NO = ("no", "No", "NO", " no", " No", " NO")


class YesNoScorer:
    """A `SufficiencyScorer`: log-odds of yes against no as the next token, without bounds.

    Args:
        model: Asked.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings by content."""
        return identity("yes-no", self._model.fingerprint, TEMPLATE, repr((YES, NO)), str(CHARACTERS))

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the question is blank, or there is no passage; the prompt is longer than the model reads;
                logits are NaN.
        """
        require_input(question, evidence)
        user = TEMPLATE.format(question=question, documents=numbered_documents(evidence))
        odds = self._model.log_odds(self._model.chat(user), YES, NO)
        return Sufficiency(score=odds, passages=len(evidence), truncated=any_cut(evidence))
