"""Records: a question with the passages that its dataset supplies, whole. What contrasts are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval import Passage

from .lines import Fault, fields_fault, stream_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPassage:
    """A passage as the dataset supplies it with one question."""

    passage: Passage
    support: bool
    """Annotated as needed for the answer."""
    hop_answers: tuple[str, ...] = ()
    """What the annotators take from this passage, where they wrote it down: the answers of the single hops of
    MuSiQue, the objects of 2WikiMultiHopQA's triples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One question with its evidence set and the label of the pair."""

    id: str
    dataset: str
    """The name that tables print."""
    split: str
    question: str
    answers: tuple[str, ...]
    """Accepted answers; may be empty. Of an unanswerable question: what would be the answer, if known."""
    answerable: bool
    """Whether the passages suffice for a complete answer."""
    passages: tuple[RecordPassage, ...]
    """Distinct by `Passage.id`, in the dataset's order."""
    group: str
    """Ties the variants of one source question or paragraph: pair and split by it."""
    cluster: str
    """What is resampled as one: the article of SQuAD, else the group."""

    @property
    def support(self) -> tuple[RecordPassage, ...]:
        """The passages that are annotated as needed."""
        return tuple(one for one in self.passages if one.support)


def record_key(record: Record) -> tuple[str, str]:
    """What no two records share: dataset and id (case R11)."""
    return record.dataset, record.id


def read_normalised(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Read JSON lines in this project's own form, plain or gzip: line, and the record.

    A line holds `id`, `dataset`, `split`, `question`, `answers`, `answerable`, `group`, and `passages` (`text`,
    `title`, `is_support`). A line that cannot be used yields a `Fault` in its place and reading goes on.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    for number, line in stream_lines(path):
        if isinstance(line, Fault):
            yield number, line
            continue
        try:
            row = _Row.model_validate_json(line)
        except ValidationError as error:
            yield number, fields_fault(error, file=path.name, line=number)
            continue
        yield number, _record(row, file=path.name, line=number)


class _PassageRow(BaseModel):
    model_config = ConfigDict(strict=True)
    id: str = ""
    text: str
    title: str = ""
    is_support: bool = False


class _Hop(BaseModel):
    answer: str
    paragraph_support_idx: int | None = None


class _Meta(BaseModel):
    article: str | None = None
    question_decomposition: list[_Hop] = []
    evidences: list[tuple[str, str, str]] = []


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    id: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    split: str
    question: str = Field(pattern=r"\S")
    answers: list[str]
    answerable: bool
    group: str = Field(min_length=1)
    passages: list[_PassageRow]
    meta: _Meta = _Meta()


def _record(row: _Row, *, file: str, line: int) -> Record | Fault:
    hops = {hop.paragraph_support_idx: hop.answer for hop in row.meta.question_decomposition}
    found = [
        RecordPassage(
            passage=Passage(text=passage.text, title=passage.title),
            support=passage.is_support,
            hop_answers=(*([hops[place]] if place in hops else ()), *_objects(passage.title, row.meta.evidences)),
        )
        for place, passage in enumerate(row.passages)
        if passage.text.strip()
    ]
    return checked(
        Record(
            id=row.id,
            dataset=row.dataset,
            split=row.split,
            question=row.question,
            answers=tuple(row.answers),
            answerable=row.answerable,
            passages=distinct(found),
            group=row.group,
            cluster=f"{row.dataset}:{row.meta.article}" if row.meta.article else row.group,
        ),
        file=file,
        line=line,
    )


def _objects(title: str, triples: list[tuple[str, str, str]]) -> list[str]:
    return [answer for subject, _, answer in triples if title and subject == title]


def distinct(passages: Iterable[RecordPassage]) -> tuple[RecordPassage, ...]:
    """Each text once, as support if one of its copies is."""
    found: dict[str, RecordPassage] = {}
    for one in passages:
        known = found.setdefault(one.passage.id, one)
        if one.support and not known.support:
            found[one.passage.id] = one
    return tuple(found.values())


def checked(record: Record, *, file: str, line: int) -> Record | Fault:
    """The record, or what makes it unusable: an answerable question must name its support."""
    if record.answerable and not record.support:
        detail = f"{record.id!r} is answerable but names no support: no evidence can be judged against it."
        return Fault(file=file, line=line, kind="no_support", detail=detail)
    return record
