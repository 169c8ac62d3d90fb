"""What a fit says while it works, and at its end."""

from __future__ import annotations

from collections import Counter
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


FEW, FEW_OF_A_FAMILY = 200, 50
"""Questions below which a fit is warned about. A convention: no figure says where chance ends."""

Watch: TypeAlias = Callable[[FitProgress], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReport:
    """What a fit came to."""

    profiles: tuple[Path, ...]
    """The full profile and each fold: folders of `paper`, files of `small`."""
    odds: tuple[Path, ...]
    """Of each profile of `small` its head of log-odds, in the same order (`rinse.odds`); `paper` has none."""
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
    warnings: tuple[str, ...] = ()
    """What a person should know of the profile before relying on it."""


def warnings_of(groups: Iterable[TrainingGroup]) -> tuple[str, ...]:
    """Says so, with numbers, if there are few questions to fit on; groups that share a name are one question."""
    counts = Counter(family for family, _ in {(group.family, group.group) for group in groups})
    total = sum(counts.values())
    if total >= FEW and min(counts.values()) >= FEW_OF_A_FAMILY:
        return ()
    each = ", ".join(f"{family} {count}" for family, count in sorted(counts.items()))
    warning = (
        f"Fitted on {total} questions ({each}). With fewer than {FEW} in all or {FEW_OF_A_FAMILY} of a family, "
        "weights and scale follow the pairs that happen to be there. Add pairs, or check the profile on others."
    )
    return (warning,)


def count_families(groups: Iterable[TrainingGroup]) -> tuple[tuple[str, int], ...]:
    """Groups of each family, in alphabetical order."""
    counts: dict[str, int] = {}
    for group in groups:
        counts[group.family] = counts.get(group.family, 0) + 1
    return tuple(sorted(counts.items()))
