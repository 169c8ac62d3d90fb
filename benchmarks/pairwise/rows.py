"""From scores to flat rows: one for each dataset, construction, number of additions, subset and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..contrasts.model import HEADLINE, Contrast, Side
from ..cues import Record
from ..output import Row
from ..stats import (
    Bootstrap,
    auroc,
    bootstrap,
    brier_score,
    calibration_error,
    compare,
    group_auroc,
)
from .columns import POOLED, Block, Column, pool
from .figures import difference_row, interval_row, times

ALL = "all"
"""The subset that holds all pairs."""
FEWEST_ROW = 100
"""Retrieval pairs of a dataset above which it has a row of its own."""
FEWEST_POOLED = 150
"""Retrieval pairs of all datasets from which on their row is a headline."""

Pair: TypeAlias = tuple[Contrast, Side, Side]
Groups: TypeAlias = frozenset[tuple[str, str]]
Test: TypeAlias = tuple[str, str, int]
"""Dataset, construction and number of shared additions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """One system on one row."""

    own: Bootstrap
    """On the pairs that it has; one column."""
    paired: Bootstrap
    """On the pairs that the reference has too; column 0 is the system, column 1 the reference."""
    milliseconds: tuple[float, ...] = ()
    """Wall clock of each of the row's sides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Rows, and what the summary over headline rows needs."""

    rows: list[Row]
    headline: list[dict[str, Draws]]
    """For each headline row the draws by system."""
    counted: list[Block]
    """What the headline rows were computed from."""
    whole: dict[Test, dict[str, Draws]]
    """For each row over all pairs the draws by system."""


def measure(
    blocks: Sequence[Block],
    *,
    reference: str | None,
    held_out: bool,
    overlapping: Groups | None = None,
    whole: str = ALL,
    draws: int,
    seed: int,
) -> Measured:
    """All rows.

    Args:
        blocks: Scores of all systems.
        reference: The system that the others are compared with, pair by pair.
        held_out: Whether scorers were fitted without the family of each dataset.
        overlapping: Dataset and group of what shares text with files that something was fitted on; adds the
            subset `no-overlap`. None = not audited.
        whole: What the rows over all pairs of the blocks bear as `subset`. With another name than `all` the blocks
            are a sample of headline tests: all of them count, and no other subsets are cut from it.
        draws: Of the bootstrap.
        seed: Of the bootstrap.
    """
    rows: list[Row] = []
    headline: list[dict[str, Draws]] = []
    counted: list[Block] = []
    entire: dict[Test, dict[str, Draws]] = {}
    for block in _with_pooled(blocks):
        subsets = _subsets(block, overlapping) if whole == ALL else {whole: _everything(block)}
        for subset, mask in subsets.items():
            pairs = [pair for pair, kept in zip(block.pairs(), mask, strict=True) if kept]
            counts = subset == whole and _is_headline(block, FEWEST_POOLED if whole == ALL else 1)
            if not _printed(block, len(pairs), subset):
                continue
            labels: Row = {
                "dataset": block.dataset,
                "construction": block.construction,
                "subset": subset,
                "added": block.added,
                "split": block.split,
                "held_out": held_out,
                "headline": counts,
            }
            found = _Comparison(block, pairs, reference, draws, seed)
            rows += [labels | found.row(system) for system in block.columns]
            drawn = {system: found.draws(system) for system in block.columns}
            if subset == whole:
                entire[block.dataset, block.construction, block.added] = drawn
            if counts:
                headline.append(drawn)
                counted.append(block)
    return Measured(rows=rows, headline=headline, counted=counted, whole=entire)


