"""Retrieval pairs: the top five of several retrievers for one question; some hold all support, some do not.

Nothing is constructed here: these are the sets that a search hands to a reader (RINSE, section 5, table 5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retrieval import Passage

from ..datasets.records import Record
from .model import Contrast, Made, Side
from .near import stands_for
from .sides import Dropped, contrast, generator, record_side

DEPTH = 5
"""Passages of a set."""
SYSTEMS = ("bm25", "dense", "rrf", "hop")
"""Words, vectors, both joined by reciprocal rank fusion, and a search of three turns that follows the gaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one retriever returned for a question."""

    passages: tuple[Passage, ...]
    """Best first, `DEPTH` at most."""
    top_score: float
    """Best cosine of one of them with the question."""


def one_a_group(records: Sequence[Record], *, seed: int) -> list[Record]:
    """One answerable record of each group: the questions of one paragraph are searched for once."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.answerable:
            groups.setdefault((record.dataset, record.group), []).append(record)
    return [
        min(same, key=lambda one: generator(seed, "retrieval", one.dataset, one.id).random())
        for same in groups.values()
    ]


def retrieval(record: Record, found: Mapping[str, Found]) -> Contrast | Dropped:
    """One side for each distinct set of passages; it is sufficient if it holds all support, or near-duplicates."""
    sets: dict[frozenset[str], list[str]] = {}
    for system in SYSTEMS:
        if system in found:
            sets.setdefault(frozenset(one.id for one in found[system].passages), []).append(system)
    sides = [_side(record, systems, found[systems[0]]) for systems in sets.values()]
    if len({side.sufficient for side in sides}) < 2:
        return Dropped(dataset=record.dataset, group=record.group, reason="all_or_none")
    passages = [passage for one in found.values() for passage in one.passages]
    return contrast(record, "retrieval", sides, passages)


def _side(record: Record, systems: Sequence[str], found: Found) -> Side:
    gold = [one.passage for one in record.support]
    return record_side(
        record,
        found.passages,
        name="+".join(systems),
        sufficient=all(_held(one, found.passages) for one in gold),
        made=Made(how="retrieved", record=record.id, systems=tuple(systems), top_score=found.top_score),
    )


def _held(gold: Passage, passages: Iterable[Passage]) -> bool:
    return any(one.id == gold.id or stands_for(one.text, gold.text) for one in passages)
