"""`python -m benchmarks pairwise`: which side of a pair does a scorer prefer, and would a cue do as well?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ..contrasts.build import BuildOptions, build_contrasts, nothing_built
from ..contrasts.file import stream_contrasts
from ..contrasts.model import CONSTRUCTIONS, Contrast
from ..corpus import cache_folder
from ..datasets import Fault
from ..datasets.families import family_of
from ..datasets.reading import fault_counts, load_records
from ..datasets.sample import draw_groups
from ..errors import DatasetError, SettingsError
from ..output import Report, Row
from .ablation import ablation_rows
from .audit import as_records, overlapping_groups
from .columns import make_blocks
from .cuework import by_kind, conditions
from .falls import with_falls
from .histograms import histograms
from .legend import system_rows
from .plan import make_plan
from .published import with_paper
from .rows import ALL, FEWEST_POOLED, measure
from .sample import GROUPS, SUBSET, draw_sample, finished, sample_blocks
from .scored import Scored, scored_by
from .scoring import ScoringOptions, score_all
from .settings import settings_of
from .summary import summary
from .systems import System, Weights, resolve_all

ANSWERS = "answers"
"""Folder of shared answers beside the scores."""
CUES_ADDED = (0, 5, 10, 15, 20)
"""Shared additions under which cues are measured (RINSE, table 2)."""


def scores_folder() -> Path:
    """Where scores are kept unless the caller says otherwise."""
    return cache_folder() / "benchmarks" / "scores"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseOptions:
    """What to measure. See `python -m benchmarks pairwise --help`.

    Raises:
        SettingsError: options that do not go together, or a number out of range.
    """

    data: tuple[Path, ...] = ()
    """Files of records, from which contrasts are built."""
    contrasts: tuple[Path, ...] = ()
    """Files of contrasts."""
    build: BuildOptions = field(default_factory=BuildOptions)
    """How contrasts are built from `data`."""
    scorers: tuple[str, ...] = ("rinse-small",)
    """Names that `resolve_all` understands; the first one is the reference of differences."""
    added: tuple[int, ...] = (0,)
    """Shared additions under which scorers are measured."""
    cues_added: tuple[int, ...] = CUES_ADDED
    """Shared additions under which cues are measured."""
    limit: int | None = None
    """Groups of each dataset; None = all."""
    limit_lm: int = GROUPS
    """Groups of each headline test in the sample that scorers read which take seconds a side."""
    minutes: float | None = None
    """After so long no group is begun; the same run goes on there. None = until all is scored."""
    weights: Weights = field(default_factory=lambda: Weights(answers=scores_folder() / ANSWERS))
    """Where rivals find theirs, and where they keep shared answers."""
    held_out: bool = False
    order: str = "bm25"
    """`bm25` or `given`."""
    ablation: bool = False
    """Whether rows for every non-empty set of a scorer's readers are added."""
    overlap_with: tuple[Path, ...] = ()
    """Files that something was fitted on; adds rows without groups that share text with them."""
    scoring: ScoringOptions = field(default_factory=lambda: ScoringOptions(folder=scores_folder()))
    draws: int = 2_000

    def __post_init__(self) -> None:
        if not (self.data or self.contrasts):
            raise SettingsError("Nothing to measure. Give --data FILES (with --corpus) or --contrasts FILES.")
        if any(count < 0 for count in (*self.added, *self.cues_added)) or self.draws < 1:
            raise SettingsError(
                f"Expected --added of 0 and above and at least one draw, got {list(self.added)} and {self.draws}."
            )
        if self.limit_lm < 1 or (self.minutes is not None and not self.minutes > 0):
            raise SettingsError(
                f"Expected --limit-lm of at least 1 and --minutes above 0, got {self.limit_lm} and {self.minutes}."
            )
        if self.order not in {"bm25", "given"}:
            raise SettingsError(f"--order is bm25 or given, got {self.order!r}.")
        if len(set(self.scorers)) != len(self.scorers):
            raise SettingsError(f"Every scorer once, got {', '.join(self.scorers)}.")


def run_pairwise(options: PairwiseOptions) -> Report:
    """Build or read contrasts, score every side, compare. Blocking; progress goes to stderr.

    Raises:
        DatasetError, CorpusError, IndexFolderError, BackboneError: an input cannot be used.
        SettingsError: an unknown scorer, or options that cannot be met.
        BenchmarkError: a scorer could not be made.
        RunFileError: scores cannot be kept.
    """
    until = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    systems, absent = resolve_all(options.scorers, options.weights)
    contrasts, faults, made = load_contrasts(options)
    lacking = _lacking(contrasts, options.added)
    seed = options.build.seed
    confined = [system.name for system in systems if system.sampled]
    sample = draw_sample(contrasts, options.limit_lm, seed=seed) if confined else []
    scored = _score(systems, contrasts, sample, options, until)
    blocks = make_blocks(
        contrasts,
        [one for one in scored if one.system not in confined],
        added=sorted({*options.cues_added, *options.added}),
        seed=seed,
        processes=options.scoring.processes,
    )
    labels: Row = {"added": 0, "split": "+".join(sorted({one.split for one in contrasts}))}
    labels |= {"held_out": options.held_out, "headline": True}
    bounds = _Bounds(
        reference=systems[0].name if systems else None,
        held_out=options.held_out,
        draws=options.draws,
        seed=seed,
    )
    overlapping = overlapping_groups(contrasts, options.overlap_with)
    measured = measure(blocks, overlapping=overlapping, **bounds)
    rows = [
        *map(with_paper, with_falls(measured)),
        *summary(measured.headline, reference=bounds["reference"], labels=labels),
    ]
    sampled = measure(sample_blocks(blocks, finished(sample, scored), scored), whole=SUBSET, **bounds)
    rows += map(with_paper, sampled.rows)
    rows += summary(sampled.headline, reference=bounds["reference"], labels=labels, subset=SUBSET)
    if options.ablation:
        for one in scored:
            rows += ablation_rows(
                blocks, one, labels=labels, overlapping=overlapping, draws=options.draws, seed=seed
            )
    spread = [
        *histograms(measured.counted, [one.system for one in scored], subset=ALL),
        *histograms(sampled.counted, [one.system for one in scored], subset=SUBSET),
    ]
    return Report(
        benchmark="pairwise",
        settings=settings_of(options, contrasts)
        | {"contrasts_made": made, "sample_subset": SUBSET if sample else None, "histograms": spread},
        seed=seed,
        rows=[*rows, *system_rows(systems, absent)],
        failures=[
            *fault_counts(faults),
            *(failure for one in scored for failure in one.failures),
            *lacking,
            *_too_few(measured.rows),
            *({"kind": "no_headline_test", "system": name} for name in confined if not sample),
        ],
    )


