"""Contrasts that the dataset brings: its own answerable and unanswerable records of one group."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from ..datasets.records import Record
from .model import Contrast, Made, Side
from .sides import Dropped, contrast, generator, lots, own_passages, record_side


def mixed(records: Sequence[Record]) -> bool:
    """Whether a group holds both labels."""
    return len({record.answerable for record in records}) == 2


def one_set(records: Sequence[Record]) -> bool:
    """Whether all records of a group have the same passages: then only the question differs."""
    return len({frozenset(one.passage.id for one in record.passages) for record in records}) == 1


def annotated(records: Sequence[Record]) -> Contrast:
    """Every answerable record of the group with every unanswerable one.

    `question-swap` where all have the same passages (SQuAD 2.0: a paragraph's questions), else `native` (MuSiQue
    in full: one question, two contexts; IIRC: an article's questions, each with its own context).
    """
    records = by_id(records)
    sides = [_side(record) for record in records]
    passages = [passage for record in records for passage in own_passages(record)]
    return contrast(records[0], "question-swap" if one_set(records) else "native", sides, passages)


def unrelated(records: Sequence[Record], others: Sequence[Record], *, seed: int) -> Contrast | Dropped:
    """Each answerable question of a group beside the question of another cluster, over the same passages.

    What the paper shows to be solved by word overlap alone (section 3.1); for that check only.

    Args:
        records: The group.
        others: All records of its dataset, by id.
        seed: Of the draw.
    """
    records = by_id(records)
    first = records[0]
    draw = generator(seed, "unrelated", first.dataset, first.group)
    good = [record for record in records if record.answerable]
    asked = _foreign(first, others, len(good), draw)
    if not asked:
        return Dropped(dataset=first.dataset, group=first.group, reason="no_unrelated_question")
    sides = [_side(record) for record in good]
    for place, record in enumerate(asked):
        made = Made(how="unrelated-question", record=record.id)
        name = f"unrelated:{place}"
        sides.append(record_side(record, own_passages(first), name=name, sufficient=False, made=made))
    return contrast(first, "unrelated-swap", sides, own_passages(first))


def _foreign(first: Record, others: Sequence[Record], count: int, draw: random.Random) -> list[Record]:
    """`count` records of other clusters, fewer where there are not so many."""
    found: dict[str, Record] = {}
    for place in lots(draw, len(others)):
        if len(found) == count:
            break
        if others[place].cluster != first.cluster:
            found[others[place].id] = others[place]
    return list(found.values())


def by_id(records: Iterable[Record]) -> list[Record]:
    """In an order that does not depend on that of the files."""
    return sorted(records, key=lambda one: one.id)


def _side(record: Record) -> Side:
    made = Made(how="annotated", record=record.id)
    return record_side(record, own_passages(record), name=record.id, sufficient=record.answerable, made=made)


def by_group(records: Iterable[Record]) -> dict[tuple[str, str], list[Record]]:
    """Records by dataset and group, in order of first appearance."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.dataset, record.group), []).append(record)
    return groups
