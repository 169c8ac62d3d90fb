"""Corpus readers: JSON lines, folders of text files, MediaWiki dumps."""

from .corpus import Corpus, open_corpus
from .document import Document, Section, passages
from .tally import Problem, ProblemKind, Progress

__all__ = ["Corpus", "Document", "Problem", "ProblemKind", "Progress", "Section", "open_corpus", "passages"]
