"""Which groups a fit sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from .errors import FitError
from .groups import TrainingGroup
from .pairs import FAMILY_PATTERN, stream_pairs
from .paper import PaperFit


def read_groups(fit: PaperFit, progress: Callable[[int, int], None]) -> list[TrainingGroup]:
    """All groups that are fitted on, each once, ordered by content: the order of files and lines does not matter.

    Raises:
        PairsError: a file cannot be used.
        FitError: nothing is left, or a family was named that is not there.
    """
    for name in fit.families.values():
        if not re.fullmatch(FAMILY_PATTERN, name):
            raise FitError(f"{name!r} names no family: expected letters, digits, '.', '_', '-', at most 100.")
    found: dict[str, TrainingGroup] = {}
    for number, path in enumerate(fit.pairs):
        progress(number, len(fit.pairs))
        for group in stream_pairs(path):
            renamed = replace(group, family=fit.families.get(group.family, group.family))
            found.setdefault(renamed.key, renamed)
    progress(len(fit.pairs), len(fit.pairs))
    there = {group.family for group in found.values()}
    for option, names in (("--without", fit.without), ("--shared", fit.shared)):
        if strange := sorted(set(names) - there):
            raise FitError(f"{option} {strange[0]}: the files hold the families {', '.join(sorted(there))}.")
    kept: dict[str, list[TrainingGroup]] = {}
    for key in sorted(found):
        if found[key].family not in fit.without:
            kept.setdefault(found[key].family, []).append(found[key])
    if not kept:
        raise FitError("No pair is left to fit on. Give files of pairs, or leave out fewer families.")
    if fit.folds and len(kept) < 2:
        raise FitError(f"--folds needs two families, the files hold {', '.join(kept)}. Leave it out.")
    return [group for family in sorted(kept) for group in kept[family][: fit.limit]]
