"""The stream of questions: repeats, questions near an earlier one, and new ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..datasets import Record
from ..errors import SettingsError

Kind = Literal["repeat", "related", "new"]
REPEATS, RELATED = 0.4, 0.3
"""Shares of the stream; the rest is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One place of the stream."""

    number: int
    """From 0."""
    kind: Kind
    record: Record
    """What is asked, with its annotated support; unanswerable questions have none."""


def make_stream(records: Sequence[Record], length: int, *, seed: int) -> tuple[Ask, ...]:
    """Draw a stream.

    A repeat is an earlier question by a Zipf law of exponent 1 over the order in which the questions first came. A
    related question is another one that shares a needed passage, a paragraph or a sentence with an earlier one. A
    new one is answerable and shares nothing with any earlier one. Datasets take turns by lot, with equal chances.
    Where a kind has run out, a new question stands in its place, and says so by its kind.

    Args:
        records: Distinct by dataset and id.
        length: Questions.
        seed: Of every choice.

    Raises:
        SettingsError: there are not enough records.
    """
    chance = random.Random(seed)  # noqa: S311  no secret
    pool = _Pool(records, chance)
    stream: list[Ask] = []
    for number in range(length):
        lot = chance.random()
        kind, record = pool.draw("repeat" if lot < REPEATS else "related" if lot < REPEATS + RELATED else "new")
        stream.append(Ask(number=number, kind=kind, record=record))
    return tuple(stream)


def ties(record: Record) -> frozenset[str]:
    """What two related records have in common at least one of: the group, or a needed passage."""
    return frozenset({f"group {record.group}", *(one.passage.id for one in record.support)})


class _Pool:
    """Records that were not asked yet, and those that were."""

    def __init__(self, records: Iterable[Record], chance: random.Random) -> None:
        self._chance = chance
        self._waiting: dict[str, list[Record]] = {}
        self._tied: dict[str, list[Record]] = {}
        for record in records:
            self._waiting.setdefault(record.dataset, []).append(record)
            for tie in ties(record):
                self._tied.setdefault(tie, []).append(record)
        for waiting in self._waiting.values():
            chance.shuffle(waiting)
        self._asked: list[Record] = []
        self._used: set[tuple[str, str]] = set()
        self._touched: set[str] = set()

    def draw(self, kind: Kind) -> tuple[Kind, Record]:
        """A record of this kind, or a new one where there is none."""
        found = self._repeat() if kind == "repeat" else self._related() if kind == "related" else None
        if found is None:
            kind, found = "new", self._new()
        if kind != "repeat":
            self._asked.append(found)
            self._used.add((found.dataset, found.id))
            self._touched |= ties(found)
        return kind, found

    def _repeat(self) -> Record | None:
        if not self._asked:
            return None
        weights = [1 / rank for rank in range(1, len(self._asked) + 1)]
        return self._chance.choices(self._asked, weights)[0]

    def _related(self) -> Record | None:
        by_dataset: dict[str, list[Record]] = {}
        for asked in self._asked:
            near = {id(other): other for tie in sorted(ties(asked)) for other in self._tied[tie]}
            unused = [other for other in near.values() if (other.dataset, other.id) not in self._used]
            if unused:
                by_dataset.setdefault(asked.dataset, []).append(self._chance.choice(unused))
        if not by_dataset:
            return None
        return self._chance.choice(by_dataset[self._chance.choice(sorted(by_dataset))])

    def _new(self) -> Record:
        names = sorted(name for name, waiting in self._waiting.items() if waiting)
        while names:
            name = self._chance.choice(names)
            waiting = self._waiting[name]
            while waiting:
                record = waiting.pop()
                if record.answerable and not ties(record) & self._touched:
                    return record
            names.remove(name)
        raise SettingsError("The records are too few for so long a stream. Ask for a shorter one, or give more.")


def clusters(stream: Sequence[Ask]) -> dict[int, str]:
    """Questions that hang together, by place: repeats and what shares a tie, over any number of steps.

    The name of a cluster is the id of the question that came first.
    """
    leader: dict[str, str] = {}

    def root(name: str) -> str:
        while leader.setdefault(name, name) != name:
            name = leader[name]
        return name

    first: dict[str, str] = {}
    for ask in stream:
        for tie in sorted(ties(ask.record)):
            leader[root(tie)] = root(f"question {ask.record.dataset} {ask.record.id}")
    names: dict[int, str] = {}
    for ask in stream:
        place = root(f"question {ask.record.dataset} {ask.record.id}")
        names[ask.number] = first.setdefault(place, f"{ask.record.dataset} {ask.record.id}")
    return names
