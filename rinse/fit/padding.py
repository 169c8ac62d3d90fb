"""Padded copies of records: more passages, the same label (RINSE, section 4)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import chain, islice

from retrieval import Passage

from .answers import holds
from .groups import TrainingGroup


class Padding:
    """Draws passages of other questions of a family.

    A family's passages stand in one seeded order; a group takes those that follow a place of its own.

    Args:
        groups: All groups; their passages are what is drawn from.
        seed: Of the order and the places.
    """

    def __init__(self, groups: Sequence[TrainingGroup], *, seed: int) -> None:
        self._seed = seed
        found: dict[str, dict[str, Passage]] = {}
        for group in sorted(groups, key=lambda one: one.key):
            for side in group.sides:
                for passage in side.passages:
                    found.setdefault(group.family, {}).setdefault(passage.id, passage)
        self._pools = {
            family: [pool[key] for key in sorted(pool, key=self._place)] for family, pool in found.items()
        }

    def draw(self, group: TrainingGroup, count: int) -> tuple[Passage, ...]:
        """At most `count` passages, the same first ones for every count.

        None of the group's own, and none that holds one of its answers: that could change a label.
        """
        pool = self._pools.get(group.family, [])
        own = {passage.id for side in group.sides for passage in side.passages}
        answers = {answer for side in group.sides for answer in side.answers}
        begin = self._place(group.key) % max(len(pool), 1)
        drawn: list[Passage] = []
        for passage in chain(islice(pool, begin, None), islice(pool, begin)):
            if len(drawn) == count:
                break
            if passage.id not in own and not holds(passage.full_text, answers):
                drawn.append(passage)
        return tuple(drawn)

    def _place(self, key: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{self._seed}:{key}".encode()).digest()[:8], "big")
