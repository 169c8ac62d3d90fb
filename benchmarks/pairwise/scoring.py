"""Scores of sides: computed in processes of their own, kept in a file, computed once."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from retrieval import EvidenceSet, Passage

from ..cues import Record
from ..errors import SettingsError
from ..lanes import LOAD_SECONDS, Lanes, Lost
from ..progress import counted
from ..store import KeyedStore
from .systems import MakeScorer, Who

Outcome: TypeAlias = Mapping[str, Any]
"""`score`, `ms`, `readers` (raw and corrected by reader), `probability` where the scorer gives one."""
Place: TypeAlias = tuple[Who, str]
"""A scorer, and the key of a job."""


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


_FIRST = ScoreJob(
    record=(("", "", ""), ""),
    added=0,
    question="Who lights the lamp of the harbour?",
    passages=(Passage(title="Harbour", text="The keeper lights the lamp at dusk."),),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One side for one scorer."""

    who: Who
    job: ScoreJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """What became of tasks. A place in neither mapping waits for its turn: there was no time to begin it."""

    known: dict[Place, Outcome] = field(default_factory=dict)
    lost: dict[Place, Lost] = field(default_factory=dict)


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
    makers: Mapping[Who, MakeScorer],
    batches: Sequence[Sequence[Task]],
    options: ScoringOptions,
    *,
    until: float | None = None,
) -> Outcomes:
    """Score every side once. What one process has loaded serves all batches that it is given.

    Scores known from an earlier run are taken from the folder. A side whose scorer raises, gives no finite number,
    hangs or dies is a failure; the others are scored, and a later run tries it again.

    Args:
        makers: The scorers of the tasks.
        batches: Tasks of one batch are done one after the other in one process, in their order: scorers remember
            there what they read.
        options: How.
        until: Reading of `time.monotonic` after which no batch is begun; None = all are done.

    Raises:
        BenchmarkError: a scorer could not be made.
        RunFileError: another run writes the same scores, or they cannot be written.
    """
    found = Outcomes()
    if not makers:
        return found
    with ExitStack() as opened:
        stores = _open_stores(makers, options, opened)
        todo, asked = _missing(batches, stores)
        if todo:
            needed = {task.who: makers[task.who] for batch in todo for task in batch}
            found.lost.update(_score_missing(needed, todo, stores, options, until))
        found.known.update({(who, key): stores[who][key] for who, key in asked if key in stores[who]})
    return found


def _open_stores(
    makers: Mapping[Who, MakeScorer], options: ScoringOptions, opened: ExitStack
) -> dict[Who, KeyedStore]:
    """The file of each scorer; scorers with one fingerprint share it."""
    files: dict[Path, KeyedStore] = {}
    stores: dict[Who, KeyedStore] = {}
    for who, fingerprint in fingerprints(makers).items():
        path = options.folder / f"{_file_name(who[0])}-{fingerprint[:16]}.jsonl"
        if path not in files:
            files[path] = opened.enter_context(KeyedStore(path))
        stores[who] = files[path]
    return stores


def _missing(
    batches: Sequence[Sequence[Task]], stores: Mapping[Who, KeyedStore]
) -> tuple[list[list[Task]], set[Place]]:
    """What is to be computed, each content once; and everything that was asked for."""
    todo: list[list[Task]] = []
    planned: set[tuple[Path, str]] = set()
    asked: set[Place] = set()
    for batch in batches:
        fresh: list[Task] = []
        for task in batch:
            key, store = task.job.key, stores[task.who]
            asked.add((task.who, key))
            if key not in store and (store.path, key) not in planned:
                planned.add((store.path, key))
                fresh.append(task)
        todo += [fresh] if fresh else []
    return todo, asked


def _score_missing(
    makers: Mapping[Who, MakeScorer],
    todo: Sequence[Sequence[Task]],
    stores: Mapping[Who, KeyedStore],
    options: ScoringOptions,
    until: float | None,
) -> dict[Place, Lost]:
    lost: dict[Place, Lost] = {}
    names = ", ".join(dict.fromkeys(name for name, _ in makers))
    with counted("scores", total=sum(map(len, todo))) as advance:

        def on_done(task: Task, result: Outcome | Lost) -> None:
            key = task.job.key
            if isinstance(result, Lost):
                lost[task.who, key] = result
            else:
                stores[task.who].put(key, result)
            advance()

        lanes: Lanes[Task, Outcome] = Lanes(
            partial(open_scorers, makers), processes=options.processes, seconds=options.seconds, what=names
        )
        lanes.run(_until(todo, until), on_done)
    return lost


def _until(todo: Iterable[Sequence[Task]], until: float | None) -> Iterator[Sequence[Task]]:
    """The batches, as long as there is time to begin one."""
    for batch in todo:
        if until is not None and time.monotonic() >= until:
            return
        yield batch


def open_scorers(makers: Mapping[Who, MakeScorer]) -> Callable[[Task], Outcome | Lost]:
    """In a process of its own: all scorers, as a function of a task.

    Each scores one small side first, whose outcome does not count: models are loaded on first use, and loading is
    no side's time.
    """
    opened = {who: open_scorer(make) for who, make in makers.items()}
    for score in opened.values():
        with suppress(Exception):  # who fails here fails on the sides, where it is told
            score(_FIRST)
    return lambda task: opened[task.who](task.job)


def open_scorer(make: MakeScorer) -> Callable[[ScoreJob], Outcome | Lost]:
    """In a process of its own: the scorer, as a function of a job."""
    scorer = make()

    def score(job: ScoreJob) -> Outcome | Lost:
        evidence = EvidenceSet.of(job.passages)
        begun = time.perf_counter()
        found = scorer.score(job.question, evidence)
        # what a store of shared answers spared would have been this scorer's own work
        milliseconds = (time.perf_counter() - begun + float(getattr(scorer, "spared_seconds", 0.0))) * 1000
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


def fingerprints(makers: Mapping[Who, MakeScorer]) -> dict[Who, str]:
    """sha256 (hex) of each scorer's fingerprint, asked in a process of its own: models need not stay here.

    Raises:
        SettingsError: a scorer could not be made, or tells none.
    """
    found: dict[Who, str] = {}

    def on_done(who: Who, result: str | Lost) -> None:
        if isinstance(result, Lost):
            raise SettingsError(f"The scorer {who[0]} could not be made: {result.detail}")
        found[who] = hashlib.sha256(result.encode()).hexdigest()

    lanes: Lanes[Who, str] = Lanes(
        partial(_open_fingerprints, makers), processes=1, seconds=LOAD_SECONDS, what="fingerprints"
    )
    lanes.run([list(makers)], on_done)
    return found


def _open_fingerprints(makers: Mapping[Who, MakeScorer]) -> Callable[[Who], str]:
    return lambda who: makers[who]().fingerprint
