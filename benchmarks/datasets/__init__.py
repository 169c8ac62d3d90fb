"""Readers of benchmark questions."""

from .lines import Fault
from .questions import (
    Gold,
    GoldPassage,
    GoldSentence,
    Question,
    QuestionFile,
    load_questions,
    stream_questions,
)

__all__ = [
    "Fault",
    "Gold",
    "GoldPassage",
    "GoldSentence",
    "Question",
    "QuestionFile",
    "load_questions",
    "stream_questions",
]
