"""Padded copies of records: more passages, the same label (RINSE, section 4)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from retrieval import Passage
from retrieval.text import normalise

from .groups import TrainingGroup


class Padding:
    """Draws passages of other questions of a family.

    Args:
        groups: All groups; their passages are what is drawn from.
        seed: Gives every group its own draw, whatever else is fitted to.
    """

    def __init__(self, groups: Sequence[TrainingGroup], *, seed: int) -> None:
        self._seed = seed
        self._pools: dict[str, dict[str, Passage]] = {}
        for group in sorted(groups, key=lambda one: one.key):
            pool = self._pools.setdefault(group.family, {})
            for side in group.sides:
                for passage in side.passages:
                    pool.setdefault(passage.id, passage)

    def draw(self, group: TrainingGroup, count: int) -> tuple[Passage, ...]:
        """At most `count` passages, the same first ones for every count.

        None of the group's own, and none that holds one of its answers: that could change a label.
        """
        own = {passage.id for side in group.sides for passage in side.passages}
        answers = {normalise(answer) for side in group.sides for answer in side.answers}
        pool = list(self._pools[group.family].values())
        order = random.Random(f"{self._seed}:{group.key}").sample(range(len(pool)), len(pool))  # noqa: S311
        drawn: list[Passage] = []
        for place in order:
            if len(drawn) == count:
                break
            if pool[place].id not in own and not holds(pool[place].text, answers):
                drawn.append(pool[place])
        return tuple(drawn)


def holds(text: str, answers: set[str]) -> bool:
    """Whether one of these normalised answers occurs in a text."""
    plain = normalise(text) if answers else ""
    return any(answer in plain for answer in answers if answer)