class _Bounds(TypedDict):
    """What all comparisons of a report have in common."""

    reference: str | None
    held_out: bool
    draws: int
    seed: int


def _score(
    systems: Sequence[System],
    contrasts: Sequence[Contrast],
    sample: Sequence[Contrast],
    options: PairwiseOptions,
    until: float | None,
) -> list[Scored]:
    """All scorers; with `held_out` a fitted one once for each family, without what was fitted on it."""
    batches = make_plan(
        contrasts,
        systems,
        sample=sample,
        added=options.added,
        order=options.order,
        held_out=options.held_out,
        seed=options.build.seed,
    )
    asked = {task.who for batch in batches for task in batch}
    families = {family_of(one.dataset) for one in contrasts} if options.held_out else {None}
    makers = {
        system.who(without): system.maker(without)
        for system in systems
        for without in sorted(families, key=str)
        if system.who(without) in asked
    }
    outcomes = score_all(makers, batches, options.scoring, until=until)
    return [
        scored_by(system, batches, outcomes, added=() if system.sampled else options.added) for system in systems
    ]


def load_contrasts(options: PairwiseOptions) -> tuple[list[Contrast], list[Fault], list[Row]]:
    """The contrasts by dataset, construction and group; what could not be read; how many were eligible."""
    faults: list[Fault] = []
    found: dict[tuple[str, str, str], Contrast] = {}
    for path in options.contrasts:
        for item in stream_contrasts(path):
            if isinstance(item, Fault):
                faults.append(item)
            elif item.key in found:
                detail = f"{item.key} stands in an earlier file, which counts."
                faults.append(Fault(file=path.name, line=0, kind="repeated_id", detail=detail))
            else:
                found[item.key] = item
    kept = _limited(list(found.values()), options)
    rows: list[Row] = []
    if options.data:
        loaded = load_records(options.data)
        faults += loaded.faults
        records = draw_groups(loaded.records, options.limit, seed=options.build.seed)
        built = build_contrasts(records, options.build)
        rows = list(built.rows)
        kept += [one for one in built.contrasts if one.key not in found]
        if not kept:
            raise nothing_built(built, len(loaded.records), loaded.faults)
    if not kept:
        told = "; ".join(f"{one['count']} x {one['kind']} ({one['detail']})" for one in fault_counts(faults))
        raise DatasetError(
            f"{', '.join(path.name for path in options.contrasts)}: no contrast of the constructions asked for"
            f"{f'; {told}' if told else ''}. Expected what `python -m benchmarks contrasts` writes."
        )
    return sorted(kept, key=lambda one: one.key), faults, rows


def _limited(contrasts: Sequence[Contrast], options: PairwiseOptions) -> list[Contrast]:
    chosen = options.build.constructions or CONSTRUCTIONS
    wanted = [one for one in contrasts if one.construction in chosen]
    names = draw_groups([next(iter(as_records(one))) for one in wanted], options.limit, seed=options.build.seed)
    drawn = {(record.dataset, record.group) for record in names}
    return [one for one in wanted if (one.dataset, one.group) in drawn]


def _lacking(contrasts: Sequence[Contrast], added: Sequence[int]) -> list[dict[str, Any]]:
    """Datasets and constructions that do not carry as many additions as a scorer shall be measured with.

    Raises:
        SettingsError: none of them does.
    """
    kinds = by_kind(contrasts)
    missing = [
        {"kind": "too_few_additions", "dataset": dataset, "construction": construction, "added": count}
        for (dataset, construction), same in kinds.items()
        for count in sorted(set(added) - set(conditions(same, added)))
    ]
    if len(missing) == len(kinds) * len(set(added)):
        most = max(len(one.added) for one in contrasts)
        raise SettingsError(
            f"No contrast carries {min(added)} additions, at most {most}. Build them with: contrasts --additions N"
        )
    return missing


def _too_few(rows: Sequence[Row]) -> list[dict[str, Any]]:
    pooled = [row for row in rows if row["construction"] == "retrieval" and row["dataset"] == "pooled"]
    few = {row["n"] for row in pooled if row["subset"] == "all" and not row["added"] and not row["headline"]}
    return [
        {"kind": "too_few_pairs", "construction": "retrieval", "pairs": n, "expected": FEWEST_POOLED} for n in few
    ]
