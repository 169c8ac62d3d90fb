"""Parts that all constructions share: seeded draws, sides, and why a record gave no contrast."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from retrieval import Passage

from ..datasets.records import Record, RecordPassage
from .model import Construction, Contrast, Made, Side
from .near import stands_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A record or group that was eligible for a construction and gave no contrast."""

    dataset: str
    group: str
    reason: str
    """`no_random_distractor`, `no_title_distractor`, `no_near_miss`, `no_unrelated_question`, `support_twice`,
    `all_or_none`, `question_twice`, `passage_full`, `no_swap`."""


def generator(seed: int, *names: str) -> random.Random:
    """A generator of its own for each purpose, so that no draw depends on which others were made."""
    return random.Random("\n".join((str(seed), *names)))  # noqa: S311  a draw, no secret


def lots(draw: random.Random, size: int) -> Iterator[int]:
    """All places below `size` in random order, drawn as they are asked for: few of many thousands are."""
    seen: set[int] = set()
    while len(seen) < size:
        place = draw.randrange(size)
        if place not in seen:
            seen.add(place)
            yield place


def record_side(
    record: Record,
    passages: Iterable[Passage],
    *,
    name: str,
    sufficient: bool,
    made: Made,
    seed: int | None = None,
) -> Side:
    """A side that asks the record's question.

    Args:
        record: Whose question, answers and support.
        passages: The set, in the order to present, or in any order if there is a seed.
        name: Distinct within the contrast.
        sufficient: The label.
        made: How it came to be.
        seed: Shuffle the set once, so that the place of a passage tells nothing; None = keep the order.
    """
    ids = list(dict.fromkeys(passage.id for passage in passages))
    if seed is not None:
        ids.sort()
        generator(seed, "order", record.dataset, record.id, name).shuffle(ids)
    wanted = {one.passage.id for one in record.support}
    return Side(
        id=name,
        question=record.question,
        answers=record.answers,
        sufficient=sufficient,
        passages=tuple(ids),
        made=made,
        support=tuple(key for key in ids if key in wanted),
    )


def contrast(
    record: Record,
    construction: Construction,
    sides: Sequence[Side],
    passages: Iterable[Passage],
    *,
    alone: bool = True,
) -> Contrast:
    """The sides of one record (`alone`: of one whole group) as a contrast."""
    known = {passage.id: blind(passage) for passage in passages}
    used = dict.fromkeys(key for side in sides for key in side.passages)
    return Contrast(
        dataset=record.dataset,
        split=record.split,
        construction=construction,
        group=record.group if alone else f"{record.group}#{record.id}",
        cluster=record.cluster,
        passages={key: known[key] for key in used},
        sides=tuple(sides),
    )


def blind(passage: Passage) -> Passage:
    """The passage without what would tell from which file it came.

    That is its address, the name of its source, the section's title (records have none, corpora may), and odd
    white space: one copy of a text has two spaces where another has one, under one id. Chunks of one source still
    share a source; a text that several sources hold belongs to the first.
    """
    source = hashlib.sha256(passage.source_id.encode("utf-8", "replace")).hexdigest()
    text = " ".join(passage.text.split())
    return Passage(text=text, title=passage.title, source_id=source)


def own_passages(record: Record) -> list[Passage]:
    """The passages of a record, in its order."""
    return [one.passage for one in record.passages]


def removable(record: Record) -> list[RecordPassage]:
    """The support without which the record's passages no longer suffice: none of the others is a copy of it."""
    return [
        gone
        for gone in record.support
        if not any(
            stands_for(one.passage.text, gone.passage.text)
            for one in record.passages
            if one.passage.id != gone.passage.id
        )
    ]


def replaced(passages: Sequence[Passage], removed: str, inserted: Passage) -> list[Passage]:
    """The set with one passage in the place of another."""
    return [inserted if passage.id == removed else passage for passage in passages]
