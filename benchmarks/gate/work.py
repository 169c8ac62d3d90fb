"""What is timed, in a process of its own with one thread: the generator's reply, and the gate's score."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from retrieval import EvidenceSet, Passage

from ..lanes import Lanes, Lost
from ..pairwise.scoring import ScoreJob, Task, fingerprints
from ..pairwise.systems import MakeScorer, Who
from ..progress import counted
from .generators import Choice, Replier
from .lines import GateFile, Reply, Score
from .prompt import user_turn

J = TypeVar("J")

_QUESTION = "Who built the bridge?"
_EVIDENCE = EvidenceSet.of([Passage(text="The bridge was built by the weavers of the town.")])
"""Asked before anything is timed, so that libraries have chosen their kernels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneOptions:
    """How work is spread."""

    processes: int
    """At once; above 1 they share the machine, and times grow."""
    seconds: float
    """Deadline of one record; then its process is killed."""


def reply_all(
    choice: Choice, jobs: Sequence[ScoreJob], file: GateFile, options: LaneOptions
) -> list[dict[str, Any]]:
    """Ask the generator about each record that it was not asked about; returns what failed."""
    lanes: Lanes[ScoreJob, Reply] = Lanes(
        partial(open_replier, choice.make, choice.fingerprint),
        processes=options.processes,
        seconds=options.seconds,
        what=choice.name,
    )
    missing = {job.key: job for job in jobs if (job.key, choice.fingerprint) not in file.replies}
    return _run(lanes, missing.values(), lambda job: job, file, choice.name)


def score_fresh(
    makers: Mapping[Who, MakeScorer], tasks: Sequence[Task], file: GateFile, options: LaneOptions
) -> tuple[dict[Who, str], list[dict[str, Any]]]:
    """Score each record that was not scored; returns the scorers' fingerprints and what failed."""
    known = fingerprints(makers)
    missing = {
        (task.who, task.job.key): task for task in tasks if (task.job.key, known[task.who]) not in file.scores
    }
    name = ", ".join(dict.fromkeys(name for name, _ in makers))
    lanes: Lanes[Task, Score] = Lanes(
        partial(open_fresh, makers, known), processes=options.processes, seconds=options.seconds, what=name
    )
    return known, _run(lanes, missing.values(), lambda task: task.job, file, name)


def open_replier(make: Callable[[], Replier], fingerprint: str) -> Callable[[ScoreJob], Reply]:
    """In a process of its own: the generator, loaded and warm, as a function of a record."""
    replier = make()
    replier.reply(user_turn(_QUESTION, _EVIDENCE))

    def reply(job: ScoreJob) -> Reply:
        begun = time.perf_counter()
        text = replier.reply(user_turn(job.question, EvidenceSet.of(job.passages)))
        return Reply(record=job.key, fingerprint=fingerprint, text=text, seconds=time.perf_counter() - begun)

    return reply


def open_fresh(makers: Mapping[Who, MakeScorer], known: Mapping[Who, str]) -> Callable[[Task], Score]:
    """In a process of its own: a scorer for each record, so that none profits from what another one read.

    Each is made and asked something else first: loading a model is no part of a score.
    """

    def score(task: Task) -> Score:
        scorer = makers[task.who]()
        scorer.score(_QUESTION, _EVIDENCE)
        evidence = EvidenceSet.of(task.job.passages)
        begun = time.perf_counter()
        found = scorer.score(task.job.question, evidence).score
        seconds = time.perf_counter() - begun
        return Score(record=task.job.key, fingerprint=known[task.who], score=float(found), seconds=seconds)

    return score


def lost_row(what: str, job: ScoreJob, lost: Lost) -> dict[str, Any]:
    """A record without a result, as the report lists it."""
    (dataset, construction, group), side = job.record
    place = {"dataset": dataset, "construction": construction, "group": group, "side": side}
    return {"system": what, **place, "kind": lost.kind, "detail": lost.detail}


def _run(
    lanes: Lanes[J, Any], work: Collection[J], job_of: Callable[[J], ScoreJob], file: GateFile, what: str
) -> list[dict[str, Any]]:
    failures: list[dict[str, Any]] = []
    if not work:
        return failures
    with counted(what, total=len(work)) as advance:

        def on_done(one: J, result: Any) -> None:  # noqa: ANN401  a line, or why there is none
            if isinstance(result, Lost):
                failures.append(lost_row(what, job_of(one), result))
            else:
                file.write(result)
            advance()

        lanes.run([[one] for one in work], on_done)
    return failures
