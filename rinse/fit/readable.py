"""Pairs of which both sides were read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from .balance import PairKey
from .groups import TrainingGroup


class ReadSide(Protocol):
    """What `Reading` and `SmallReading` have in common."""

    @property
    def side(self) -> int:
        """Its place in the group."""

    @property
    def added(self) -> int:
        """Passages of other questions that were added; 0 = the side itself."""


R = TypeVar("R", bound=ReadSide)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPairs(Generic[R]):
    """Three columns of one table, a row a pair."""

    good: tuple[R, ...]
    bad: tuple[R, ...]
    keys: tuple[PairKey, ...]


def read_pairs(groups: Iterable[TrainingGroup], readings: Iterable[Sequence[R]]) -> ReadPairs[R]:
    """Every pair as it is, not padded; those of which one side could not be read are left out.

    Args:
        groups: In any order.
        readings: Of each group, in the same order.
    """
    found: list[tuple[R, R, PairKey]] = []
    for group, read in zip(groups, readings, strict=True):
        plain = {one.side: one for one in read if not one.added}
        found += [
            (plain[good], plain[bad], group.pair_key)
            for good, bad in group.pairs()
            if good in plain and bad in plain
        ]
    return ReadPairs(
        good=tuple(good for good, _, _ in found),
        bad=tuple(bad for _, bad, _ in found),
        keys=tuple(key for _, _, key in found),
    )
