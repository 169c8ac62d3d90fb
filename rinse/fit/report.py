"""What a fit says while it works, and at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .groups import TrainingGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class FitProgress:
    """How far a stage is."""

    stage: str
    """`pairs`, `span`, `readings` or `profiles`."""
    done: int
    total: int


Watch: TypeAlias = Callable[[FitProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """What a fit came to."""

    profiles: tuple[Path, ...]
    """The full profile and each fold: folders of `paper`, files of `small`."""
    families: tuple[tuple[str, int], ...]
    """Groups of each family that was fitted on."""
    records: int
    """Records that were read, padded ones included."""
    failed: int
    """Records for which a reader gave nothing usable; they were left out."""
    fitted: bool
    """False: what was asked for stood there already."""
    changed: tuple[str, ...] = ()
    """Settings that differ from those of the fit that was in the folder."""


def count_families(groups: Iterable[TrainingGroup]) -> tuple[tuple[str, int], ...]:
    """Groups of each family, in alphabetical order."""
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.family] = counts.get(group.family, 0) + 1
    return tuple(sorted(counts.items()))
