"""The groups on which scorers are compared that run a causal language model, and every other one beside them.

A scorer that reads all passages with such a model takes seconds a side. It is measured on a seeded sample of the
headline tests; the others are measured there too, so that every difference is paired on the same groups.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..contrasts.model import HEADLINE, Contrast
from ..cues import cue_controlled
from .columns import POOLED, Block, Column, column_of
from .cuework import by_kind
from .rows import FEWEST_POOLED
from .scored import Scored

SUBSET = "lm-sample"
"""What the sample's rows bear as `subset`."""
GROUPS = 40
"""Groups of each headline test (of the retrieval pairs of all datasets together, which are one test)."""


def draw_sample(contrasts: Sequence[Contrast], groups: int, *, seed: int) -> list[Contrast]:
    """At most `groups` contrasts of each headline test, each reduced to one sufficient and one insufficient side.

    A group's chance depends on its dataset, its name and the seed alone, so that the tests of one dataset share
    groups as far as they have the same ones, and a larger sample keeps all that a smaller one drew. Retrieval
    pairs take part where there are enough of them for a headline.
    """
    tests: dict[tuple[str, str], list[Contrast]] = defaultdict(list)
    for one in contrasts:
        if one.construction in HEADLINE:
            tests[POOLED if one.construction == "retrieval" else one.dataset, one.construction].append(one)
    if sum(1 for one in tests[POOLED, "retrieval"] for _ in one.pairs()) < FEWEST_POOLED:
        del tests[POOLED, "retrieval"]
    return [
        _one_pair(one, seed)
        for same in tests.values()
        for one in sorted(same, key=lambda one: lot(seed, one.dataset, one.group))[:groups]
    ]


def lot(seed: int, *names: str) -> bytes:
    """Where something stands in a line that is drawn by the seed, whatever else stands in it."""
    return hashlib.sha256("\n".join([str(seed), *names]).encode("utf-8", "surrogatepass")).digest()


def _one_pair(one: Contrast, seed: int) -> Contrast:
    ordered = sorted(one.sides, key=lambda side: lot(seed, *one.key, side.id))
    good, bad = (next(side for side in ordered if side.sufficient is wanted) for wanted in (True, False))
    return replace(one, sides=(good, bad))


def finished(sample: Iterable[Contrast], scored: Sequence[Scored]) -> list[Contrast]:
    """Those of which no scorer's turn is still to come: what has no score among these has failed."""
    waiting = {record for one in scored for record, added in one.waiting if not added}
    return [one for one in sample if not any((one.key, side.id) in waiting for side in one.sides)]


def sample_blocks(blocks: Sequence[Block], sample: Sequence[Contrast], scored: Sequence[Scored]) -> list[Block]:
    """The blocks of the sample: cues as they are known from the whole, and all scorers."""
    kinds = by_kind(sample)
    scorers = {one.system for one in scored}
    found: list[Block] = []
    for block in blocks:
        same = kinds.get((block.dataset, block.construction))
        if block.added or not same:
            continue
        records = [(one.key, side.id) for one in same for side in one.sides]
        cues = {name: _only(column, records) for name, column in block.columns.items() if name not in scorers}
        columns = cues | {one.system: column_of(one, records, 0) for one in scored}
        controlled = cue_controlled(same, {name: dict(column.scores) for name, column in cues.items()})
        found.append(replace(block, contrasts=same, columns=columns, controlled=controlled))
    return found


def _only(column: Column, records: Sequence[tuple[tuple[str, str, str], str]]) -> Column:
    return Column(
        scores={key: column.scores[key] for key in records if key in column.scores},
        probabilities={key: column.probabilities[key] for key in records if key in column.probabilities},
    )
