"""What a fit of the profile `small` is asked for, and which profiles it makes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from platformdirs import user_cache_path

from ..profile import FITTED, FOLDS, SHIPPED, Profile, fold_name
from .errors import FitError, FolderError
from .pairs import FAMILY_PATTERN
from .selection import Selection

PADDING = (5, 10, 20, 40)
"""Passages added to records."""
PADDED = 40
"""Groups of a family that are padded: a trend is one slope, and padded copies are most of the time of a fit."""
PENALTY = 0.003
"""Strength of the L2 penalty against the mean loss of a pair, features in units of their differences."""
_SMALL = "small"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """One profile that is fitted."""

    name: str
    left_out: frozenset[str]
    """Families whose groups it does not see."""
    base: Path
    """The profile that gives settings and IDF table; it has seen none of `left_out`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallFit:
    """Everything that decides what is fitted."""

    pairs: tuple[Path, ...]
    """Files of `stream_pairs`."""
    out: Path
    """Folder of the profiles."""
    name: str | None = None
    """Of the profile and its file; None = `small` in the package's own folder, else the folder's name."""
    work: Path | None = None
    """Folder of what is kept for the next run; None = one in the user's cache, by the name of `out`."""
    without: tuple[str, ...] = ()
    """Families that nothing sees."""
    families: Mapping[str, str] = field(default_factory=dict)
    """Another family for some: the names of datasets made those of families."""
    lineage: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Families that are left out wherever another one is, for its questions were made from theirs."""
    folds: bool = False
    """Whether to fit a profile without each family too."""
    padding: tuple[int, ...] = PADDING
    """How many passages of other questions are added to padded records; a copy each."""
    padded: int = PADDED
    """Groups of a family whose records are padded."""
    limit: int | None = None
    """Most groups of a construction of a family, drawn by their content; None = all."""
    penalty: float = PENALTY
    """See `PENALTY`."""
    seed: int = 0
    base: Path = SHIPPED
    """Folder of `small.json` and `small-without-*.json`: settings and IDF tables are taken from there."""

    @property
    def profile_name(self) -> str:
        """Name of the full profile.

        Raises:
            FitError: it cannot be the name of a file.
        """
        if self.name is not None:
            name = self.name
        else:
            name = _SMALL if self.out.resolve() == SHIPPED.resolve() else self.out.resolve().name
        if not re.fullmatch(FAMILY_PATTERN, name):
            raise FitError(
                f"{name!r} names no profile: expected letters, digits, '.', '_', '-', at most 100. Use --name."
            )
        return name

    @property
    def work_folder(self) -> Path:
        """Where readings are kept."""
        if self.work is not None:
            return self.work
        place = re.sub(r"[^A-Za-z0-9]+", "-", str(self.out.resolve())).strip("-")
        return user_cache_path("sufficit") / "fit" / place[-150:]

    @property
    def selection(self) -> Selection:
        """Which groups are read."""
        return Selection(
            pairs=self.pairs,
            families=self.families,
            without=self._with_lineage(self.without),
            named={"--without": self.without},
            limit=self.limit,
            folds=self.folds,
        )

    def plan(self, families: Iterable[str]) -> list[Fold]:
        """The full profile and its folds.

        A fold leaves out a family of the data with its lineage. The shipped IDF tables have seen the families of
        `FOLDS`, in the data or not, so where one of these is in the data there is a fold for each. Families that
        were fitted on and have no fold of the shipped profile get none here.

        Args:
            families: Of the groups.

        Raises:
            FitError: no IDF table has missed all that is to be left out.
        """
        there, name = set(families), self.profile_name
        folds = [self._fold(name, frozenset(self.without))]
        if self.folds:
            reported = there - FITTED | (set(FOLDS) if there & set(FOLDS) else set())
            folds += [
                self._fold(f"{name}-without-{family}", frozenset({*self.without, family}))
                for family in sorted(reported - folds[0].left_out)
            ]
        return folds

    def _fold(self, name: str, without: frozenset[str]) -> Fold:
        left_out = self._with_lineage(without)
        seen = left_out & FITTED
        for family in sorted(seen & set(FOLDS)):
            if seen <= self._with_lineage({family}):
                return Fold(name=name, left_out=left_out, base=self.base / f"{fold_name(family)}.json")
        if seen:
            raise FitError(
                f"No IDF table has missed {', '.join(sorted(seen))} together; there is one without each of "
                f"{', '.join(FOLDS)}, with what --lineage says of it. Leave fewer families out."
            )
        return Fold(name=name, left_out=left_out, base=self.base / f"{_SMALL}.json")

    def _with_lineage(self, families: Iterable[str]) -> frozenset[str]:
        return frozenset(one for family in families for one in (family, *self.lineage.get(family, ())))


def read_table(base: Path) -> tuple[Profile, bytes]:
    """A profile and the file of its IDF table.

    Raises:
        ProfileError: see `Profile.load`.
        FolderError: the table cannot be read.
    """
    profile = Profile.load(base)
    try:
        return profile, (base.parent / profile.settings.idf_file).read_bytes()
    except OSError as error:
        raise FolderError(
            f"Cannot read the IDF table beside {base}: {error}. Install the package again."
        ) from error
