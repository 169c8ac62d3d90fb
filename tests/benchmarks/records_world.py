"""An invented world: people, towns and rivers, the records that ask about them, and a corpus around them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.datasets.records import Record, RecordPassage
from retrieval import Passage

_CONSONANTS, _VOWELS = "bdfghklmnprstvwz", "aeiou"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    records: tuple[Record, ...]
    """Two hops each, support first: a person, then the town where that person was born."""
    corpus: tuple[Passage, ...]
    """The passages of all records, and for each person and each town one more with a similar title."""


def drawn(*names: object) -> random.Random:
    return random.Random(repr(names))  # noqa: S311  a draw, no secret


def word(draw: random.Random) -> str:
    """An invented word of four syllables."""
    return "".join(draw.choice(_CONSONANTS) + draw.choice(_VOWELS) for _ in range(4))


def words(draw: random.Random, count: int = 10) -> str:
    return " ".join(word(draw) for _ in range(count))


def passage(draw: random.Random, title: str, fact: str, **changes: Any) -> Passage:
    """A fact and ten words that no other passage holds in this order."""
    return Passage(title=title, text=f"{fact} {words(draw).capitalize()}.", **changes)


def record(name: str, support: Sequence[Passage], others: Sequence[Passage] = (), **changes: Any) -> Record:
    held = [RecordPassage(passage=one, support=True) for one in support]
    held += [RecordPassage(passage=one, support=False) for one in others]
    full: dict[str, Any] = {
        "id": name,
        "dataset": "musique",
        "split": "dev",
        "question": f"What is asked by {name}?",
        "answers": (f"answer{name}",),
        "answerable": bool(support),
        "passages": tuple(held),
        "group": name,
        "cluster": name,
    }
    return Record(**(full | changes))


def world(count: int, *, seed: int = 0, distractors: int = 6, **changes: Any) -> World:
    draw = drawn("world", seed)
    people, towns, more = [], [], []
    asked: list[tuple[str, str, str]] = []
    for _ in range(count):
        person, town, river = (word(draw).capitalize() for _ in range(3))
        asked.append((person, town, river))
        people.append(passage(draw, f"{person} Oakes", f"{person} Oakes was a glazier who was born in {town}."))
        towns.append(passage(draw, f"{town} Parish", f"{town} stands on the river {river}."))
        more.append(passage(draw, f"{person} Society", f"A society of readers is named for {person}."))
        more.append(passage(draw, f"{town} Castle", f"The castle near {town} burned down."))
    spare = [*people, *towns]
    records = []
    for at, (person, town, river) in enumerate(asked):
        gold = (people[at], towns[at])
        others = draw.sample([one for one in spare if one not in gold], distractors)
        made = record(
            f"q{at}", gold, others, question=f"On which river was {person} Oakes born?", answers=(river,)
        )
        hops = {people[at].id: (town,), towns[at].id: (river,)}
        held = [
            RecordPassage(passage=one.passage, support=one.support, hop_answers=hops.get(one.passage.id, ()))
            for one in made.passages
        ]
        records.append(changed(made, passages=tuple(held), **changes))
    return World(records=tuple(records), corpus=(*people, *towns, *more))


def paragraphs(count: int, *, seed: int = 0, good: int = 2, bad: int = 1) -> list[Record]:
    """Records as in SQuAD: the questions of one paragraph, two paragraphs an article."""
    draw = drawn("paragraphs", seed)
    texts = [
        passage(draw, f"Article {at // 2}", f"The mill of {word(draw).capitalize()} was built in 17{at:02}.")
        for at in range(count)
    ]
    return [
        record(
            f"p{at}-{number}",
            [text] if number < good else [],
            [] if number < good else [text],
            dataset="squad2",
            question=f"What of {words(draw, 3)}?",
            group=f"p{at}",
            cluster=f"article{at // 2}",
        )
        for at, text in enumerate(texts)
        for number in range(good + bad)
    ]


def changed(one: Record, **changes: Any) -> Record:
    """Like `dataclasses.replace`, for any number of fields from a mapping."""
    fields = {name: getattr(one, name) for name in Record.__dataclass_fields__}
    return Record(**(fields | changes))


def shuffled(items: Iterable[T], seed: int) -> list[T]:
    found = list(items)
    drawn("order", seed).shuffle(found)
    return found


def write_records(path: Path, records: Iterable[Record]) -> Path:
    """In the form of our own JSON lines."""
    path.write_text("".join(json.dumps(_line(one)) + "\n" for one in records), encoding="utf-8")
    return path


def _line(one: Record) -> dict[str, Any]:
    names = ("id", "dataset", "split", "question", "answers", "answerable", "group")
    passages = [
        {"text": held.passage.text, "title": held.passage.title, "is_support": held.support}
        for held in one.passages
    ]
    meta = {"article": one.cluster} if one.cluster != one.group else {}
    return {name: getattr(one, name) for name in names} | {"passages": passages, "meta": meta}


def write_corpus(path: Path, passages: Iterable[Passage]) -> Path:
    rows = [{"id": f"doc-{one.id[:8]}", "title": one.title, "text": one.text} for one in passages]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
