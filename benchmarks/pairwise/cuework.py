"""The cues of all datasets and constructions, computed side by side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..contrasts.model import Contrast
from ..cues import Lexicon, Scores, cue_scores
from ..errors import BenchmarkError
from ..lanes import Lanes, Lost
from ..progress import counted

Kind: TypeAlias = tuple[str, str]
"""Dataset and construction."""

SMALL = 20_000
"""Passages to be read, over all conditions, below which starting a process costs more than the work."""
_PLAIN = frozenset({"retrieval", "unrelated-swap"})
SECONDS = 3_600.0
"""Deadline of one dataset and construction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueJob:
    """One dataset and construction under several numbers of additions."""

    contrasts: tuple[Contrast, ...]
    added: tuple[int, ...]
    seed: int

    @property
    def kind(self) -> Kind:
        """What the contrasts have in common."""
        return self.contrasts[0].key[:2]

    @property
    def passages(self) -> int:
        """Passages that are read: what the work grows with."""
        sides = [side for one in self.contrasts for side in one.sides]
        return sum(len(side.passages) + count for side in sides for count in self.added)


def by_kind(contrasts: Iterable[Contrast]) -> dict[Kind, tuple[Contrast, ...]]:
    """Contrasts by dataset and construction, in order of first appearance."""
    kinds: dict[Kind, list[Contrast]] = defaultdict(list)
    for one in contrasts:
        kinds[one.dataset, one.construction].append(one)
    return {kind: tuple(same) for kind, same in kinds.items()}


def conditions(contrasts: Sequence[Contrast], added: Iterable[int]) -> tuple[int, ...]:
    """Those numbers of additions that all of these contrasts have.

    None to what a retriever returned, nor to an unrelated question: the paper has no such condition.
    """
    fewest = min(len(one.added) for one in contrasts)
    wanted = (0,) if contrasts[0].construction in _PLAIN else sorted(set(added))
    return tuple(count for count in wanted if count <= fewest)


def cues_of(
    kinds: Mapping[Kind, tuple[Contrast, ...]], *, added: Sequence[int], seed: int, processes: int
) -> dict[Kind, dict[int, Scores]]:
    """The scores of all cues by kind and number of additions. `processes` change times, nothing else.

    Raises:
        BenchmarkError: a process was killed from outside.
    """
    jobs = [CueJob(contrasts=same, added=conditions(same, added), seed=seed) for same in kinds.values()]
    if sum(job.passages for job in jobs) < SMALL:
        return {job.kind: cues(job) for job in jobs}
    found: dict[Kind, dict[int, Scores]] = {}
    with counted("cues", total=len(jobs)) as advance:

        def on_done(job: CueJob, result: dict[int, Scores] | Lost) -> None:
            if isinstance(result, Lost):
                raise BenchmarkError(f"The cues of {'/'.join(job.kind)} could not be computed: {result.detail}")
            found[job.kind] = result
            advance()

        lanes: Lanes[CueJob, dict[int, Scores]] = Lanes(make_cues, processes=processes, seconds=SECONDS)
        # the largest first, so that no process ends long after the others
        lanes.run(([job] for job in sorted(jobs, key=lambda job: -job.passages)), on_done)
    return found


def make_cues() -> Callable[[CueJob], dict[int, Scores]]:
    """In a process of its own."""
    return cues


def cues(job: CueJob) -> dict[int, Scores]:
    """The scores of one kind, by number of additions."""
    lexicon, known = Lexicon.of(job.contrasts), None
    found: dict[int, Scores] = {}
    for count in job.added:
        known = cue_scores(job.contrasts, added=count, seed=job.seed, lexicon=lexicon, known=known)
        found[count] = known
    return found
