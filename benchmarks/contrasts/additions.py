"""Shared additions: the same passages of other questions for every side of a group (RINSE, appendix F).

They change the size of both sides and, as a rule, no label; the screen marks those that might.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from retrieval import Passage

from .model import Added, Contrast, Screen
from .near import answer_strings, holds_answer
from .sides import generator


def with_additions(contrasts: Iterable[Contrast], count: int, *, seed: int) -> list[Contrast]:
    """Give every contrast `count` passages from other contrasts of its dataset and construction.

    Fewer where there are not so many. A longer list begins with the shorter one of the same seed.
    """
    kinds: dict[tuple[str, str], list[Contrast]] = defaultdict(list)
    for one in contrasts:
        kinds[one.dataset, one.construction].append(one)
    return [_added(one, pool, count, seed) for same in kinds.values() for pool in [_pool(same)] for one in same]


def _pool(contrasts: Sequence[Contrast]) -> list[tuple[str, Passage]]:
    """Each passage once, with the cluster it comes from, in an order that depends on content alone."""
    found = {key: (one.cluster, one.passages[key]) for one in contrasts for key in one.passages}
    return [found[key] for key in sorted(found)]


def _added(one: Contrast, pool: Sequence[tuple[str, Passage]], count: int, seed: int) -> Contrast:
    draw = generator(seed, "additions", *one.key)
    chosen: dict[str, Passage] = {}
    for place in draw.sample(range(len(pool)), len(pool)):
        cluster, passage = pool[place]
        if len(chosen) == count:
            break
        if cluster != one.cluster and passage.id not in one.passages:
            chosen[passage.id] = passage
    screens = _Screens(one)
    added = tuple(Added(passage=key, flags=screens.flags(passage)) for key, passage in chosen.items())
    return replace(one, passages={**one.passages, **chosen}, added=added)


class _Screens:
    """What speaks against adding a passage to a group."""

    def __init__(self, one: Contrast) -> None:
        self._answers = answer_strings(answer for side in one.sides for answer in side.answers)
        self._titles = {passage.title for passage in one.passages.values() if passage.title}
        self._support = {key for side in one.sides for key in side.support}

    def flags(self, passage: Passage) -> tuple[Screen, ...]:
        found: list[Screen] = []
        if holds_answer(passage, self._answers):
            found.append("answer")
        if passage.title in self._titles:
            found.append("title")
        if passage.id in self._support:
            found.append("support")
        return tuple(found)
