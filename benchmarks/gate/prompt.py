"""What a generator is told, and what counts as its refusal (RINSE, table 1)."""

from __future__ import annotations

import hashlib

from retrieval import EvidenceSet
from rinse.baselines.documents import numbered_documents

from ..metrics import normalise_answer

CHARACTERS = 1_600
"""What is shown of a passage, its heading included."""
MAX_TOKENS = 24
"""Longest reply."""
REFUSAL = "unanswerable"

_PROMPT = f"""\
Answer the question from the documents below and from nothing else. Reply with the answer alone, in a few words. \
If the documents do not contain the answer, reply with one word: {REFUSAL}

Documents:
{{documents}}

Question: {{question}}"""

PROMPT_DIGEST = hashlib.sha256(_PROMPT.encode()).hexdigest()[:16]
"""Changes with the prompt: replies to another one are not taken up."""


def user_turn(question: str, evidence: EvidenceSet) -> str:
    """What the generator is asked: the instruction, the numbered passages, the question."""
    return _PROMPT.format(documents=numbered_documents(evidence, CHARACTERS), question=question)


def refuses(reply: str) -> bool:
    """Whether the reply, normalised as answers are compared, contains the word `unanswerable`.

    Whatever else a generator says, an apology or nothing at all, counts as an answer.

    >>> refuses("This is UNANSWERABLE."), refuses("I am not sure")
    (True, False)
    """
    return REFUSAL in normalise_answer(reply)
