"""Scores of all systems on the contrasts of one dataset and construction, under one number of additions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contrasts.model import Construction, Contrast, Side
from ..cues import PROBABILITIES, Record, Scores, cue_controlled
from .cuework import by_kind, cues_of
from .scored import Scored

POOLED = "pooled"
"""Stands for the dataset in blocks of several datasets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One system's scores."""

    scores: Mapping[Record, float]
    """Of the sides that it scored."""
    probabilities: Mapping[Record, float]
    """Probability of sufficiency, of the sides for which it gives one."""
    milliseconds: tuple[float, ...] = ()
    """Wall clock of each side, as measured when it was scored; none for cues."""
    failed: int = 0
    """Sides without a score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """All that rows are computed from."""

    dataset: str
    """Its name, or `pooled`."""
    construction: Construction
    split: str
    added: int
    contrasts: tuple[Contrast, ...]
    columns: Mapping[str, Column]
    """By system: cues first."""
    controlled: NDArray[np.bool_]
    """Of each pair: minimum and mean IDF coverage each tie or point the wrong way."""

    def pairs(self) -> list[tuple[Contrast, Side, Side]]:
        """All pairs, in the order of the contrasts."""
        return [(one, good, bad) for one in self.contrasts for good, bad in one.pairs()]


def make_blocks(
    contrasts: Sequence[Contrast], scored: Sequence[Scored], *, added: Sequence[int], seed: int, processes: int = 1
) -> list[Block]:
    """One block for each dataset, construction and number of additions, in the order of the contrasts.

    A dataset whose contrasts carry fewer additions than asked for has no block for that number.
    """
    kinds = by_kind(contrasts)
    cues = cues_of(kinds, added=added, seed=seed, processes=processes)
    return [
        _block(same, count, scores, scored) for kind, same in kinds.items() for count, scores in cues[kind].items()
    ]


def _block(contrasts: tuple[Contrast, ...], added: int, cues: Scores, scored: Sequence[Scored]) -> Block:
    columns = {
        system: Column(scores=scores, probabilities=scores if system in PROBABILITIES else {})
        for system, scores in cues.items()
    }
    records = [(one.key, side.id) for one in contrasts for side in one.sides]
    columns |= {one.system: column_of(one, records, added) for one in scored if added in one.added}
    return Block(
        dataset=contrasts[0].dataset,
        construction=contrasts[0].construction,
        split="+".join(sorted({one.split for one in contrasts})),
        added=added,
        contrasts=contrasts,
        columns=columns,
        controlled=cue_controlled(contrasts, cues),
    )


def column_of(one: Scored, records: Sequence[Record], added: int) -> Column:
    """What a scorer said about these sides under so many additions."""
    found = {key: one.outcomes[key, added] for key in records if (key, added) in one.outcomes}
    return Column(
        scores={key: outcome["score"] for key, outcome in found.items()},
        probabilities={key: outcome["probability"] for key, outcome in found.items() if "probability" in outcome},
        milliseconds=tuple(outcome["ms"] for outcome in found.values()),
        failed=len(records) - len(found),
    )


def pool(blocks: Sequence[Block]) -> Block:
    """Several datasets of one construction as one block; a side keeps the score of its own dataset's block."""
    columns: dict[str, Column] = {}
    for system in dict.fromkeys(name for block in blocks for name in block.columns):
        own = [block.columns[system] for block in blocks if system in block.columns]
        columns[system] = Column(
            scores={key: score for one in own for key, score in one.scores.items()},
            probabilities={key: value for one in own for key, value in one.probabilities.items()},
            milliseconds=tuple(value for one in own for value in one.milliseconds),
            failed=sum(one.failed for one in own),
        )
    first = blocks[0]
    return Block(
        dataset=POOLED,
        construction=first.construction,
        split="+".join(sorted({block.split for block in blocks})),
        added=first.added,
        contrasts=tuple(one for block in blocks for one in block.contrasts),
        columns=columns,
        controlled=np.concatenate([block.controlled for block in blocks]),
    )
