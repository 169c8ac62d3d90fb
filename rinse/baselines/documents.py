"""Evidence as text in a prompt."""

from __future__ import annotations

from retrieval import EvidenceSet, Passage

from ..errors import ScoreError

CHARACTERS = 800
"""What a prompt shows of a passage, heading and text together (RINSE, appendix A, yes/no prompt)."""


def document(passage: Passage, characters: int = CHARACTERS) -> str:
    """`title: text` in one paragraph, its first characters: white space is folded, so that a passage is one line.

    >>> document(Passage(title="Elm", text="A  tree."), 9)
    'Elm: A tr'
    """
    return _line(passage)[:characters]


def any_cut(evidence: EvidenceSet, characters: int = CHARACTERS) -> bool:
    """Whether a prompt shows a passage in part only."""
    return any(len(_line(passage)) > characters for passage in evidence)


def numbered_documents(evidence: EvidenceSet, characters: int = CHARACTERS) -> str:
    r"""Every passage on a line of its own, numbered from 1 in the order in which the set holds them.

    >>> numbered_documents(EvidenceSet.of([Passage(title="Elm", text="A tree."), Passage(text="Oak.")]))
    '[1] Elm: A tree.\n[2] Oak.'
    """
    lines = (f"[{number}] {document(passage, characters)}" for number, passage in enumerate(evidence, start=1))
    return "\n".join(lines)


def question_and_documents(question: str, evidence: EvidenceSet) -> str:
    """What every prompt in our own words begins with, so that a model reads it once for all of them.

    Raises:
        ScoreError: see `require_input`.
    """
    require_input(question, evidence)
    return f"Question: {question}\n\nDocuments:\n{numbered_documents(evidence)}"


def require_input(question: str, evidence: EvidenceSet) -> None:
    """Refuse what a prompt cannot be made of.

    Raises:
        ScoreError: the question is blank, or there is no passage.
    """
    if not question.strip():
        raise ScoreError("The question is blank; a scorer that prompts a language model needs one.")
    if not len(evidence):
        raise ScoreError(
            "There is no passage; a scorer that prompts a language model needs at least one. "
            "Search before scoring, or use a scorer that reads empty evidence, such as RinseScorer."
        )


def _line(passage: Passage) -> str:
    shown = f"{passage.heading}: {passage.text}" if passage.heading else passage.text
    return " ".join(shown.split())
