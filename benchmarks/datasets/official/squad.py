"""SQuAD 2.0 (Rajpurkar et al., 2018): one JSON object, its articles under `data`. SQuAD 1.1 reads the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, StrictBool

from retrieval import Passage

from ..document import stream_entries
from ..lines import Fault
from ..records import Record, RecordPassage
from .entries import parsed, split_of, unlabelled


class _Answer(BaseModel):
    text: str


class _Question(BaseModel):
    id: str = Field(min_length=1)
    question: str = Field(pattern=r"\S")
    answers: list[_Answer]
    is_impossible: StrictBool | None = None

    def accepted(self) -> tuple[str, ...]:
        """The answers of the annotators, each once; none of an impossible question."""
        return () if self.is_impossible else tuple(dict.fromkeys(one.text for one in self.answers))


class _Paragraph(BaseModel):
    context: str = Field(pattern=r"\S")
    qas: list[Any]
    """Each parsed on its own, so that a broken question does not take its neighbours along."""


class _Article(BaseModel):
    title: str = Field(min_length=1)
    paragraphs: list[Any]


def read_squad(path: Path) -> Iterator[tuple[int, Record | Fault]]:
    """Number of the article, and the record of each of its questions: dataset `squad2`.

    A group is a paragraph, a cluster an article. An unanswerable question has no answers: its `plausible_answers`
    are wrong by intent. A file whose first question says nothing about `is_impossible` is SQuAD 1.1, dataset
    `squad1`, all answerable; elsewhere a question that does not say is a fault.

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    split = split_of(path)
    dataset: str | None = None
    for number, entry in stream_entries(path, "data"):
        article = entry if isinstance(entry, Fault) else parsed(_Article, entry, file=path.name, line=number)
        if isinstance(article, Fault):
            yield number, article
            continue
        for place, context, question in _questions(article, file=path.name, line=number):
            if isinstance(question, Fault):
                yield number, question
                continue
            dataset = dataset or ("squad1" if question.is_impossible is None else "squad2")
            if question.is_impossible is None and dataset == "squad2":
                reason = "does not say whether it is impossible"
                yield number, unlabelled(question.id, file=path.name, line=number, reason=reason)
                continue
            passage = Passage(text=context, title=article.title.replace("_", " "))
            cluster = f"{dataset}:{article.title}"
            yield (
                number,
                Record(
                    id=question.id,
                    dataset=dataset,
                    split=split,
                    question=question.question,
                    answers=question.accepted(),
                    answerable=not question.is_impossible,
                    passages=(RecordPassage(passage=passage, support=not question.is_impossible),),
                    group=f"{cluster}:{place}",
                    cluster=cluster,
                ),
            )


def _questions(article: _Article, *, file: str, line: int) -> Iterator[tuple[int, str, _Question | Fault]]:
    """Number of the paragraph (from 0), its text, and each of its questions."""
    for place, entry in enumerate(article.paragraphs):
        where = f"paragraph {place}"
        paragraph = parsed(_Paragraph, entry, file=file, line=line, inside=where)
        if isinstance(paragraph, Fault):
            yield place, "", paragraph
            continue
        for number, question in enumerate(paragraph.qas):
            inside = f"{where}, question {number}"
            yield place, paragraph.context, parsed(_Question, question, file=file, line=line, inside=inside)
