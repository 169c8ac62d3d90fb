"""Which scorer reads which sides, and in which order: groups are finished by all scorers, one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from retrieval import EvidenceSet, Passage

from ..contrasts.model import Contrast, Side
from ..cues import Lexicon
from ..datasets.families import family_of
from .cuework import by_kind
from .sample import lot
from .scoring import ScoreJob, Task
from .systems import System

Group: TypeAlias = tuple[str, str]
"""Dataset and group."""
Order: TypeAlias = Callable[[Side, EvidenceSet], Sequence[Passage]]


def make_plan(
    contrasts: Sequence[Contrast],
    systems: Sequence[System],
    *,
    sample: Sequence[Contrast] = (),
    added: Sequence[int],
    order: str,
    held_out: bool,
    seed: int,
) -> list[list[Task]]:
    """Batches of one group each, in the order in which they are to be done.

    First the sample, by all scorers; then, by those that are not confined to it, all other sides. Within each part
    datasets take turns and groups come as the seed draws them: wherever a run stops, what is done is a sample.

    Args:
        contrasts: All of them.
        systems: The scorers.
        sample: Contrasts with those sides that all scorers read; see `draw_sample`.
        added: Numbers of shared additions for scorers that are not confined to the sample, which has none.
        order: `bm25` or `given`: how passages are presented.
        held_out: Whether a fitted scorer must not have seen a dataset's family.
        seed: Draws the order of groups.
    """
    sampled = {(one.key, side.id) for one in sample for side in one.sides}
    first: dict[Group, list[ScoreJob]] = defaultdict(list)
    rest: dict[Group, list[ScoreJob]] = defaultdict(list)
    for group, job in _jobs(contrasts, sorted({0, *added} if sample else set(added)), order):
        if not job.added and job.record in sampled:
            first[group].append(job)
        if job.added in added:
            rest[group].append(job)
    everything = [system for system in systems if not system.sampled]
    return [
        [
            Task(who=system.who(family_of(group[0]) if held_out else None), job=job)
            for job in part[group]  # all scorers on one side, then the next: they share what they read of it
            for system in chosen
        ]
        for part, chosen in ((first, systems), (rest, everything))
        for group in _in_turn(part, seed)
    ]


def _jobs(contrasts: Sequence[Contrast], added: Sequence[int], order: str) -> Iterable[tuple[Group, ScoreJob]]:
    for same in by_kind(contrasts).values():
        arrange = bm25_order(Lexicon.of(same)) if order == "bm25" else given_order
        for one in same:
            for job in jobs_of(one, added=added, order=arrange):
                yield (one.dataset, one.group), job


def _in_turn(groups: Iterable[Group], seed: int) -> list[Group]:
    """The first of each dataset, then the second of each, and so on."""
    by_dataset: dict[str, list[Group]] = defaultdict(list)
    for group in groups:
        by_dataset[group[0]].append(group)
    ranked = [
        (rank, group)
        for same in by_dataset.values()
        for rank, group in enumerate(sorted(same, key=lambda one: lot(seed, *one)))
    ]
    return [group for _, group in sorted(ranked)]


def jobs_of(contrast: Contrast, *, added: Sequence[int], order: Order) -> list[ScoreJob]:
    """The sides of a contrast under each number of shared additions that it carries."""
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


def bm25_order(lexicon: Lexicon) -> Order:
    """Passages in BM25 order against the question, as the paper presents enlarged sets (appendix F)."""

    def order(side: Side, evidence: EvidenceSet) -> Sequence[Passage]:
        by_id = {passage.id: passage for passage in evidence}
        return [by_id[key] for key, _ in lexicon.order(side.question, evidence)]

    return order


def given_order(_: Side, evidence: EvidenceSet) -> Sequence[Passage]:
    """Passages in the order in which the side holds them."""
    return evidence.passages
