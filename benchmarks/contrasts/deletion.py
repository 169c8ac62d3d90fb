"""Deletion: a needed passage is taken out, among sets whose sizes vary so much that size says little.

The paper takes such sets from NeoQA. Here they are drawn: the complete and the incomplete sets of a record have
the same two sizes, so that the number of passages is at chance by construction (`cue-size` in the table).
"""

from __future__ import annotations

import random

from ..datasets.records import Record
from .model import Contrast, Made, Side
from .sides import Dropped, contrast, generator, own_passages, record_side, removable

VARIANTS = 2
"""Sets of each label: two sizes a label, four pairs a group."""


def eligible(record: Record) -> bool:
    """Whether there is support to take out and enough distractors to vary the size."""
    distractors = len(record.passages) - len(record.support)
    return record.answerable and len(record.support) >= 2 and distractors >= 4


def deletion(record: Record, *, seed: int, alone: bool = True) -> Contrast | Dropped:
    """Two complete sets and two that lack one support passage, each with distractors of the record."""
    draw = generator(seed, "deletion", record.dataset, record.id)
    support = [one.passage for one in record.support]
    candidates = [one.passage for one in removable(record)]
    if len(candidates) < VARIANTS:
        return Dropped(dataset=record.dataset, group=record.group, reason="support_twice")
    distractors = [one.passage for one in record.passages if not one.support]
    sizes = _sizes(draw, len(support), len(record.passages) - 1)
    sides: list[Side] = []
    for variant, size in enumerate(sizes):
        passages = [*support, *draw.sample(distractors, size - len(support))]
        made = Made(how="annotated", record=record.id)
        sides.append(record_side(record, passages, name=f"whole:{variant}", sufficient=True, made=made, seed=seed))
    removed = draw.sample(candidates, VARIANTS)
    for variant, (size, gone) in enumerate(zip(sizes, removed, strict=True)):
        kept = [passage for passage in support if passage.id != gone.id]
        passages = [*kept, *draw.sample(distractors, size - len(kept))]
        made = Made(how="removed", record=record.id, removed=gone.id)
        sides.append(
            record_side(record, passages, name=f"removed:{variant}", sufficient=False, made=made, seed=seed)
        )
    return contrast(record, "deletion", sides, own_passages(record), alone=alone)


def _sizes(draw: random.Random, smallest: int, largest: int) -> list[int]:
    """Two different sizes if there are two."""
    sizes = range(smallest, largest + 1)
    return draw.sample(sizes, VARIANTS) if len(sizes) >= VARIANTS else [smallest] * VARIANTS
