"""IIRC (Ferguson et al., 2020): one JSON array of Wikipedia passages, each with its questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from retrieval import Passage

from ..document import stream_entries
from ..lines import Fault
from ..records import Record, RecordPassage, checked, distinct
from .entries import parsed, split_of, unlabelled

MAIN = "main"
"""Name of the entry's own passage in annotations; any other name is the title of a linked article."""


class _Span(BaseModel):
    text: str
    passage: str = ""


class _Answer(BaseModel):
    type: Literal["span", "value", "binary", "none", "bad"]
    """`bad`: the authors' own baseline leaves the question out."""
    answer_spans: list[_Span] = []
    """All of them together are the answer."""
    answer_value: str | None = None
    """A number, or yes or no."""
    answer_unit: str | None = None

    def accepted(self) -> tuple[str, ...]:
        """The ways to write it; empty if there is none."""
        if self.type == "span":
            whole = ", ".join(span.text.strip() for span in self.answer_spans if span.text.strip())
            return (whole,) if whole else ()
        if self.type not in {"value", "binary"} or not self.answer_value:
            return ()
        unit = (self.answer_unit or "").strip()
        return (self.answer_value, *([f"{self.answer_value} {unit}"] if unit else ()))


class _Context(BaseModel):
    text: str
    passage: str = Field(min_length=1)


class _Question(BaseModel):
    qid: str | None = None
    question: str = Field(pattern=r"\S")
    answer: _Answer
    context: list[_Context] = []
    """What the annotator read to answer."""


class _Entry(BaseModel):
    pid: str | None = None
    title: str = Field(min_length=1)
    text: str = Field(pattern=r"\S")
    questions: list[Any]
    """Each parsed on its own, so that a broken question does not take its neighbours along."""


def read_iirc(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Number of the passage in the array, and the record of each of its questions.

    The evidence of a record is the passage, then the annotator's pieces of linked articles, as in the paper
    (RINSE, app. B: each record keeps its own evidence). A group is a source article. Unanswerable are those of
    answer type `none`; of type `bad` are faults.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    split = split_of(path)
    for number, found in stream_entries(path):
        entry = found if isinstance(found, Fault) else parsed(_Entry, found, file=path.name, line=number)
        if isinstance(entry, Fault):
            yield number, entry
            continue
        for place, asked in enumerate(entry.questions):
            question = parsed(_Question, asked, file=path.name, line=number, inside=f"question {place}")
            if isinstance(question, Fault):
                yield number, question
                continue
            name = question.qid or f"{entry.pid or f'{split}-{number}'}:{place}"
            yield number, _record(entry, question, name=name, file=path.name, line=number, split=split)


def _record(entry: _Entry, question: _Question, *, name: str, file: str, line: int, split: str) -> Record | Fault:
    if question.answer.type == "bad":
        return unlabelled(name, file=file, line=line, reason="was marked bad by its annotators")
    group = f"iirc:{entry.title}"
    record = Record(
        id=name,
        dataset="iirc",
        split=split,
        question=question.question,
        answers=question.answer.accepted(),
        answerable=question.answer.type != "none",
        passages=distinct(_evidence(entry, question)),
        group=group,
        cluster=group,
    )
    return checked(record, file=file, line=line)


def _evidence(entry: _Entry, question: _Question) -> Iterator[RecordPassage]:
    spans = question.answer.answer_spans
    yield RecordPassage(
        passage=Passage(text=entry.text, title=entry.title),
        support=any(piece.passage == MAIN for piece in question.context),
        hop_answers=tuple(span.text for span in spans if span.passage == MAIN and span.text.strip()),
    )
    for piece in question.context:
        if piece.passage != MAIN and piece.text.strip():
            # The pieces of one article share their source: readers that join chunks by source see them as one.
            yield RecordPassage(
                passage=Passage(text=piece.text, title=piece.passage, source_id=piece.passage),
                support=True,
                hop_answers=tuple(
                    span.text for span in spans if span.passage == piece.passage and span.text in piece.text
                ),
            )
