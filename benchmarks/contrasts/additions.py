"""Shared additions: the same passages of other questions for every side of a group (RINSE, appendix F).

They change the size of both sides and, as a rule, no label; the screen marks those that might.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from retrieval import Passage

from .model import Added, Contrast, Screen
from .near import answer_strings, holds_answer, stands_for
from .sides import generator, lots


def with_additions(contrasts: Iterable[Contrast], count: int, *, seed: int) -> list[Contrast]:
    """Give every contrast `count` passages from other contrasts of its dataset and construction.

    Fewer where there are not so many. A longer list begins with the shorter one of the same seed.
    """
    kinds: dict[tuple[str, str], list[Contrast]] = defaultdict(list)
    for one in contrasts:
        kinds[one.dataset, one.construction].append(one)
    return [_added(one, pool, count, seed) for same in kinds.values() for pool in [_pool(same)] for one in same]


def _pool(contrasts: Iterable[Contrast]) -> list[tuple[frozenset[str], Passage]]:
    """Each passage once, with the clusters that hold it, in an order that depends on content alone."""
    clusters: dict[str, set[str]] = defaultdict(set)
    found: dict[str, Passage] = {}
    for one in sorted(contrasts, key=lambda one: one.key):
        for key, passage in one.passages.items():
            clusters[key].add(one.cluster)
            found.setdefault(key, passage)
    return [(frozenset(clusters[key]), found[key]) for key in sorted(found)]


def _added(one: Contrast, pool: Sequence[tuple[frozenset[str], Passage]], count: int, seed: int) -> Contrast:
    order = lots(generator(seed, "additions", *one.key), len(pool))
    fits = (
        passage
        for clusters, passage in map(pool.__getitem__, order)
        if one.cluster not in clusters and passage.id not in one.passages
    )
    chosen = {passage.id: passage for passage in islice(fits, count)}
    screens = _Screens(one)
    added = tuple(Added(passage=key, flags=screens.flags(passage)) for key, passage in chosen.items())
    return replace(one, passages={**one.passages, **chosen}, added=added)


class _Screens:
    """What speaks against adding a passage to a group."""

    def __init__(self, one: Contrast) -> None:
        self._answers = answer_strings(answer for side in one.sides for answer in side.answers)
        self._titles = {passage.title for passage in one.passages.values() if passage.title}
        self._support = [one.passages[key].text for key in {key for side in one.sides for key in side.support}]

    def flags(self, passage: Passage) -> tuple[Screen, ...]:
        found: list[Screen] = []
        if holds_answer(passage, self._answers):
            found.append("answer")
        if passage.title in self._titles:
            found.append("title")
        if any(stands_for(passage.text, gold) for gold in self._support):
            found.append("support")
        return tuple(found)
