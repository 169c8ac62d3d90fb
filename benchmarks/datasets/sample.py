"""Choosing questions: several files as one list, and samples that do not depend on order."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from .lines import Fault
from .questions import Question, QuestionFile, load_questions
from .records import Record


def load_all(paths: Iterable[Path]) -> QuestionFile:
    """Several files as one. A question that stands in two of them counts once; the repeat is a fault (case R11).

    Raises:
        DatasetError: a file cannot be opened.
    """
    questions: dict[tuple[str, str], Question] = {}
    faults: list[Fault] = []
    for path in paths:
        loaded = load_questions(path)
        faults.extend(loaded.faults)
        for question in loaded.questions:
            key = (question.dataset, question.id)
            if key in questions:
                detail = f"{question.id!r} of {question.dataset!r} stands in an earlier file, which counts."
                faults.append(Fault(file=path.name, line=0, kind="repeated_id", detail=detail))
            questions.setdefault(key, question)
    return QuestionFile(questions=tuple(questions.values()), faults=tuple(faults))


def draw(questions: Sequence[Question], limit: int | None, *, seed: int) -> tuple[Question, ...]:
    """At most `limit` questions of each dataset, chosen by the seed, in their given order; None = all.

    A question's chance depends on its id and the seed alone: a larger limit keeps all that a smaller one drew.
    """
    if limit is None:
        return tuple(questions)
    by_dataset: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_dataset[question.dataset].append(question)
    chosen = {
        (question.dataset, question.id)
        for group in by_dataset.values()
        for question in sorted(group, key=lambda one: _lot(one.dataset, one.id, seed))[:limit]
    }
    return tuple(question for question in questions if (question.dataset, question.id) in chosen)


def draw_groups(records: Sequence[Record], limit: int | None, *, seed: int) -> tuple[Record, ...]:
    """The records of at most `limit` groups of each dataset, whole groups, in their given order; None = all.

    A group's chance depends on dataset, group and seed alone: a larger limit keeps all that a smaller one drew.
    """
    if limit is None:
        return tuple(records)
    groups: dict[str, set[str]] = defaultdict(set)
    for record in records:
        groups[record.dataset].add(record.group)
    chosen = {
        (dataset, group)
        for dataset, names in groups.items()
        for group in sorted(names, key=lambda name: _lot(dataset, name, seed))[:limit]
    }
    return tuple(record for record in records if (record.dataset, record.group) in chosen)


def _lot(dataset: str, name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{dataset}\n{name}".encode()).digest()
