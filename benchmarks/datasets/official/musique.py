"""MuSiQue (Trivedi et al., 2022), the answerable and the full version: JSON lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, Field, StrictBool, ValidationError

from retrieval import Passage

from ..lines import Fault, fields_fault, stream_lines
from ..records import Record, RecordPassage, checked, distinct
from .entries import split_of, unlabelled


class _Paragraph(BaseModel):
    idx: int
    title: str = ""
    paragraph_text: str
    is_supporting: StrictBool = False


class _Hop(BaseModel):
    answer: str
    paragraph_support_idx: int | None = None
    """`idx` of a paragraph; null where the unanswerable variant lost it."""


class _Row(BaseModel):
    id: str = Field(min_length=1)
    question: str = Field(pattern=r"\S")
    paragraphs: list[_Paragraph]
    question_decomposition: list[_Hop] = []
    answer: str | None = None
    answer_aliases: list[str] = []
    answerable: StrictBool | None = None


def read_musique(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Line, and the record.

    In the full version the two variants of a question share one id (its evaluation script, `evaluate_v1.0.py`,
    groups by it and expects two lines of each): here the unanswerable one is `ID#unanswerable`, and both are of
    group `musique:ID`. It keeps the answer that it would have. A line without `answerable` (the test files) is a
    fault.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    split = split_of(path)
    for number, line in stream_lines(path):
        if isinstance(line, Fault):
            yield number, line
            continue
        try:
            row = _Row.model_validate_json(line)
        except ValidationError as error:
            yield number, fields_fault(error, file=path.name, line=number)
            continue
        yield number, _record(row, file=path.name, line=number, split=split)


def _record(row: _Row, *, file: str, line: int, split: str) -> Record | Fault:
    if row.answerable is None:
        return unlabelled(row.id, file=file, line=line, reason="does not say whether it is answerable")
    hops: dict[int | None, list[str]] = defaultdict(list)
    for hop in row.question_decomposition:
        hops[hop.paragraph_support_idx].append(hop.answer)
    found = [
        RecordPassage(
            passage=Passage(text=one.paragraph_text, title=one.title),
            support=one.is_supporting,
            hop_answers=tuple(hops.get(one.idx, ())),
        )
        for one in row.paragraphs
        if one.paragraph_text.strip()
    ]
    answers = (*([row.answer] if row.answer else ()), *row.answer_aliases)
    record = Record(
        id=row.id if row.answerable else f"{row.id}#unanswerable",
        dataset="musique",
        split=split,
        question=row.question,
        answers=tuple(dict.fromkeys(answers)),
        answerable=row.answerable,
        passages=distinct(found),
        group=f"musique:{row.id}",
        cluster=f"musique:{row.id}",
    )
    return checked(record, file=file, line=line)
