"""Which records are judged, and which ones a threshold is chosen on: evenly from all tests, by the seed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from retrieval import EvidenceSet

from ..contrasts.model import Construction, Contrast, Side
from ..datasets.families import family_of
from ..pairwise.scoring import ScoreJob

Test: TypeAlias = tuple[str, Construction]
"""Dataset and construction. Few groups of many datasets are one test: retrieval pairs of all datasets (`pooled`,
as in `pairwise`), swaps that we made of a family's."""
K = TypeVar("K", str, Test)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A record: one side of a contrast."""

    contrast: Contrast
    side: Side

    @property
    def test(self) -> Test:
        """What it is counted under."""
        return test_of(self.contrast)

    @property
    def family(self) -> str:
        """Of its dataset."""
        return family_of(self.contrast.dataset)

    @property
    def single(self) -> bool:
        """Whether it holds one passage, as in reading comprehension, and not several, as a search returns them."""
        return len(self.side.passages) == 1

    @property
    def evidence(self) -> EvidenceSet:
        """Its passages in the order in which the side holds them (shuffled once, where we made the set)."""
        return self.contrast.evidence(self.side)

    @property
    def cluster(self) -> str:
        """What is resampled as one."""
        return f"{self.contrast.dataset}\n{self.contrast.cluster}"

    @property
    def job(self) -> ScoreJob:
        """The record as a scorer gets it; its `key` identifies question and passages by content."""
        return ScoreJob(
            record=(self.contrast.key, self.side.id),
            added=0,
            question=self.side.question,
            passages=self.evidence.passages,
        )


def test_of(contrast: Contrast) -> Test:
    """The test that a contrast belongs to."""
    match contrast.construction:
        case "retrieval":
            return "pooled", "retrieval"
        case "made-swap":
            return family_of(contrast.dataset), "made-swap"
        case _:
            return contrast.dataset, contrast.construction


def draw_records(contrasts: Iterable[Contrast], per_label: int, *, seed: int) -> list[Drawn]:
    """At most `per_label` sufficient and as many insufficient records, of the same groups, one of each a group.

    The number is shared evenly between tests, inside a pooled test between datasets; a test that has too few
    leaves its rest to the others. Which group and which of its sides are drawn depends on their names and the
    seed alone.
    """
    tests: dict[Test, dict[str, list[Contrast]]] = defaultdict(lambda: defaultdict(list))
    for one in contrasts:
        tests[test_of(one)][one.dataset].append(one)
    shares = even(per_label, {test: sum(map(len, found.values())) for test, found in tests.items()})
    drawn: list[Drawn] = []
    for test, share in shares.items():
        inside = even(share, {dataset: len(found) for dataset, found in tests[test].items()})
        for dataset, count in inside.items():
            for one in sorted(tests[test][dataset], key=lambda one: _lot(seed, *one.key))[:count]:
                drawn += [Drawn(contrast=one, side=_side(one, label, seed)) for label in (True, False)]
    return drawn


def even(total: int, sizes: Mapping[K, int]) -> dict[K, int]:
    """`total` shared between keys as evenly as their sizes allow; what is left over goes to the first ones.

    >>> even(7, {"a": 9, "b": 1, "c": 9})
    {'a': 3, 'b': 1, 'c': 3}
    """
    shares = dict.fromkeys(sorted(sizes), 0)
    while total and (room := [key for key in shares if shares[key] < sizes[key]]):
        for key in room[:total]:
            shares[key] += 1
        total -= min(total, len(room))
    return shares


def batches(drawn: Iterable[Drawn]) -> list[list[ScoreJob]]:
    """Jobs of one group together: they share passages."""
    found: dict[tuple[str, str], list[ScoreJob]] = defaultdict(list)
    for one in drawn:
        found[one.contrast.dataset, one.contrast.group].append(one.job)
    return list(found.values())


def _side(contrast: Contrast, label: bool, seed: int) -> Side:
    sides = [side for side in contrast.sides if side.sufficient == label]
    return min(sides, key=lambda side: _lot(seed, *contrast.key, side.id))


def _lot(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\n".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()
