"""Which groups a fit sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .errors import FitError
from .groups import TrainingGroup
from .pairs import FAMILY_PATTERN, stream_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is read of which files."""

    pairs: tuple[Path, ...]
    """Files of `stream_pairs`."""
    families: Mapping[str, str]
    """Another family for some: the names of datasets made those of families."""
    without: frozenset[str]
    """Families that are dropped."""
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By option the families that a person named: they must be there."""
    limit: int | None = None
    """Most groups of a construction of a family, drawn by their content; None = all."""
    folds: bool = False
    """Whether each family is left out once: then two must be there."""


def read_groups(selection: Selection, progress: Callable[[int, int], None]) -> list[TrainingGroup]:
    """All groups that are fitted on, each once, ordered by content: the order of files and lines does not matter.

    Raises:
        PairsError: a file cannot be used.
        FitError: nothing is left, or a family was named that is not there.
    """
    for name in selection.families.values():
        if not re.fullmatch(FAMILY_PATTERN, name):
            raise FitError(f"{name!r} names no family: expected letters, digits, '.', '_', '-', at most 100.")
    found: dict[str, TrainingGroup] = {}
    for number, path in enumerate(selection.pairs):
        progress(number, len(selection.pairs))
        for group in stream_pairs(path):
            renamed = replace(group, family=selection.families.get(group.family, group.family))
            found.setdefault(renamed.key, renamed)
    progress(len(selection.pairs), len(selection.pairs))
    there = {group.family for group in found.values()}
    for option, names in selection.named.items():
        if strange := sorted(set(names) - there):
            raise FitError(f"{option} {strange[0]}: the files hold the families {', '.join(sorted(there))}.")
    return _kept(found, selection)


def _kept(found: Mapping[str, TrainingGroup], selection: Selection) -> list[TrainingGroup]:
    kept: dict[tuple[str, str], list[TrainingGroup]] = {}
    for key in sorted(found):
        group = found[key]
        if group.family not in selection.without:
            kept.setdefault((group.family, group.construction), []).append(group)
    if not kept:
        raise FitError("No pair is left to fit on. Give files of pairs, or leave out fewer families.")
    families = sorted({family for family, _ in kept})
    if selection.folds and len(families) < 2:
        raise FitError(f"--folds needs two families, the files hold {', '.join(families)}. Leave it out.")
    return [group for name in sorted(kept) for group in kept[name][: selection.limit]]
