"""Corpus readers: JSON lines, folders of text files, MediaWiki dumps."""

from .corpus import Corpus, no_documents, open_corpus
from .document import Document, Section, passages
from .tally import Problem, ProblemKind, Progress, in_words

__all__ = [
    "Corpus",
    "Document",
    "Problem",
    "ProblemKind",
    "Progress",
    "Section",
    "in_words",
    "no_documents",
    "open_corpus",
    "passages",
]
