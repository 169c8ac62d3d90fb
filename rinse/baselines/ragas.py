"""RAGAS context relevance: which share of the evidence does a model copy out as needed for the answer?

Source: Es et al. 2024. Adapted as in appendix A of the RINSE paper: the share of the context's sentences that
the model extracts. The prompt is in our own words. Backbone: any `ChatModel` (the paper's:
Qwen2.5-1.5B-Instruct). Cost: one pass over all passages and up to 32 decoded tokens: of a sentence its first
words count, and what a model would copy beyond these tokens does not. The order of passages matters.
"""

from __future__ import annotations

from retrieval import EvidenceSet
from retrieval.text import sentences, tokenise

from ..sufficiency import Sufficiency
from .documents import CHARACTERS, any_cut, question_and_documents
from .model import ChatModel, identity, prompt_and_head

_TASK = (
    "Copy from the documents above, word for word, the sentences that are needed to answer the question, and "
    "nothing else. If no sentence helps, reply with the word none."
)
_MAX_TOKENS = 32
_WORDS = 6
"""A sentence counts as copied once so many of its first words are, or all of a shorter one."""


class RagasScorer:
    """A `SufficiencyScorer`: the share of the context's sentences that the model copies, in [0, 1].

    Args:
        model: Copies.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.spared_seconds = 0.0
        """What a kept head spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings by content."""
        return identity("ragas-cr", self._model.fingerprint, _TASK, f"{CHARACTERS} {_MAX_TOKENS} {_WORDS}")

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the question is blank, or there is no passage; the prompt is longer than the model reads;
                logits are NaN.
        """
        begin = question_and_documents(question, evidence)
        prompt, head = prompt_and_head(self._model, begin, _TASK)
        reply = self._model.generate(prompt, max_tokens=_MAX_TOKENS, head=head).text
        self.spared_seconds = self._model.spared_seconds
        texts = [" ".join(passage.text.split())[:CHARACTERS] for passage in evidence]
        context = [text[begin:end] for text in texts for begin, end in sentences(text)]
        return Sufficiency(
            score=extracted_share(context, reply), passages=len(evidence), truncated=any_cut(evidence)
        )


def extracted_share(context: list[str], reply: str) -> float:
    """The share of sentences whose first words stand in the reply, in a row; case and punctuation do not count.

    >>> extracted_share(["Elms are trees.", "Oaks, too."], 'It says "elms are TREES".')
    0.5
    >>> extracted_share(["The old elm by the gate has fallen in the storm."], "The old elm by the gate")
    1.0
    """
    copied = f" {' '.join(tokenise(reply))} "
    begins = [" ".join(words[:_WORDS]) for sentence in context if (words := tokenise(sentence))]
    return sum(f" {begin} " in copied for begin in begins) / len(begins) if begins else 0.0
