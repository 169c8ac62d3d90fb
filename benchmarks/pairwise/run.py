"""`python -m benchmarks pairwise`: which side of a pair does a scorer prefer, and would a cue do as well?"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..contrasts.build import BuildOptions, build_contrasts, nothing_built
from ..contrasts.file import stream_contrasts
from ..contrasts.model import CONSTRUCTIONS, Contrast
from ..corpus import cache_folder
from ..cues import Lexicon
from ..datasets import Fault
from ..datasets.families import family_of
from ..datasets.reading import fault_counts, load_records, stream_records
from ..datasets.records import Record, RecordPassage
from ..datasets.sample import draw_groups
from ..errors import DatasetError, SettingsError
from ..output import Report, Row
from ..overlap import Fingerprints, overlap
from .ablation import ablation_rows
from .columns import make_blocks
from .cuework import by_kind, conditions
from .falls import with_falls
from .rows import FEWEST_POOLED, Groups, measure, summary
from .scoring import Scored, ScoreJob, ScoringOptions, bm25_order, given_order, jobs_of, score_all
from .systems import System, resolve
from .table import with_paper

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
    """Names that `resolve` understands; the first one is the reference of differences."""
    added: tuple[int, ...] = (0,)
    """Shared additions under which scorers are measured."""
    cues_added: tuple[int, ...] = CUES_ADDED
    """Shared additions under which cues are measured."""
    limit: int | None = None
    """Groups of each dataset; None = all."""
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
    systems = [resolve(name) for name in options.scorers]
    contrasts, faults, made = load_contrasts(options)
    lacking = _lacking(contrasts, options.added)
    seed = options.build.seed
    scored = [_score(system, contrasts, options) for system in systems]
    blocks = make_blocks(
        contrasts,
        scored,
        added=sorted({*options.cues_added, *options.added}),
        seed=seed,
        processes=options.scoring.processes,
    )
    reference = systems[0].name if systems else None
    overlapping = _overlapping(contrasts, options.overlap_with)
    measured = measure(
        blocks,
        reference=reference,
        held_out=options.held_out,
        overlapping=overlapping,
        draws=options.draws,
        seed=seed,
    )
    labels: Row = {"added": 0, "split": "+".join(sorted({one.split for one in contrasts}))}
    labels |= {"held_out": options.held_out, "headline": True}
    rows = [
        *map(with_paper, with_falls(measured)),
        *summary(measured.headline, reference=reference, labels=labels),
    ]
    if options.ablation:
        bounds: dict[str, Any] = {"overlapping": overlapping, "draws": options.draws, "seed": seed}
        rows += [row for one in scored for row in ablation_rows(blocks, one, labels=labels, **bounds)]
    return Report(
        benchmark="pairwise",
        settings=_settings(options, contrasts) | {"contrasts_made": made},
        seed=seed,
        rows=rows,
        failures=[
            *fault_counts(faults),
            *(failure for one in scored for failure in one.failures),
            *lacking,
            *_too_few(measured.rows),
        ],
    )


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
    names = draw_groups([_as_record(one) for one in wanted], options.limit, seed=options.build.seed)
    drawn = {(record.dataset, record.group) for record in names}
    return [one for one in wanted if (one.dataset, one.group) in drawn]


def _score(system: System, contrasts: Sequence[Contrast], options: PairwiseOptions) -> Scored:
    """One scorer on all contrasts; with `held_out` once for each family, without what was fitted on it."""
    parts: dict[str | None, list[Contrast]] = defaultdict(list)
    for one in contrasts:
        parts[family_of(one.dataset) if options.held_out else None].append(one)
    whole = Scored(system=system.name, added=tuple(sorted(options.added)))
    for without, mine in parts.items():
        found = score_all(system, without, _batches(mine, options), options.scoring)
        whole.outcomes.update(found.outcomes)
        whole.failures.extend(found.failures)
    return whole


def _batches(contrasts: Sequence[Contrast], options: PairwiseOptions) -> list[list[ScoreJob]]:
    """Contrasts of one group share passages, so they stay together."""
    batches: dict[tuple[str, str], list[ScoreJob]] = defaultdict(list)
    for same in by_kind(contrasts).values():
        order = bm25_order(Lexicon.of(same)) if options.order == "bm25" else given_order
        for one in same:
            batches[one.dataset, one.group] += jobs_of(one, added=options.added, order=order)
    return list(batches.values())


def _overlapping(contrasts: Iterable[Contrast], files: Sequence[Path]) -> Groups | None:
    """Groups that share a question or gold text with the files (RINSE, appendix E)."""
    if not files:
        return None
    others = (item for path in files for item in stream_records(path) if isinstance(item, Record))
    return overlap((record for one in contrasts for record in _as_records(one)), Fingerprints(others)).essential


def _as_records(contrast: Contrast) -> Iterable[Record]:
    for side in contrast.sides:
        support = set(side.support)
        yield Record(
            id=f"{contrast.construction}:{side.id}",
            dataset=contrast.dataset,
            split=contrast.split,
            question=side.question,
            answers=side.answers,
            answerable=side.sufficient,
            passages=tuple(
                RecordPassage(passage=contrast.passages[key], support=key in support) for key in side.passages
            ),
            group=contrast.group,
            cluster=contrast.cluster,
        )


def _as_record(contrast: Contrast) -> Record:
    return next(iter(_as_records(contrast)))


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


def _settings(options: PairwiseOptions, contrasts: Sequence[Contrast]) -> dict[str, Any]:
    """What the figures depend on: names of files, not where they lay, and the contrasts by content."""
    digest = hashlib.sha256()
    for one in contrasts:
        digest.update(repr((one.key, [(side.id, side.question, side.passages) for side in one.sides])).encode())
        digest.update(repr([extra.passage for extra in one.added]).encode())
    build = dataclasses.asdict(options.build) | {
        name: path.name if path else None
        for name, path in (("corpus", options.build.corpus), ("index", options.build.index))
    }
    return {
        "data": [path.name for path in options.data],
        "contrasts": [path.name for path in options.contrasts],
        "contrasts_digest": digest.hexdigest()[:16],
        "build": build,
        "scorers": list(options.scorers),
        "added": list(options.added),
        "cues_added": list(options.cues_added),
        "limit": options.limit,
        "held_out": options.held_out,
        "order": options.order,
        "ablation": options.ablation,
        "overlap_with": [path.name for path in options.overlap_with],
        "processes": options.scoring.processes,
        "draws": options.draws,
    }