def _with_pooled(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, and behind the retrieval pairs of several datasets all of them together."""
    result = list(blocks)
    for added in dict.fromkeys(block.added for block in blocks):
        same = [block for block in blocks if block.construction == "retrieval" and block.added == added]
        if same:
            result.append(pool(same))
    return result


def _is_headline(block: Block, fewest_pooled: int) -> bool:
    if block.added or block.construction not in HEADLINE:
        return False
    if block.construction == "retrieval":
        return block.dataset == POOLED and len(block.pairs()) >= fewest_pooled
    return True


def _printed(block: Block, pairs: int, subset: str) -> bool:
    if block.construction == "retrieval" and block.dataset != POOLED:
        return pairs > FEWEST_ROW
    return subset in {ALL, "no-overlap"} or pairs > 0


def _everything(block: Block) -> NDArray[np.bool_]:
    return np.ones(len(block.pairs()), dtype=np.bool_)


def _subsets(block: Block, overlapping: Groups | None) -> dict[str, NDArray[np.bool_]]:
    pairs = block.pairs()
    subsets = {ALL: _everything(block), "cue-controlled": block.controlled}
    if overlapping is not None:
        free = [(one.dataset, one.group) not in overlapping for one, _, _ in pairs]
        subsets["no-overlap"] = np.array(free, dtype=np.bool_)
    if block.added:
        clean = [not any(extra.flags for extra in one.added[: block.added]) for one, _, _ in pairs]
        subsets["screened"] = np.array(clean, dtype=np.bool_)
    return subsets


class _Comparison:
    """All systems on the same pairs. A system that lacks scores is measured on the pairs that it has."""

    def __init__(self, block: Block, pairs: Sequence[Pair], reference: str | None, draws: int, seed: int) -> None:
        self._block, self._draws, self._seed = block, draws, seed
        self._reference = reference if reference in block.columns else None
        self._pairs = _Pairs(pairs)
        self._scores = {name: self._pairs.scores(column.scores) for name, column in block.columns.items()}
        whole = [name for name, scores in self._scores.items() if scores.known.all()]
        self._shared = {name: place for place, name in enumerate(whole)}
        self._together = self._bootstrap(whole)

    def row(self, system: str) -> Row:
        """The figures of one system."""
        column, scores = self._block.columns[system], self._scores[system]
        found = self.draws(system)
        wins = compare(scores.good, scores.bad)[scores.known]
        row: Row = {
            "system": system,
            "n": len(wins),
            "groups": len(set(self._pairs.groups[scores.known])),
            "clusters": len(set(self._pairs.clusters[scores.known])),
            **interval_row("pairwise_accuracy", found.own.interval(0)),
            "tie_rate": float((wins == 0.5).mean()) if len(wins) else None,
            **self._sides(column, scores),
            **times(column.milliseconds),
            "failed": column.failed,
        }
        return row if self._reference is None else row | difference_row(self._reference, found.paired)

    def draws(self, system: str) -> Draws:
        """The system alone, and beside the reference on the same draws."""
        names = [system, self._reference or system]
        milliseconds = self._block.columns[system].milliseconds
        return Draws(own=self._columns([system]), paired=self._columns(names), milliseconds=milliseconds)

    def _columns(self, names: Sequence[str]) -> Bootstrap:
        if all(name in self._shared for name in names):
            return self._together.columns(*(self._shared[name] for name in names))
        return self._bootstrap(names)

    def _bootstrap(self, names: Sequence[str]) -> Bootstrap:
        """On the pairs for which all of these have scores."""
        kept = np.ones(len(self._pairs.clusters), dtype=np.bool_)
        for name in names:
            kept &= self._scores[name].known
        wins = np.zeros((int(kept.sum()), len(names)))
        for place, name in enumerate(names):
            wins[:, place] = compare(self._scores[name].good, self._scores[name].bad)[kept]
        return bootstrap(self._pairs.clusters[kept].tolist(), wins, draws=self._draws, seed=self._seed)

    def _sides(self, column: Column, scores: _Scores) -> Row:
        """Figures over the sides that occur in the system's pairs, each once."""
        kept = np.unique(np.concatenate([self._pairs.good[scores.known], self._pairs.bad[scores.known]]))
        labels, values = self._pairs.labels[kept], scores.sides[kept]
        groups = self._pairs.side_groups[kept].tolist()
        probabilities = [column.probabilities.get(self._pairs.sides[place]) for place in kept]
        known = [value for value in probabilities if value is not None]
        complete = bool(known) and len(known) == len(kept)
        return {
            "auroc": auroc(values, labels),
            "auroc_within_mean": group_auroc(values, labels, groups).mean,
            "ece": calibration_error(known, labels) if complete else None,
            "brier": brier_score(known, labels) if complete else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scores:
    """One system on the sides and pairs of a comparison; 0 stands where it has no score."""

    sides: NDArray[np.float64]
    good: NDArray[np.float64]
    bad: NDArray[np.float64]
    known: NDArray[np.bool_]
    """Of each pair: whether both sides have a score."""


class _Pairs:
    """Pairs as numbers: which sides they consist of, each side once."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        places: dict[Record, int] = {}
        labels: list[bool] = []
        ends: list[tuple[int, int]] = []
        for one, good, bad in pairs:
            for side in (good, bad):
                if places.setdefault((one.key, side.id), len(places)) == len(labels):
                    labels.append(side.sufficient)
            ends.append((places[one.key, good.id], places[one.key, bad.id]))
        self.sides = list(places)
        self.labels = np.array(labels, dtype=np.bool_)
        self.side_groups = np.array(["\n".join(key) for key, _ in places], dtype=object)
        self.good, self.bad = np.array(ends, dtype=np.intp).reshape(-1, 2).T
        self.groups = np.array(["\n".join(one.key) for one, _, _ in pairs], dtype=object)
        self.clusters = np.array([f"{one.dataset}\n{one.cluster}" for one, _, _ in pairs], dtype=object)

    def scores(self, known: Mapping[Record, float]) -> _Scores:
        """A system's scores on these pairs."""
        values = np.array([known.get(side, 0.0) for side in self.sides], dtype=np.float64)
        there = np.array([side in known for side in self.sides], dtype=np.bool_)
        return _Scores(
            sides=values,
            good=values[self.good],
            bad=values[self.bad],
            known=there[self.good] & there[self.bad],
        )
