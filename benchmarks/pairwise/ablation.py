"""What does each reader bring? Every non-empty set of a scorer's readers, from their kept corrected values.

The score of a set of readers is the sum of their corrected values with equal weights (RINSE, section 4); nothing
is scored again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from ..contrasts.model import HEADLINE
from ..output import Row
from .columns import Block, Column
from .rows import Groups, measure
from .scored import Scored
from .summary import summary


def ablation_rows(
    blocks: Sequence[Block],
    scored: Scored,
    *,
    labels: Row,
    overlapping: Groups | None = None,
    draws: int,
    seed: int,
) -> list[Row]:
    """Rows of one scorer by `readers`, e.g. `content+span`; `difference` is to all of its readers together.

    Headline constructions without additions only, and `macro` and `worst` over them. They are no headline rows
    themselves: these are the whole scorer's.

    Args:
        blocks: Of the whole report.
        scored: What the scorer said, with its readers' values.
        labels: Of the rows over several datasets; `held_out` of all.
        overlapping: See `measure`.
        draws: See `measure`.
        seed: See `measure`.
    """
    readers = _readers(scored)
    if not readers:
        return []
    subsets = [chosen for size in range(1, len(readers) + 1) for chosen in combinations(readers, size)]
    chosen_blocks = [
        replace(block, columns={"+".join(chosen): _column(block, scored, chosen) for chosen in subsets})
        for block in blocks
        if block.construction in HEADLINE and not block.added and scored.system in block.columns
    ]
    whole = "+".join(readers)
    held_out = bool(labels["held_out"])
    measured = measure(
        chosen_blocks, reference=whole, held_out=held_out, overlapping=overlapping, draws=draws, seed=seed
    )
    rows = [*measured.rows, *summary(measured.headline, reference=whole, labels=labels)]
    return [row | {"readers": row["system"], "system": scored.system, "headline": False} for row in rows]


def _readers(scored: Scored) -> tuple[str, ...]:
    """The scorer's readers, in the order in which it adds them up."""
    return tuple(dict.fromkeys(name for outcome in scored.outcomes.values() for name in outcome["readers"]))


def _column(block: Block, scored: Scored, chosen: Sequence[str]) -> Column:
    """The sum of the chosen readers on the sides of a block; a side that lacks one of them has no score."""
    records = [(one.key, side.id) for one in block.contrasts for side in one.sides]
    scores = {
        record: sum(float(readers[name][1]) for name in chosen)
        for record in records
        if (readers := _values(scored, record, block.added)) is not None
        and all(name in readers for name in chosen)
    }
    return Column(scores=scores, probabilities={}, failed=len(records) - len(scores))


def _values(
    scored: Scored, record: tuple[tuple[str, str, str], str], added: int
) -> Mapping[str, Sequence[float]] | None:
    outcome = scored.outcomes.get((record, added))
    return None if outcome is None else outcome["readers"]
