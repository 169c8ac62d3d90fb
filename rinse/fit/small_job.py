"""Fits the profile `small` stage by stage; what was read is kept, so a second run goes on where one stopped."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from retrieval.index.encoder import TransformerEncoder

from ..odds import OddsSettings, odds_name, readings_of
from ..profile import FITTED, Origin, Profile, ProfileSettings
from ..readers.states import TokenEncoder
from ..scorer import FEATURES
from .errors import FitError, FolderError
from .folder import locked
from .groups import TrainingGroup
from .odds import fit_odds
from .padding import Padding
from .readings import Record, records
from .report import FitProgress, FitReport, Watch, count_families, warnings_of
from .selection import read_groups
from .small import Fold, SmallFit, read_table
from .small_files import READINGS, check_folder, check_place, profile_file, write_odds, write_profile
from .small_parts import SmallParts, fit_small_parts
from .small_readings import KeyedReaders, RememberingEncoder, SmallGroup, SmallReadings, versions


def fit_small(
    fit: SmallFit, *, encoder: TokenEncoder | None = None, progress: Watch = lambda _: None
) -> FitReport:
    """Fit heads, size trends and scales of the readers of `small`; save the profiles.

    Args:
        fit: What is asked for.
        encoder: The backbone; None = the one that the base profile names.
        progress: Is told how far each stage is.

    Raises:
        PairsError: a file of pairs cannot be used.
        FolderError: a file in the way, or a folder that cannot be written.
        FitError: there is too little to fit something; says what to add.
        ProfileError: a base profile cannot be read.
        ProfileMismatchError: the base profile belongs to another encoder than this one.
        BackboneError: the encoder is not on this machine; the message says what to install.
    """
    with locked(fit.work_folder):
        groups = read_groups(
            fit.selection, lambda done, total: progress(FitProgress(stage="pairs", done=done, total=total))
        )
        job = _Job(fit, groups, encoder, progress)
        try:
            readings = job.readings()
        except OSError as error:
            raise FolderError(
                f"Cannot keep readings in {fit.work_folder}: {error}. Make room, or name another folder with "
                "--work; the same command then goes on."
            ) from error
        return job.profiles(readings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """A profile whose settings and IDF table are taken over."""

    profile: Profile
    table: bytes
    readers: KeyedReaders


_Found = Mapping[tuple[Path, int], SmallGroup]
"""By base profile and place of the group."""


class _Job:
    """The stages of one fit."""

    def __init__(
        self, fit: SmallFit, groups: Sequence[TrainingGroup], encoder: TokenEncoder | None, progress: Watch
    ) -> None:
        self._fit = fit
        self._groups = groups
        self._progress = progress
        families = {group.family for group in groups}
        _check_lineage(fit.lineage, families)
        self._folds = fit.plan(families)
        _check_names([fold.name for fold in self._folds])
        self._bases = _bases(self._folds, encoder)
        for fold in self._folds:
            check_place(fit.out, fold.name, self._bases[fold.base].profile.settings)
            if families <= fold.left_out:
                raise FitError(f"No pair is left for {fold.name}, without {', '.join(sorted(fold.left_out))}.")
        check_folder(fit.out, fit.work_folder, [base.profile.settings for base in self._bases.values()])

    def readings(self) -> dict[tuple[Path, int], SmallGroup]:
        """What the readers say of every group, with the table of every fold that keeps it."""
        store = SmallReadings(self._fit.work_folder / READINGS)
        padded = _padded(self._groups, self._fit.padded)
        padding = Padding([self._groups[place] for place in sorted(padded)], seed=self._fit.seed)
        order = self._order(padded)
        found = {}
        for number, (base, place) in enumerate(order):
            self._progress(FitProgress(stage="readings", done=number, total=len(order)))
            wanted = self._records(place, padding, padded)
            found[base, place] = store.read(wanted, self._bases[base].readers)
        self._progress(FitProgress(stage="readings", done=len(order), total=len(order)))
        return found

    def profiles(self, readings: _Found) -> FitReport:
        """Fit and write every profile, the full one last: it stands for the others."""
        made = []
        for number, fold in enumerate(reversed(self._folds)):
            self._progress(FitProgress(stage="profiles", done=number, total=len(self._folds)))
            base = self._bases[fold.base]
            settings = self._settings(fold, base, readings)
            fitted = Profile(settings=settings, idf=base.profile.idf)
            made.append((settings, self._odds(fold, fitted, readings), base.table))
        wrote = False
        for settings, odds, table in made:
            wrote |= write_odds(self._fit.out, odds)
            wrote |= write_profile(self._fit.out, settings, table)
        self._progress(FitProgress(stage="profiles", done=len(self._folds), total=len(self._folds)))
        full = [readings[self._folds[0].base, place] for place in range(len(self._groups))]
        return FitReport(
            profiles=tuple(profile_file(self._fit.out, fold.name) for fold in self._folds),
            odds=tuple(profile_file(self._fit.out, odds_name(fold.name)) for fold in self._folds),
            families=count_families(self._groups),
            records=sum(len(one.readings) for one in full),
            failed=sum(one.failed for one in full),
            fitted=wrote,
            warnings=warnings_of(self._groups),
        )

    def _order(self, padded: frozenset[int]) -> list[tuple[Path, int]]:
        """Bases and groups such that what shares passages is read in a row, while the encoder remembers them."""

        def nearness(place: int) -> tuple[str, bool, str, str]:
            group = self._groups[place]
            return group.family, place not in padded, group.group, group.construction

        return [
            (base, place)
            for place in sorted(range(len(self._groups)), key=nearness)
            for base in self._bases
            if any(fold.base == base and self._groups[place].family not in fold.left_out for fold in self._folds)
        ]

    def _records(self, place: int, padding: Padding, padded: frozenset[int]) -> list[Record]:
        return records(self._groups[place], padding, self._fit.padding if place in padded else ())

    def _kept(self, fold: Fold, readings: _Found) -> tuple[list[TrainingGroup], list[SmallGroup]]:
        """What a fold sees."""
        kept = [place for place, group in enumerate(self._groups) if group.family not in fold.left_out]
        return [self._groups[place] for place in kept], [readings[fold.base, place] for place in kept]

    def _settings(self, fold: Fold, base: _Base, readings: _Found) -> ProfileSettings:
        groups, read = self._kept(fold, readings)
        parts = fit_small_parts(groups, read, features=FEATURES, penalty=self._fit.penalty)
        origin = Origin(
            note=" ".join((_note(parts, groups, base.profile.settings.name), *warnings_of(groups))),
            files=tuple(sorted(path.name for path in self._fit.pairs)),
            records=parts.questions,
            seed=self._fit.seed,
            versions=versions() | {"scipy": metadata.version("scipy"), "python": platform.python_version()},
        )
        return base.profile.settings.model_copy(
            update={
                "name": fold.name,
                "readers": dict(parts.readers),
                "origin": origin,
                "held_out": tuple(sorted(fold.left_out)),
            }
        )

    def _odds(self, fold: Fold, profile: Profile, readings: _Found) -> OddsSettings:
        groups, read = self._kept(fold, readings)
        terms = fit_odds(groups, read, features=FEATURES, penalty=self._fit.penalty)
        origin = profile.settings.origin
        note = f"Log-odds fitted on {sum(len(one.readings) for one in read)} records read for {fold.name}."
        versions = origin.versions | {"scikit-learn": metadata.version("scikit-learn")}
        return OddsSettings(
            format="sufficit-odds-1",
            name=odds_name(fold.name),
            readings=readings_of(profile),
            terms=terms,
            origin=origin.model_copy(update={"note": note, "versions": versions}),
            held_out=profile.settings.held_out,
        )


def _bases(folds: Sequence[Fold], encoder: TokenEncoder | None) -> dict[Path, _Base]:
    tables = {fold.base: read_table(fold.base) for fold in folds}
    name = tables[folds[0].base][0].settings.encoder
    shared = RememberingEncoder(encoder or TransformerEncoder.named(name))
    return {
        base: _Base(profile=profile, table=table, readers=KeyedReaders.of(shared, profile))
        for base, (profile, table) in tables.items()
    }


def _padded(groups: Sequence[TrainingGroup], count: int) -> frozenset[int]:
    """Places of the groups that are padded: `count` of each family, drawn by their content."""
    families: dict[str, list[int]] = {}
    for place in sorted(range(len(groups)), key=lambda place: groups[place].key):
        families.setdefault(groups[place].family, []).append(place)
    return frozenset(place for places in families.values() for place in places[:count])


def _check_names(profiles: Sequence[str]) -> None:
    """Make sure that no profile has the name of another one's head of log-odds: it would be written over."""
    for name in profiles:
        if odds_name(name) in profiles:
            raise FitError(
                f"{odds_name(name)} would be a profile and the log-odds of {name}. Rename the family whose name "
                "ends so with --family OLD=NEW."
            )


def _check_lineage(lineage: Mapping[str, tuple[str, ...]], families: set[str]) -> None:
    known = families | FITTED
    if strange := sorted({*lineage, *(one for ones in lineage.values() for one in ones)} - known):
        raise FitError(f"--lineage {strange[0]}: there are the families {', '.join(sorted(known))}.")


def _note(parts: SmallParts, groups: Sequence[TrainingGroup], base: str) -> str:
    families = [name for name, _ in count_families(groups)]
    silent = f" Left out, for they told no pair apart: {', '.join(parts.silent)}." if parts.silent else ""
    return (
        f"Heads, size trends and scales of {', '.join(parts.readers)} fitted on {parts.pairs} pairs of "
        f"{parts.questions} questions of {', '.join(families)}.{silent} Equal weights; settings and IDF table are "
        f"those of {base}; the backbone is frozen."
    )
