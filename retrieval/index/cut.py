"""How the documents of an index are cut into passages."""

from __future__ import annotations

from ..corpora import Document, passages
from ..passage import Passage
from .manifest import Settings

MAX_WORDS = 150
"""Longest chunk of an article. MiniLM reads 256 tokens: 0.3 % of Wikipedia passages of 120 to 140 words are
longer, 2 % of those of 140 to 160 words, 39 % of those of 180 to 200 words."""
WHOLE_WORDS = 400
"""Records of a JSONL corpus up to this length stay whole, so that passages of a benchmark keep their identity."""
OVERLAP = 1
"""Sentences that a chunk shares with the one before (docs/decisions/009-changing-an-index.md)."""


def cut(document: Document, settings: Settings, *, whole: bool) -> list[Passage]:
    """The document's passages in reading order.

    Args:
        document: What is cut.
        settings: Those of the index.
        whole: Whether the document is a record that stays whole if it is short enough (`WHOLE_WORDS`).
    """
    if whole:
        found = list(passages(document, max_words=settings.whole_words))
        if len(found) <= 1:
            return found
    return list(passages(document, max_words=settings.max_words, overlap=settings.overlap))
