"""Questions with answers and annotated support, read from JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from retrieval.passage import passage_id

from .formats import recognise
from .lines import Fault, fields_fault, stream_lines
from .reading import stream_records
from .records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPassage:
    """Annotated support that is a whole passage."""

    passage_id: str
    """`Passage.id`: the text decides, not the title. A copy of the passage with one other character is another
    passage here, although a reader would accept it: where a corpus holds variants, the support found is a lower
    bound."""
    title: str = ""
    """For people; never compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSentence:
    """Annotated support that is one sentence of an article, however the article is cut into passages."""

    article: str
    """The article's title, as the corpus spells it."""
    sentence_id: str
    """`passage_id` of the sentence."""
    section: str = ""
    """For people; never compared, since corpora cut articles in different ways."""


Gold: TypeAlias = GoldPassage | GoldSentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a benchmark."""

    id: str
    dataset: str
    """The file's own name for its dataset, as tables print it."""
    split: str
    """`train`, `dev` and so on."""
    question: str
    answers: tuple[str, ...]
    """Accepted answers; may be empty, then no answer can be judged."""
    answerable: bool
    """False: the annotators found that the text they saw does not answer it."""
    support: tuple[Gold, ...]
    """The annotated support, distinct, all of which is needed. Not empty if the question is answerable."""
    group: str
    """Ties the variants of one source question: resample and split by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """All that a file holds."""

    questions: tuple[Question, ...]
    """In the file's order, ids distinct within a dataset."""
    faults: tuple[Fault, ...]


def load_questions(path: Path) -> QuestionFile:
    """Read a whole file. See `stream_questions`."""
    items = list(stream_questions(path))
    return QuestionFile(
        questions=tuple(item for item in items if isinstance(item, Question)),
        faults=tuple(item for item in items if isinstance(item, Fault)),
    )


def stream_questions(path: Path) -> Iterator[Question | Fault]:
    """Read a file of JSON lines, plain or gzip (by its first bytes), one line at a time; or an official file.

    Official files are those that `reading.stream_records` understands; of their records the gold passages count.
    Of our own form a line holds `id`, `dataset`, `split`, `question`, `answers`, `answerable`, `group`, and its
    support either as `passages` (`text`, `title`, `is_support`) or as `support` (`article`, `section`,
    `sentence_sha256`). Other keys are ignored, blank lines too. A line that cannot be used yields a `Fault` in its
    place and reading goes on; the second line with one dataset and id is such a fault (case R11).

    Raises:
        DatasetError: there is no such file, or it cannot be opened.
    """
    if recognise(path) not in {None, "normalised"}:
        yield from (item if isinstance(item, Fault) else _of_record(item) for item in stream_records(path))
        return
    seen: set[tuple[str, str]] = set()
    for number, line in stream_lines(path):
        if isinstance(line, Fault):
            yield line
            continue
        item = _parse(line, file=path.name, number=number)
        if isinstance(item, Question):
            key = (item.dataset, item.id)
            if key in seen:
                detail = f"The id {item.id!r} occurs before in {item.dataset!r}; the first one is kept."
                item = Fault(file=path.name, line=number, kind="repeated_id", detail=detail)
            seen.add(key)
        yield item


def _of_record(record: Record) -> Question:
    return Question(
        id=record.id,
        dataset=record.dataset,
        split=record.split,
        question=record.question,
        answers=record.answers,
        answerable=record.answerable,
        support=tuple(GoldPassage(passage_id=one.passage.id, title=one.passage.title) for one in record.support),
        group=record.group,
    )


class _PassageRow(BaseModel):
    model_config = ConfigDict(strict=True)
    text: str
    title: str = ""
    is_support: bool = False


class _SentenceRow(BaseModel):
    model_config = ConfigDict(strict=True)
    article: str = Field(min_length=1)
    section: str = ""
    sentence_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    id: str = Field(min_length=1)
    dataset: str = Field(min_length=1)
    split: str
    question: str = Field(pattern=r"\S")
    answers: list[str]
    answerable: bool
    group: str
    passages: list[_PassageRow] = []
    support: list[_SentenceRow] = []

    def gold(self) -> tuple[Gold, ...]:
        """Passages and sentences that are annotated as support, each once."""
        found: dict[str, Gold] = {}
        for passage in self.passages:
            if passage.is_support and passage.text.strip():
                key = passage_id(passage.text)
                found.setdefault(key, GoldPassage(passage_id=key, title=passage.title))
        for row in self.support:
            gold = GoldSentence(article=row.article, section=row.section, sentence_id=row.sentence_sha256)
            found.setdefault(f"{gold.article}\n{gold.sentence_id}", gold)
        return tuple(found.values())


def _parse(line: bytes, *, file: str, number: int) -> Question | Fault:
    try:
        row = _Row.model_validate_json(line)
    except ValidationError as error:
        return fields_fault(error, file=file, line=number)
    gold = row.gold()
    if row.answerable and not gold:
        detail = f"{row.id!r} is answerable but names no support: no evidence can be judged against it."
        return Fault(file=file, line=number, kind="no_support", detail=detail)
    return Question(
        id=row.id,
        dataset=row.dataset,
        split=row.split,
        question=row.question,
        answers=tuple(row.answers),
        answerable=row.answerable,
        support=gold,
        group=row.group,
    )
