"""Readers of benchmark questions, and of records: questions with their passages."""

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
from .reading import RecordFile, load_records, stream_records
from .records import Record, RecordPassage

__all__ = [
    "Fault",
    "Gold",
    "GoldPassage",
    "GoldSentence",
    "Question",
    "QuestionFile",
    "Record",
    "RecordFile",
    "RecordPassage",
    "load_questions",
    "load_records",
    "stream_questions",
    "stream_records",
]
