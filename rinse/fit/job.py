"""Fits the profile `paper` stage by stage; what is done is kept, so a second run goes on where one stopped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from retrieval.backbones import find_backbone

from ..errors import RinseError
from ..paper.lexicon import Lexicon, WordPieces
from ..paper.outputs import PaperBackbones, PaperReaders
from ..paper.profile import PaperProfile
from ..paper.sources import passage_text
from .errors import FitError, FolderError
from .folder import FitFolder, FitState, fit_folder
from .folds import fit_light_parts
from .groups import TrainingGroup
from .negatives import span_examples
from .padding import Padding
from .paper import PaperFit, make_profile, readers_key
from .readings import GroupReadings, ReadingStore, readings_key, records
from .report import FitProgress, FitReport, Watch, count_families, warnings_of
from .selection import read_groups
from .span_training import train_span_reader

FULL = "."
"""The full profile among the finished ones; the others are folds."""
_SPAN = "span-"
"""Begins the name of a trained span reader's folder."""


def fit_paper(fit: PaperFit, *, progress: Watch = lambda _: None) -> FitReport:
    """Fit head, direction, corrections and, unless told otherwise, the span reader; save the profile.

    Raises:
        PairsError: a file of pairs cannot be used.
        FolderError: the folder belongs to something else.
        FitError: there is too little to fit something; says what to add.
        BackboneError: a model is not on this machine; the message says what to install or to pass.
    """
    with fit_folder(fit.out) as folder:
        groups = read_groups(
            fit.selection, lambda done, total: progress(FitProgress(stage="pairs", done=done, total=total))
        )
        base = PaperBackbones.named(words=fit.words, reranker=fit.reranker, span=fit.span, latent=fit.latent)
        plan = fit.plan(base.fingerprints())
        before = folder.state()
        changed = before.changed(plan) if before else ()
        job = _Job(fit, folder, groups, base, progress)
        if before and not changed and _is_whole(fit.out, before):
            return job.unchanged()
        folder.write(FitState(plan=plan))
        try:
            profiles, result = job.run()
            folder.write(FitState(plan=plan, done={name: made.fingerprint for name, made in profiles.items()}))
        except OSError as error:
            raise FolderError(
                f"Cannot work in {fit.out}: {error}. Make room or mend the folder; the same command then goes on."
            ) from error
        return replace(result, changed=changed)


