"""Sufficient Context: a language model is asked whether the documents suffice, and its label counts.

Source: Joren et al. 2025. Adapted as in appendix A of the RINSE paper: a label in JSON, parsed strictly, is the
score; a reply without one is 0. The instructions are in our own words, and ask for the label alone. Where the
model is a `ChatModel` its reply is begun for it, up to the label: a small model that would rather talk gives one
too. Backbone: any `Generator`, local or behind an endpoint (the paper's: a frontier model, and
Qwen2.5-1.5B-Instruct). Cost: one pass over all passages and up to 4 decoded tokens, 12 where the reply is not
begun. The order of passages matters.
"""

from __future__ import annotations

import json

from retrieval import EvidenceSet

from ..generator import Generator
from ..sufficiency import Sufficiency
from .documents import CHARACTERS, any_cut, question_and_documents
from .model import ChatModel, identity, prompt_and_head

_TASK = """\
Do the documents above suffice to answer the question? They suffice if a careful reader can derive one definite \
answer from them, also by combining facts of several documents. They do not suffice if a fact that the answer \
needs is missing, unclear or contradicted, or would have to be guessed. Reply with JSON and nothing else: \
{"sufficient": 1} if they suffice, {"sufficient": 0} if they do not."""
_BEGUN = '{"sufficient":'
_LABEL_TOKENS = 4
"""A space, the label and the brace take 2 or 3 in the vocabularies of GPT-2, Llama and Qwen."""
_MAX_TOKENS = 12
"""The whole reply takes about 8 there."""
_STOP = ("}",)


class SufficientContextScorer:
    """A `SufficiencyScorer`: 1 if the model says that the documents suffice, otherwise 0.

    Args:
        model: Asked; one that knows a chat template is asked through it, another gets the prompt as it is.
    """

    def __init__(self, model: Generator) -> None:
        self._model = model
        self.spared_seconds = 0.0
        """What a kept head spared the last call; it belongs to the method's time."""

    @property
    def fingerprint(self) -> str:
        """Identifies model, prompt and settings; a model without a fingerprint by its name."""
        model = getattr(self._model, "fingerprint", None) or self._model.name
        return identity("sufficient-context", str(model), _TASK, f"{CHARACTERS} {_MAX_TOKENS}", _BEGUN)

    def score(self, question: str, evidence: EvidenceSet) -> Sufficiency:
        """Score the set. See `SufficiencyScorer.score`.

        Raises:
            ScoreError: the question is blank, or there is no passage; the prompt is longer than the model reads;
                logits are NaN. An endpoint raises its own errors.
        """
        label = read_label(self._reply(question_and_documents(question, evidence)))
        return Sufficiency(score=float(label or 0), passages=len(evidence), truncated=any_cut(evidence))

    def _reply(self, begin: str) -> str:
        if not isinstance(self._model, ChatModel):
            return self._model.generate(f"{begin}\n\n{_TASK}", max_tokens=_MAX_TOKENS, stop=_STOP).text
        prompt, head = prompt_and_head(self._model, begin, _TASK)
        found = self._model.generate(prompt + _BEGUN, max_tokens=_LABEL_TOKENS, stop=_STOP, head=head)
        self.spared_seconds = self._model.spared_seconds
        return _BEGUN + found.text


def read_label(reply: str) -> int | None:
    """The label in a reply, fenced as code or not, that ends before its closing brace or with it; else None.

    >>> read_label('{"sufficient": 1'), read_label('{"sufficient": 2}'), read_label("Yes, they do.")
    (1, None, None)
    """
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    try:
        found = json.loads(text.removesuffix("}") + "}")
    except (ValueError, RecursionError):
        return None
    label = found.get("sufficient") if isinstance(found, dict) and len(found) == 1 else None
    return int(label) if isinstance(label, int) and label in {0, 1} else None
