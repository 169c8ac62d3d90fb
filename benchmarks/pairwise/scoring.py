"""Scores of sides: computed in processes of their own, kept in a file, computed once."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from retrieval import EvidenceSet, Passage

from ..contrasts.model import Contrast, Side
from ..cues import Lexicon, Record
from ..errors import SettingsError
from ..lanes import Lanes, Lost
from ..progress import counted
from ..store import KeyedStore
from .systems import MakeScorer, System

Outcome: TypeAlias = Mapping[str, Any]
"""`score`, `ms`, `readers` (raw and corrected by reader), `probability` where the scorer gives one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreJob:
    """One side to be scored."""

    record: Record
    added: int
    question: str
    passages: tuple[Passage, ...]
    """In the order in which they are presented."""

    @property
    def key(self) -> str:
        """Identifies what is scored by content, wherever it comes from."""
        places = [(one.id, one.title, one.section, one.source_id) for one in self.passages]
        return hashlib.sha256(json.dumps([self.question, places]).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one scorer said about all sides."""

    system: str
    added: tuple[int, ...]
    """Numbers of shared additions that it was asked about."""
    outcomes: dict[tuple[Record, int], Outcome] = field(default_factory=dict)
    """By record and number of shared additions."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Sides without a score, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringOptions:
    """How to score.

    Raises:
        SettingsError: a number is out of range.
    """

    folder: Path
    """Where scores are kept, a file for each scorer and fingerprint."""
    processes: int = 2
    seconds: float = 120.0
    """Deadline of one side."""

    def __post_init__(self) -> None:
        if self.processes < 1 or not self.seconds > 0:
            raise SettingsError(
                f"Expected at least 1 process and a deadline above 0 s, got {self.processes} and {self.seconds}."
            )
        if self.folder.exists() and not self.folder.is_dir():
            raise SettingsError(
                f"{self.folder} is a file. Scores are kept in a folder: give --scores another one."
            )


def score_all(
    system: System, without: str | None, batches: Sequence[Sequence[ScoreJob]], options: ScoringOptions
) -> Scored:
    """Score every side once. Sides of one batch share what the scorer remembers of their passages.

    Scores known from an earlier run are taken from the folder. A side whose scorer raises, gives no finite number,
    hangs or dies is a failure; the others are scored, and a later run tries it again.

    Raises:
        BenchmarkError: the scorer could not be made.
        RunFileError: another run writes the same scores, or they cannot be written.
    """
    make = system.maker(without)
    added = tuple(sorted({job.added for batch in batches for job in batch}))
    scored = Scored(system=system.name, added=added)
    with KeyedStore(
        options.folder / f"{_file_name(system.name)}-{_fingerprint(system.name, make, options)[:16]}.jsonl"
    ) as store:
        missing: dict[str, ScoreJob] = {}
        todo: list[list[ScoreJob]] = []
        for batch in batches:
            fresh = {job.key: job for job in batch if job.key not in store and job.key not in missing}
            missing |= fresh
            todo.append(list(fresh.values()))
        lost: dict[str, Lost] = {}
        if missing:
            lost = _score_missing(system.name, make, todo, store, options)
        for job in (job for batch in batches for job in batch):
            if job.key in store:
                scored.outcomes[job.record, job.added] = store[job.key]
            else:
                scored.failures.append(_failure(system.name, job, lost[job.key]))
    return scored


def _score_missing(
    name: str, make: MakeScorer, todo: Sequence[Sequence[ScoreJob]], store: KeyedStore, options: ScoringOptions
) -> dict[str, Lost]:
    lost: dict[str, Lost] = {}
    with counted(name, total=sum(map(len, todo))) as advance:

        def on_done(job: ScoreJob, result: Outcome | Lost) -> None:
            if isinstance(result, Lost):
                lost[job.key] = result
            else:
                store.put(job.key, result)
            advance()

        lanes: Lanes[ScoreJob, Outcome] = Lanes(
            partial(open_scorer, make), processes=options.processes, seconds=options.seconds, what=name
        )
        lanes.run(todo, on_done)
    return lost


def open_scorer(make: MakeScorer) -> Callable[[ScoreJob], Outcome | Lost]:
    """In a process of its own: the scorer, as a function of a job."""
    scorer = make()

    def score(job: ScoreJob) -> Outcome | Lost:
        evidence = EvidenceSet.of(job.passages)
        begun = time.perf_counter()
        found = scorer.score(job.question, evidence)
        milliseconds = (time.perf_counter() - begun) * 1000
        value = getattr(found, "score", None)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return Lost(
                kind="score_invalid", detail=f"Expected a finite `score`, got {value!r} of {found!r:.200}."
            )
        readers = {one.reader: [one.raw, one.corrected] for one in found.readers}
        outcome: dict[str, Any] = {"score": float(value), "ms": round(milliseconds, 3), "readers": readers}
        probability = getattr(found, "probability", None)
        if probability is not None:
            outcome["probability"] = float(probability)
            if not 0 <= outcome["probability"] <= 1:
                return Lost(kind="score_invalid", detail=f"Expected a probability in [0, 1], got {probability!r}.")
        return outcome if _finite(readers) else Lost(kind="score_invalid", detail=f"A reader's value: {readers}.")

    return score


def _finite(readers: Mapping[str, Sequence[float]]) -> bool:
    return all(math.isfinite(value) for values in readers.values() for value in values)


def _file_name(system: str) -> str:
    """The name without what a file system may not take."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", system)


def _fingerprint(name: str, make: MakeScorer, options: ScoringOptions) -> str:
    """The scorer's fingerprint, asked in a process of its own: it may hang, and its models need not stay here."""
    found: list[str] = []

    def on_done(_: str, result: str | Lost) -> None:
        if isinstance(result, Lost):
            raise SettingsError(f"The scorer {name} tells no fingerprint: {result.detail}")
        found.append(result)

    lanes: Lanes[str, str] = Lanes(
        partial(_open_fingerprint, make), processes=1, seconds=options.seconds, what=name
    )
    lanes.run([["fingerprint"]], on_done)
    return hashlib.sha256(found[0].encode()).hexdigest()


def _open_fingerprint(make: MakeScorer) -> Callable[[str], str]:
    scorer = make()
    return lambda _: scorer.fingerprint


def _failure(system: str, job: ScoreJob, lost: Lost) -> dict[str, Any]:
    (dataset, construction, group), side = job.record
    return {
        "system": system,
        "dataset": dataset,
        "construction": construction,
        "group": group,
        "side": side,
        "added": job.added,
        "kind": lost.kind,
        "detail": lost.detail,
    }


def jobs_of(
    contrast: Contrast, *, added: Sequence[int], order: Callable[[Side, EvidenceSet], Sequence[Passage]]
) -> list[ScoreJob]:
    """The sides of a contrast under each number of shared additions."""
    return [
        ScoreJob(
            record=(contrast.key, side.id),
            added=count,
            question=side.question,
            passages=tuple(order(side, contrast.evidence(side, added=count))),
        )
        for count in added
        for side in contrast.sides
    ]


def bm25_order(lexicon: Lexicon) -> Callable[[Side, EvidenceSet], Sequence[Passage]]:
    """Passages in BM25 order against the question, as the paper presents enlarged sets (appendix F)."""

    def order(side: Side, evidence: EvidenceSet) -> Sequence[Passage]:
        by_id = {passage.id: passage for passage in evidence}
        return [by_id[key] for key, _ in lexicon.order(side.question, evidence)]

    return order


def given_order(_: Side, evidence: EvidenceSet) -> Sequence[Passage]:
    """Passages in the order in which the side holds them."""
    return evidence.passages
