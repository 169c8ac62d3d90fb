"""`python -m benchmarks gate`: does a score in front of a generator prevent answers that no passage supports?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..contrasts.model import HEADLINE
from ..datasets.reading import fault_counts
from ..errors import SettingsError
from ..output import Report, Row
from ..pairwise.scoring import ScoringOptions, Task
from ..pairwise.systems import System, resolve
from .choosing import Chosen, choose_thresholds
from .draw import Drawn, draw_records
from .generators import Choice, choose
from .lines import GateFile
from .options import GateOptions
from .prompt import CHARACTERS, MAX_TOKENS, PROMPT_DIGEST, refuses
from .rows import Case, gate_rows, training_rows
from .sources import CORPUS, JUDGED, TRAINING, TRAINING_TESTS, apart, load
from .work import LaneOptions, reply_all, score_fresh

_RULE = "split conformal: the k-th lowest of n sufficient training records, k = floor(loss * (n + 1))"


def run_gate(options: GateOptions) -> Report:
    """Choose thresholds, ask the generators, score, compare. Blocking; progress goes to stderr.

    Raises:
        DatasetError, CorpusError, IndexFolderError, BackboneError: an input cannot be used.
        SettingsError: an unknown scorer, or nothing to choose a threshold on.
        ConfigError: no endpoint is set.
        BenchmarkError: a scorer or a generator could not be made.
        RunFileError: the run file or the scores cannot be used.
    """
    system = _runnable(options.scorer)
    choices = [choose(name) for name in options.generators]
    load_before = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    drawn = _draw(options)
    chosen = choose_thresholds(
        system,
        drawn.judged,
        drawn.training,
        loss=options.loss,
        held_out=options.held_out,
        scoring=ScoringOptions(folder=options.scores, processes=options.processes, seconds=options.seconds),
    )
    with TemporaryDirectory() as folder:
        file = GateFile(options.out or Path(folder) / "gate.jsonl", _depends_on())
        scored, failures = _score(system, drawn.judged, chosen, file, options)
        rows, more = _measure(choices, scored, file, options)
    labels: Row = {"split": "train", "system": system.name, "held_out": options.held_out}
    return Report(
        benchmark="gate",
        settings=_settings(options, choices, drawn, chosen) | {"load_before": load_before},
        seed=options.seed,
        rows=[*rows, *training_rows(chosen.grounds, chosen.points, chosen.thresholds, labels)],
        failures=[*drawn.failures, *chosen.failures, *map(vars, file.faults), *failures, *more],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Records:
    """What is judged and what thresholds are chosen on."""

    judged: list[Drawn]
    training: list[Drawn]
    left_out: int
    """Training contrasts that ask a question of the judged ones."""
    failures: list[dict[str, Any]]


def _runnable(name: str) -> System:
    system = resolve(name)
    if system.missing:
        raise SettingsError(f"The scorer {name} needs {', '.join(system.missing)}, not on this machine.")
    return system


def _draw(options: GateOptions) -> _Records:
    given = options.corpus or options.folder / CORPUS
    corpus = given if options.corpus or given.is_file() else None
    seed = options.seed
    judged = load(
        options.judged.or_default(JUDGED, options.folder),
        HEADLINE,
        corpus=corpus,
        per_label=options.records,
        seed=seed,
    )
    training = load(
        options.training.or_default(TRAINING, options.folder),
        HEADLINE | {"made-swap"},
        corpus=corpus,
        per_label=options.train_records,
        tests=TRAINING_TESTS,
        seed=seed,
    )
    kept, left_out = apart(training.contrasts, judged.contrasts)
    return _Records(
        judged=draw_records(judged.contrasts, options.records, seed=seed),
        training=draw_records(kept, options.train_records, seed=seed),
        left_out=left_out,
        failures=[*fault_counts(judged.faults), *fault_counts(training.faults)],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """A judged record with what the gate does to it."""

    record: Drawn
    stopped: bool
    seconds: float


def _score(
    system: System, judged: Sequence[Drawn], chosen: Chosen, file: GateFile, options: GateOptions
) -> tuple[list[_Scored], list[dict[str, Any]]]:
    """Score each record once, by the scorer of its ground; those that cannot be scored are failures."""
    left_out = [chosen.grounds[chosen.of[one.job.key]].without for one in judged]
    whose = [system.who(family) for family in left_out]
    makers = {system.who(family): system.maker(family) for family in left_out}
    tasks = [Task(who=who, job=one.job) for who, one in zip(whose, judged, strict=True)]
    fingerprints, failures = score_fresh(makers, tasks, file, _lanes(options))
    scored = [
        _Scored(record=one, stopped=found.score < chosen.at(one), seconds=found.seconds)
        for who, one in zip(whose, judged, strict=True)
        if (found := file.scores.get((one.job.key, fingerprints[who]))) is not None
    ]
    return scored, failures


def _measure(
    choices: Sequence[Choice], scored: Sequence[_Scored], file: GateFile, options: GateOptions
) -> tuple[list[Row], list[dict[str, Any]]]:
    """Ask each generator about every record, stopped or not: one reply serves with and without the gate."""
    rows: list[Row] = []
    failures: list[dict[str, Any]] = []
    for choice in choices:
        failures += reply_all(choice, [one.record.job for one in scored], file, _lanes(options))
        cases = [
            Case(
                record=one.record,
                refused=refuses(reply.text),
                seconds=reply.seconds,
                stopped=one.stopped,
                score_seconds=one.seconds,
            )
            for one in scored
            if (reply := file.replies.get((one.record.job.key, choice.fingerprint))) is not None
        ]
        labels: Row = {"split": _splits(scored), "system": options.scorer, "generator": choice.name}
        labels |= {"held_out": options.held_out}
        rows += gate_rows(cases, labels, draws=options.draws, seed=options.seed)
    return rows, failures


def _lanes(options: GateOptions) -> LaneOptions:
    return LaneOptions(processes=options.processes, seconds=options.seconds)


def _splits(scored: Sequence[_Scored]) -> str:
    return "+".join(sorted({one.record.contrast.split for one in scored}))


def _digest(judged: Sequence[Drawn]) -> str:
    """Identifies what is judged by content."""
    keys = sorted(f"{one.job.key} {one.side.sufficient}" for one in judged)
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()[:16]


def _depends_on() -> dict[str, Any]:
    """What a line depends on beside the record and the model, which it names itself."""
    return {
        "benchmark": "gate",
        "prompt": PROMPT_DIGEST,
        "characters": CHARACTERS,
        "max_tokens": MAX_TOKENS,
        "threads": 1,
    }


def _settings(options: GateOptions, choices: Sequence[Choice], drawn: _Records, chosen: Chosen) -> dict[str, Any]:
    sources = {
        "judged": options.judged.or_default(JUDGED, options.folder),
        "training": options.training.or_default(TRAINING, options.folder),
    }
    files = {name: [path.name for path in (*one.contrasts, *one.data)] for name, one in sources.items()}
    return {
        **files,
        "corpus": options.corpus.name if options.corpus else CORPUS,
        "records_digest": _digest(drawn.judged),
        "generators": {choice.name: choice.fingerprint for choice in choices},
        "scorer": options.scorer,
        "held_out": options.held_out,
        "records": options.records,
        "train_records": options.train_records,
        "training_contrasts_left_out": drawn.left_out,
        "loss": options.loss,
        "threshold_rule": _RULE,
        "thresholds": dict(sorted(chosen.thresholds.items())),
        "refusal_rule": "the normalised reply contains the word unanswerable",
        "processes": options.processes,
        "draws": options.draws,
        **{name: value for name, value in _depends_on().items() if name != "benchmark"},
    }
