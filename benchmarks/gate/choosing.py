"""A threshold for each judged record, from scores of training records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from policies.calibration.conformal import fewest_numbers

from ..errors import SettingsError
from ..pairwise.scoring import Place, ScoringOptions, Task, score_all
from ..pairwise.systems import MakeScorer, System, Who
from .draw import Drawn, batches
from .threshold import Ground, Grounds, Point, threshold
from .work import lost_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Thresholds by the name of their ground."""

    grounds: Mapping[str, Ground]
    of: Mapping[str, str]
    """The ground of each judged record, by its job's key."""
    points: Mapping[str, list[Point]]
    thresholds: Mapping[str, float]
    failures: list[dict[str, Any]]

    def at(self, record: Drawn) -> float:
        """The threshold of a judged record."""
        return self.thresholds[self.of[record.job.key]]


def choose_thresholds(
    system: System,
    judged: Sequence[Drawn],
    training: Sequence[Drawn],
    *,
    loss: float,
    held_out: bool,
    scoring: ScoringOptions,
) -> Chosen:
    """Score the training records of every ground that a judged record needs, and choose.

    Raises:
        SettingsError: a judged record has too few training records to choose its threshold on.
        BenchmarkError: the scorer could not be made.
        RunFileError: the scores cannot be kept.
    """
    finder = Grounds(training, held_out=held_out)
    grounds: dict[str, Ground] = {}
    of: dict[str, str] = {}
    for record in judged:
        ground = finder.of(record)
        grounds.setdefault(ground.name, ground)
        of[record.job.key] = ground.name
    for name, ground in grounds.items():
        if (count := sum(one.side.sufficient for one in ground.training)) < fewest_numbers(loss):
            raise _too_few(name, count, loss)
    found, failures = _scores(system, grounds.values(), scoring)
    points: dict[str, list[Point]] = {}
    thresholds: dict[str, float] = {}
    for name, ground in grounds.items():
        points[name] = [
            Point(test=one.test, sufficient=one.side.sufficient, score=score)
            for one in ground.training
            if (score := found.get((system.who(ground.without), one.job.key))) is not None
        ]
        at = threshold(points[name], loss=loss)
        if at is None:  # some of them could not be scored
            raise _too_few(name, sum(point.sufficient for point in points[name]), loss)
        thresholds[name] = at
    return Chosen(grounds=grounds, of=of, points=points, thresholds=thresholds, failures=failures)


def _too_few(ground: str, sufficient: int, loss: float) -> SettingsError:
    return SettingsError(
        f"A loss of {loss:g} takes {fewest_numbers(loss)} sufficient training records of {ground}, there are "
        f"{sufficient}. Raise --loss or --train-records, or give --train-contrasts or --train-data files that "
        "have more."
    )


def _scores(
    system: System, grounds: Iterable[Ground], scoring: ScoringOptions
) -> tuple[dict[Place, float], list[dict[str, Any]]]:
    """Scores by scorer and key of the record, kept for the next time; and what failed."""
    wanted: dict[Who, dict[str, Drawn]] = {}
    makers: dict[Who, MakeScorer] = {}
    for ground in grounds:
        who = system.who(ground.without)
        makers[who] = system.maker(ground.without)
        wanted.setdefault(who, {}).update((one.job.key, one) for one in ground.training)
    tasks = [
        [Task(who=who, job=job) for job in batch]
        for who, records in wanted.items()
        for batch in batches(records.values())
    ]
    found = score_all(makers, tasks, scoring)
    jobs = {task.job.key: task.job for batch in tasks for task in batch}
    lost = [lost_row(system.name, jobs[key], one) for (_, key), one in found.lost.items()]
    return {place: float(one["score"]) for place, one in found.known.items()}, lost
