"""What is fitted to: groups of sufficient and insufficient sides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval import EvidenceSet, Passage

from .balance import PairKey


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSide:
    """A question and passages with the label."""

    question: str
    passages: tuple[Passage, ...]
    sufficient: bool
    answers: tuple[str, ...] = ()
    """Accepted answers of the question; empty where none is known. Only the span reader is trained on them."""
    support: tuple[str, ...] = ()
    """Ids of passages that are known to support the answer; empty where nobody said."""

    @property
    def evidence(self) -> EvidenceSet:
        """The passages as a set."""
        return EvidenceSet.of(self.passages)

    @property
    def key(self) -> str:
        """sha256 (hex) of what the readers see of it; the label is no part of it."""
        return _digest([self.question, [_seen(passage) for passage in self.passages]])


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingGroup:
    """Sides that belong together: every sufficient one is paired with every insufficient one."""

    family: str
    """Families weigh the same, whatever their sizes."""
    group: str
    """Groups of one family and construction weigh the same; several lines of a file may share one."""
    sides: tuple[TrainingSide, ...]
    construction: str = ""
    """How the insufficient sides were made; those of one family weigh the same. Empty where nobody said."""

    @property
    def pair_key(self) -> PairKey:
        """What its pairs belong to."""
        return self.family, self.construction, self.group

    @property
    def key(self) -> str:
        """sha256 (hex) of all of it."""
        sides = [[side.key, side.sufficient, side.answers, side.support] for side in self.sides]
        return _digest([*self.pair_key, sides])

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Places of each sufficient side and each insufficient one."""
        for i, good in enumerate(self.sides):
            for j, bad in enumerate(self.sides):
                if good.sufficient and not bad.sufficient:
                    yield i, j


def _seen(passage: Passage) -> list[object]:
    return [passage.id, passage.title, passage.section, passage.source_id]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode()).hexdigest()
