"""`python -m benchmarks invariance`: what must not change a score.

Order of arrival, building up in turns, what is remembered, other searches at the same time, threads, process.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from policies.shipped import Shipped, shipped
from retrieval import EvidenceSet, Passage
from rinse import SufficiencyScorer

from .contrasts.file import stream_contrasts
from .datasets import Fault
from .datasets.reading import fault_counts
from .errors import BenchmarkError, DatasetError, SettingsError
from .lanes import Lanes, Lost
from .output import Report, Row
from .pairwise.scoring import Outcome, ScoreJob, open_scorer
from .pairwise.systems import MakeScorer
from .progress import counted

BOUND = 1e-4
"""A difference of scores must stay below it."""
SCRATCH_EVERY = 10
"""A scorer of its own, which has seen nothing, is made for one record in so many: it reads all passages again."""
AT_ONCE = 4
"""Records that are scored at the same time."""
SECONDS = 120.0
"""Deadline of one score in the other process."""
TURN = 5
"""Passages that a turn brings where a set is built up, repeats among them."""

Scores: TypeAlias = list[float]
"""In the order of the jobs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InvarianceOptions:
    """Which records.

    Raises:
        SettingsError: a number is out of range.
    """

    contrasts: tuple[Path, ...]
    records: int = 2_000
    """Sides, drawn by `seed`; distinct by question and set."""
    seed: int = 17

    def __post_init__(self) -> None:
        if self.records < 1 or not self.contrasts:
            raise SettingsError(f"Expected --contrasts FILES and at least one record, got {self.records} records.")


def run_invariance(make: MakeScorer, options: InvarianceOptions) -> Report:
    """Score the same records in several ways and compare with scoring them in arrival order.

    Args:
        make: Makes a scorer that remembers nothing; picklable by name.
        options: See there.

    Raises:
        DatasetError: a file cannot be read, or holds nothing.
        BenchmarkError: the scorer could not be made in the other process.
    """
    import torch

    jobs, faults = draw_jobs(options)
    scorer = make()
    thresholds = shipped(scorer.fingerprint)
    reference, built_up = _both(scorer, jobs, options.seed)
    ways: dict[str, Callable[[], Scores]] = {
        "built up": lambda: built_up,
        "from scratch": partial(_from_scratch, make, jobs[::SCRATCH_EVERY], options.seed),
        "at once": partial(_at_once, make, jobs),
        "one thread": partial(_with_threads, make, jobs, 1),
        "two threads": partial(_with_threads, make, jobs, 2),
        "another process": partial(_in_process, make, jobs),
    }
    rows = []
    for case, way in ways.items():
        every = SCRATCH_EVERY if case == "from scratch" else 1
        rows.append(_row(case, reference[::every], way(), thresholds) | {"one_record_in": every})
    settings = {
        "contrasts": [path.name for path in options.contrasts],
        "records": len(jobs),
        "bound": BOUND,
        "reference_threads": torch.get_num_threads(),
        "scorer": scorer.fingerprint,
        "answer_at": thresholds.answer_at if thresholds else None,
        "abstain_below": thresholds.abstain_below if thresholds else None,
    }
    return Report(
        benchmark="invariance", settings=settings, seed=options.seed, rows=rows, failures=fault_counts(faults)
    )


def holds(report: Report) -> bool:
    """Whether every difference is below the bound and no decision changed."""
    return all(row["within_bound"] and not row["decisions_changed"] for row in report.rows)


def draw_jobs(options: InvarianceOptions) -> tuple[list[ScoreJob], list[Fault]]:
    """Sides of the contrasts, distinct by content: whole groups, drawn by the seed, until there are enough.

    Sides of a group share passages, so few passages make many records.

    Raises:
        DatasetError: no contrast can be read.
    """
    faults: list[Fault] = []
    jobs: dict[str, ScoreJob] = {}
    for path in options.contrasts:
        for item in stream_contrasts(path):
            if isinstance(item, Fault):
                faults.append(item)
                continue
            for side in item.sides:
                passages = item.evidence(side).passages
                job = ScoreJob(record=(item.key, side.id), added=0, question=side.question, passages=passages)
                jobs.setdefault(job.key, job)
    if not jobs:
        names = ", ".join(path.name for path in options.contrasts)
        raise DatasetError(f"{names}: no contrast. Expected what `python -m benchmarks contrasts` writes.")
    groups: dict[tuple[str, str], list[ScoreJob]] = defaultdict(list)
    for job in jobs.values():
        (dataset, _, group), _ = job.record
        groups[dataset, group].append(job)
    order = sorted(groups)
    random.Random(options.seed).shuffle(order)  # noqa: S311  no secret: the same seed must draw the same records
    return [job for key in order for job in groups[key]][: options.records], faults


