"""What evaluation files share with the files that something was fitted on (RINSE, appendix E)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from retrieval.text import normalise, sentences, tokenise

from .datasets.lines import Fault
from .datasets.reading import fault_counts, stream_records
from .datasets.records import Record
from .errors import SettingsError
from .output import Report, Row

MIN_WORDS = 8
"""Words in a row that two texts do not share by chance. A sentence of fewer proves nothing."""

GroupKey: TypeAlias = tuple[str, str]
"""Dataset and group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """What some records share with other records."""

    question: frozenset[GroupKey]
    """One of the group's questions is asked there too."""
    passage: frozenset[GroupKey]
    """One of the group's passages holds a sentence that a passage there holds too."""
    gold: frozenset[GroupKey]
    """The same of the passages that are annotated as support; a part of `passage`."""
    passages: frozenset[str]
    """Ids of the passages that share a sentence."""

    @property
    def strict(self) -> frozenset[GroupKey]:
        """Groups that share a question or any passage, distractors included."""
        return self.question | self.passage

    @property
    def essential(self) -> frozenset[GroupKey]:
        """Groups that share what they are about: a question or gold text."""
        return self.question | self.gold


class Fingerprints:
    """The questions and the sentences of records, as digests: what other records are compared with.

    Questions and sentences are equal if their words are (`retrieval.text.tokenise`): letter case, punctuation and
    accents do not count. Memory: 16 bytes and the overhead of a set for each of them; no text is kept.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.questions: set[bytes] = set()
        self.sentences: set[bytes] = set()
        seen: set[str] = set()
        for record in records:
            self.questions.add(question_digest(record.question))
            for one in record.passages:
                if one.passage.id not in seen:
                    seen.add(one.passage.id)
                    self.sentences.update(sentence_digests(one.passage.text))

    def has_question(self, question: str) -> bool:
        """Whether the same question is asked there."""
        return question_digest(question) in self.questions

    def has_sentence_of(self, text: str) -> bool:
        """Whether one of the text's sentences stands there too."""
        return any(digest in self.sentences for digest in sentence_digests(text))


def question_digest(question: str) -> bytes:
    """Equal for questions of the same words; for a question without words, of the same signs."""
    return _digest(" ".join(tokenise(question)) or normalise(question))


def sentence_digests(text: str) -> Iterator[bytes]:
    """One for each sentence of at least `MIN_WORDS` words."""
    for begin, end in sentences(text):
        words = tokenise(text[begin:end])
        if len(words) >= MIN_WORDS:
            yield _digest(" ".join(words))


def run_digests(text: str) -> Iterator[bytes]:
    """One for each run of `MIN_WORDS` words, wherever it begins; of a shorter text one, for all its words."""
    words = tokenise(text)
    size = max(1, min(MIN_WORDS, len(words)))
    for run in zip(*(islice(words, start, None) for start in range(size)), strict=False):
        yield _digest(" ".join(run))


def overlap(records: Iterable[Record], others: Fingerprints) -> Overlap:
    """What of `records` is shared with what `others` were made of.

    Time grows with the length of the text; nothing is compared pair by pair.
    """
    passages: dict[str, bool] = {}
    question, passage, gold = set[GroupKey](), set[GroupKey](), set[GroupKey]()
    for record in records:
        key = record.dataset, record.group
        if others.has_question(record.question):
            question.add(key)
        for one in record.passages:
            if one.passage.id not in passages:
                passages[one.passage.id] = others.has_sentence_of(one.passage.text)
            if passages[one.passage.id]:
                passage.add(key)
                if one.support:
                    gold.add(key)
    return Overlap(
        question=frozenset(question),
        passage=frozenset(passage),
        gold=frozenset(gold),
        passages=frozenset(name for name, shared in passages.items() if shared),
    )


def run_overlap(files: Sequence[Path], against: Sequence[Path]) -> Report:
    """The audit: one row for each dataset of `files`, its counts and shares that `against` holds too.

    Raises:
        DatasetError: a file cannot be opened or its format is none that is understood.
        SettingsError: one of the two sides has no file or no record.
    """
    faults: list[Fault] = []
    records = list(records_of(files, faults))
    others = Fingerprints(records_of(against, faults))
    for side, empty in (("first", not records), ("second", not others.questions)):
        if empty:
            raise SettingsError(
                f"The {side} side has no record to compare. Give files with questions and passages."
            )
    by_dataset: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_dataset[record.dataset].append(record)
    return Report(
        benchmark="overlap",
        settings={
            "files": [path.name for path in files],
            "against": [path.name for path in against],
            "min_words": MIN_WORDS,
        },
        seed=0,
        rows=[_row(dataset, members, others) for dataset, members in by_dataset.items()],
        failures=fault_counts(faults),
    )


def _row(dataset: str, records: Sequence[Record], others: Fingerprints) -> Row:
    found = overlap(records, others)
    passages = {one.passage.id for record in records for one in record.passages}
    gold = {one.passage.id for record in records for one in record.support}
    asked = {question_digest(record.question) for record in records}
    groups = len({record.group for record in records})
    row: Row = {"dataset": dataset, "records": len(records)}
    row |= _shared("questions", len(asked & others.questions), len(asked))
    row |= _shared("passages", len(found.passages), len(passages))
    row |= _shared("gold_passages", len(gold & found.passages), len(gold))
    row["groups"] = groups
    for name, keys in (
        ("groups_by_question", found.question),
        ("groups_by_passage", found.passage),
        ("groups_by_gold", found.gold),
        ("groups_by_any", found.strict),
        ("groups_by_question_or_gold", found.essential),
    ):
        row |= {f"{name}_shared": len(keys), f"{name}_share": len(keys) / groups}
    return row


def _shared(name: str, shared: int, total: int) -> Row:
    return {name: total, f"{name}_shared": shared, f"{name}_share": shared / total if total else None}


def records_of(files: Iterable[Path], faults: list[Fault]) -> Iterator[Record]:
    """The records of files, one at a time; what could not be read is added to `faults`.

    Repeats across files are no fault here: what counts is the text.

    Raises:
        DatasetError: a file cannot be opened or its format is none that is understood.
    """
    for path in files:
        for item in stream_records(path):
            if isinstance(item, Fault):
                faults.append(item)
            else:
                yield item


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
