"""The greedy answer that the answer-aware scorers share: P(True), attribution, semantic entropy and FLARE.

RINSE, appendix A: "answer-aware methods start from one greedy answer to the full set". Several scorers read the
same answer; a store lets them generate it once, also across processes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from retrieval import EvidenceSet

from ..errors import ScoreError
from .documents import CHARACTERS, question_and_documents
from .model import ChatModel, identity, prompt_and_head

MAX_TOKENS = 24
"""Longest answer (RINSE, table 1)."""

_TASK = (
    "Answer the question from the documents above. Reply with the answer alone, in a few words, without a "
    "sentence around it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAnswer:
    """A greedy answer to a question from all its passages."""

    text: str
    """Without white space around it; empty if the model said nothing."""
    tokens: tuple[str, ...]
    """Of the answer, white space included."""
    logprobs: tuple[float, ...]
    """Natural logarithm of each token's probability, not above 0."""
    seconds: float
    """Wall time that its generation took, the reading of the whole prompt included."""


class AnswerStore(Protocol):
    """Keeps answers, so that a benchmark may share them between scorers in processes of their own."""

    def get(self, key: str) -> SharedAnswer | None:
        """The answer under this key, or None."""
        ...

    def put(self, key: str, answer: SharedAnswer) -> None:
        """Keep an answer."""
        ...


class GreedyAnswers:
    """Answers a question from all passages of a set, greedily, in at most 24 tokens.

    Args:
        model: Answers.
        store: Asked before the model; None = every call generates.
    """

    def __init__(self, model: ChatModel, store: AnswerStore | None = None) -> None:
        self.model = model
        self._store = store

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings by content."""
        return identity("answer", self.model.fingerprint, _TASK, f"{CHARACTERS} {MAX_TOKENS}")

    def prompt(self, question: str, evidence: EvidenceSet) -> tuple[str, str]:
        """What the model completes, and its head; see `ChatModel`.

        Raises:
            ScoreError: the question is blank, or there is no passage.
        """
        return prompt_and_head(self.model, question_and_documents(question, evidence), _TASK)

    def answer(self, question: str, evidence: EvidenceSet) -> tuple[SharedAnswer, float]:
        """The answer, and the seconds that its store, or a kept head, spared.

        Raises:
            ScoreError: see `prompt`; or the prompt is longer than the model reads, or logits are NaN; or the model
                said nothing.
        """
        begun = time.perf_counter()
        prompt, head = self.prompt(question, evidence)
        key = identity(self.fingerprint, prompt)
        known = self._store.get(key) if self._store is not None else None
        if known is not None:
            return _told(known, question), known.seconds
        found = self.model.generate(prompt, max_tokens=MAX_TOKENS, head=head)
        spared = self.model.spared_seconds
        answer = SharedAnswer(
            text=found.text.strip(),
            tokens=found.tokens,
            logprobs=found.logprobs,
            seconds=time.perf_counter() - begun + spared,
        )
        if self._store is not None:
            self._store.put(key, answer)
        return _told(answer, question), spared


def _told(answer: SharedAnswer, question: str) -> SharedAnswer:
    if not answer.text:
        raise ScoreError(f"The model gave an empty answer to {question!r}, so there is no answer to judge.")
    return answer