def turns_of(passages: Sequence[Passage], source: random.Random) -> Iterator[Sequence[Passage]]:
    """The passages shuffled, in turns of at most `TURN`, with repeats of earlier ones between them."""
    order = list(passages)
    source.shuffle(order)
    size = max(1, min(TURN - 1, len(order) // 2))
    for begin in range(0, len(order), size):
        again = source.choice(order[:begin]) if begin else order[0]
        yield [again, *order[begin : begin + size]]


def _score(scorer: SufficiencyScorer, job: ScoreJob) -> float:
    return scorer.score(job.question, EvidenceSet.of(job.passages)).score


def _both(scorer: SufficiencyScorer, jobs: Sequence[ScoreJob], seed: int) -> tuple[Scores, Scores]:
    """Each set in order of arrival, then on the same scorer in another order, turn by turn, scored every time."""
    given: Scores = []
    built_up: Scores = []
    with counted("arrival order, built up", total=len(jobs)) as advance:
        for job in jobs:
            given.append(_score(scorer, job))
            evidence = EvidenceSet()
            score = scorer.score(job.question, evidence).score
            for turn in turns_of(job.passages, random.Random(f"{seed}/{job.key}")):  # noqa: S311
                evidence = evidence.add(turn)
                score = scorer.score(job.question, evidence).score
            built_up.append(score)
            advance()
    return given, built_up


def _from_scratch(make: MakeScorer, jobs: Sequence[ScoreJob], seed: int) -> Scores:
    """A scorer for each record that has seen nothing; the passages in another order again."""
    with counted("from scratch", total=len(jobs)) as advance:
        scores = []
        for job in jobs:
            order = list(job.passages)
            random.Random(f"{seed}/scratch/{job.key}").shuffle(order)  # noqa: S311
            scores.append(make().score(job.question, EvidenceSet.of(order)).score)
            advance()
        return scores


def _at_once(make: MakeScorer, jobs: Sequence[ScoreJob]) -> Scores:
    """Several searches share one scorer, as an agent's do."""
    scorer = make()
    with counted("at once", total=len(jobs)) as advance, ThreadPoolExecutor(AT_ONCE) as pool:
        scores = []
        for score in pool.map(partial(_score, scorer), jobs):
            scores.append(score)
            advance()
        return scores


def _with_threads(make: MakeScorer, jobs: Sequence[ScoreJob], threads: int) -> Scores:
    scorer = make()
    with _threads(threads), counted(f"threads: {threads}", total=len(jobs)) as advance:
        scores = []
        for job in jobs:
            scores.append(_score(scorer, job))
            advance()
        return scores


def _in_process(make: MakeScorer, jobs: Sequence[ScoreJob]) -> Scores:
    """In a process of its own, as `pairwise` scores: backwards, so that its memory grows the other way round.

    Raises:
        BenchmarkError: a record got no score there.
    """
    found: dict[str, float] = {}
    with counted("another process", total=len(jobs)) as advance:

        def on_done(job: ScoreJob, result: Outcome | Lost) -> None:
            if isinstance(result, Lost):
                raise BenchmarkError(f"No score in the other process for {job.record}: {result.detail}")
            found[job.key] = result["score"]
            advance()

        lanes: Lanes[ScoreJob, Outcome] = Lanes(
            partial(open_scorer, make), processes=1, seconds=SECONDS, what="invariance"
        )
        lanes.run([list(reversed(jobs))], on_done)
    return [found[job.key] for job in jobs]


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """With so many threads of torch, afterwards as before."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _row(case: str, reference: Scores, other: Scores, thresholds: Shipped | None) -> Row:
    largest = max(abs(one - two) for one, two in zip(reference, other, strict=True))
    changed = None
    if thresholds is not None:
        verdicts = [
            (_verdict(one, thresholds), _verdict(two, thresholds))
            for one, two in zip(reference, other, strict=True)
        ]
        changed = sum(one != two for one, two in verdicts)
    return {
        "case": case,
        "n": len(reference),
        "largest_difference": largest,
        "different": sum(one != two for one, two in zip(reference, other, strict=True)),
        "decisions_changed": changed,
        "within_bound": largest < BOUND,
    }


def _verdict(score: float, thresholds: Shipped) -> str:
    """What a policy with these thresholds makes of one score, its turns aside."""
    if score >= thresholds.answer_at:
        return "answer"
    return "abstain" if score < thresholds.abstain_below else "search"
