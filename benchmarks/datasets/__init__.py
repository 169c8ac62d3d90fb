"""Readers of benchmark questions."""

from .questions import (
    Fault,
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
