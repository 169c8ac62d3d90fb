"""What a scorer said about the sides that it was asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..cues import Record
from ..lanes import Lost
from .scoring import Outcome, Outcomes, ScoreJob, Task
from .systems import System


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What one scorer said about all sides."""

    system: str
    added: tuple[int, ...]
    """Numbers of shared additions under which it was asked about all sides."""
    outcomes: dict[tuple[Record, int], Outcome] = field(default_factory=dict)
    """By record and number of shared additions."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    """Sides without a score, each with the reason; those that wait are one failure together."""
    waiting: set[tuple[Record, int]] = field(default_factory=set)
    """Sides that there was no time to begin, by record and number of shared additions."""


def scored_by(
    system: System, batches: Sequence[Sequence[Task]], found: Outcomes, *, added: Sequence[int]
) -> Scored:
    """What became of one scorer's tasks, by side.

    Args:
        system: The scorer.
        batches: The tasks of all scorers.
        found: What became of them.
        added: Numbers of shared additions under which it was asked about all sides, not about a sample alone.
    """
    tasks = {
        (task.job.record, task.job.added): task
        for batch in batches
        for task in batch
        if task.who[0] == system.name
    }
    scored = Scored(system=system.name, added=tuple(sorted(set(added))))
    for (record, count), task in tasks.items():
        place = (task.who, task.job.key)
        if place in found.known:
            scored.outcomes[record, count] = found.known[place]
        elif place in found.lost:
            scored.failures.append(_failure(system.name, task.job, found.lost[place]))
        else:
            scored.waiting.add((record, count))
    if scored.waiting:
        detail = "The time of --minutes was used up. The same command goes on there."
        failure = {"system": system.name, "kind": "not_scored", "sides": len(scored.waiting), "detail": detail}
        scored.failures.append(failure)
    return scored


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