class _Job:
    """The stages of one fit."""

    def __init__(
        self,
        fit: PaperFit,
        folder: FitFolder,
        groups: Sequence[TrainingGroup],
        base: PaperBackbones,
        progress: Watch,
    ) -> None:
        self._fit = fit
        self._folder = folder
        self._groups = groups
        self._base = base
        self._progress = progress
        self._families = sorted({group.family for group in groups})
        shared = set(fit.shared or self._families) - set(fit.without)
        self._shared = [group for group in groups if group.family in shared]
        if not self._shared:
            raise FitError("No shared family is left; name one of them with --shared that is not left out.")

    def unchanged(self) -> FitReport:
        """The report of a folder that is finished."""
        return self._report([], fitted=False)

    def run(self) -> tuple[dict[str, PaperProfile], FitReport]:
        """All stages. Returns the profiles by folder."""
        span = self._span()
        backbones = self._base if span is None else replace(self._base, span=find_backbone(str(span)))
        lexicon = self._lexicon()
        readings = self._readings(backbones, lexicon)
        profiles = {}
        folds = [FULL, *(self._families if self._fit.folds else ())]
        for number, family in enumerate(folds):
            self._progress(FitProgress(stage="profiles", done=number, total=len(folds)))
            name = _fold_folder(family)
            profiles[name] = self._profile(family, backbones, lexicon, readings, span)
            _save(profiles[name], self._fit.out / name, span)
        self._progress(FitProgress(stage="profiles", done=len(folds), total=len(folds)))
        self._tidy(span, set(profiles))
        return profiles, self._report(readings, fitted=True)

    def _span(self) -> Path | None:
        """The folder of the trained span reader; None if none is asked for."""
        training = self._fit.training
        if training is None:
            return None
        examples = span_examples(self._shared)
        parts = [
            self._base.span.fingerprint,
            self._fit.settings.model_dump(mode="json"),
            asdict(training),
            [[one.question, one.passage.id, one.passage.title, one.start, one.end] for one in examples],
        ]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        out = self._fit.out / f"{_SPAN}{key[:12]}"
        if not out.is_dir():
            train_span_reader(
                self._base.span,
                examples,
                out,
                training=training,
                settings=self._fit.settings,
                checkpoint=self._folder.checkpoint,
                key=key,
                progress=lambda done, total: self._progress(FitProgress(stage="span", done=done, total=total)),
            )
        return out

    def _lexicon(self) -> Lexicon:
        sides = [side for group in self._shared for side in group.sides]
        passages = {passage.id: passage for side in sides for passage in side.passages}
        texts = (passage_text(passages[key])[0] for key in sorted(passages))
        questions = sorted({side.question for side in sides})
        return Lexicon.count(WordPieces(self._base.words), texts, questions)

    def _readings(self, backbones: PaperBackbones, lexicon: Lexicon) -> list[GroupReadings]:
        fit, store = self._fit, ReadingStore(self._folder.readings)
        key = readers_key(backbones, lexicon, fit.settings, fit.device)
        padding = Padding(self._groups, seed=fit.seed)
        found = []
        for number, group in enumerate(self._groups):
            self._progress(FitProgress(stage="readings", done=number, total=len(self._groups)))
            wanted = records(group, padding, fit.padding)
            # new readers remember nothing of other groups: a group is read the same wherever a run was interrupted
            readers = PaperReaders(backbones, lexicon, fit.settings, device=fit.device)
            found.append(store.read(readings_key(key, wanted), wanted, readers))
        self._progress(FitProgress(stage="readings", done=len(self._groups), total=len(self._groups)))
        return found

    def _profile(
        self,
        family: str,
        backbones: PaperBackbones,
        lexicon: Lexicon,
        readings: Sequence[GroupReadings],
        span: Path | None,
    ) -> PaperProfile:
        kept = [number for number, group in enumerate(self._groups) if group.family != family]
        parts = fit_light_parts(
            [self._groups[i] for i in kept], [readings[i] for i in kept], penalty=self._fit.penalty
        )
        without = [*self._fit.without, *([family] if family != FULL else [])]
        seen = {group.family for group in self._shared}
        fit = self._fit
        names = {role: _place(getattr(fit, role)) for role in ("words", "reranker", "latent")}
        return make_profile(
            fit,
            parts,
            backbones=backbones,
            names=names | {"span": span.name if span else _place(fit.span)},
            lexicon=lexicon,
            without=without,
            held_out=[one for one in without if one not in seen],
            kept=[self._groups[number] for number in kept],
        )

    def _tidy(self, span: Path | None, profiles: set[str]) -> None:
        """Remove span readers and folds of former fits."""
        for old in self._fit.out.glob(f"{_SPAN}*"):
            if old != span:
                shutil.rmtree(old)
        for old in self._fit.out.glob("folds/without-*"):
            if f"folds/{old.name}" not in profiles:
                shutil.rmtree(old)

    def _report(self, readings: Sequence[GroupReadings], *, fitted: bool) -> FitReport:
        folds = [FULL, *(self._families if self._fit.folds else ())]
        return FitReport(
            profiles=tuple(self._fit.out / _fold_folder(family) for family in folds),
            odds=(),
            families=count_families(self._groups),
            records=sum(len(one.readings) for one in readings),
            failed=sum(one.failed for one in readings),
            fitted=fitted,
            warnings=warnings_of(self._groups),
        )


def _fold_folder(family: str) -> str:
    return FULL if family == FULL else f"folds/without-{family}"


def _place(name: str) -> str:
    """A name stays a name; a folder is named by its whole path, for the profile is read elsewhere."""
    return str(Path(name).resolve()) if Path(name).is_dir() else name


def _save(profile: PaperProfile, folder: Path, span: Path | None) -> None:
    """Save it; a fold shares the files of the span reader."""
    if span is not None and span.parent != folder:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(span, folder / span.name, copy_function=_link)
    profile.save(folder)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk, or one without links
        shutil.copyfile(source, target)


def _is_whole(out: Path, state: FitState) -> bool:
    """Whether every profile that the state names is there, unharmed, with its span reader."""
    try:
        found = {name: PaperProfile.load(out / name) for name in state.done or {}}
    except RinseError:
        return False
    same = all(found[name].fingerprint == fingerprint for name, fingerprint in (state.done or {}).items())
    spans = [out / name / made.settings.backbones["span"].name for name, made in found.items()]
    return bool(found) and same and all(path.is_dir() for path in spans if path.name.startswith(_SPAN))
