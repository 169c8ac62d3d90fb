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
    Interval,
    auroc,
    bootstrap,
    brier_score,
    calibration_error,
    compare,
    group_auroc,
    macro,
    worst,
)
from .columns import Block, Column, pool

FEWEST_ROW = 100
"""Retrieval pairs of a dataset above which it has a row of its own."""
FEWEST_POOLED = 150
"""Retrieval pairs of all datasets from which on their row is a headline."""

Pair: TypeAlias = tuple[Contrast, Side, Side]
Groups: TypeAlias = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """One system on one row."""

    own: Bootstrap
    """On the pairs that it has; one column."""
    paired: Bootstrap
    """On the pairs that the reference has too; column 0 is the system, column 1 the reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Rows, and what the summary over headline rows needs."""

    rows: list[Row]
    headline: list[dict[str, Draws]]
    """For each headline row the draws by system."""


def measure(
    blocks: Sequence[Block],
    *,
    reference: str | None,
    held_out: bool,
    overlapping: Groups | None = None,
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
        draws: Of the bootstrap.
        seed: Of the bootstrap.
    """
    rows: list[Row] = []
    headline: list[dict[str, Draws]] = []
    for block in _with_pooled(blocks):
        for subset, mask in _subsets(block, overlapping).items():
            pairs = [pair for pair, kept in zip(block.pairs(), mask, strict=True) if kept]
            counts = subset == "all" and _is_headline(block, len(pairs))
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
            if counts:
                headline.append({system: found.draws(system) for system in block.columns})
    return Measured(rows=rows, headline=headline)


def _with_pooled(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, and behind the retrieval pairs of several datasets all of them together."""
    result = list(blocks)
    for added in dict.fromkeys(block.added for block in blocks):
        same = [block for block in blocks if block.construction == "retrieval" and block.added == added]
        if same:
            result.append(pool(same))
    return result


def _is_headline(block: Block, pairs: int) -> bool:
    if block.added or block.construction not in HEADLINE:
        return False
    if block.construction == "retrieval":
        return block.dataset == "pooled" and pairs >= FEWEST_POOLED
    return True


def _printed(block: Block, pairs: int, subset: str) -> bool:
    if block.construction == "retrieval" and block.dataset != "pooled":
        return pairs > FEWEST_ROW
    return subset in {"all", "no-overlap"} or pairs > 0


def _subsets(block: Block, overlapping: Groups | None) -> dict[str, NDArray[np.bool_]]:
    pairs = block.pairs()
    subsets = {"all": np.ones(len(pairs), dtype=np.bool_), "cue-controlled": block.controlled}
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
        self._block, self._pairs = block, pairs
        self._draws, self._seed = draws, seed
        self._reference = reference if reference in block.columns else None
        whole = [name for name in block.columns if len(self._known([name])) == len(pairs)]
        self._shared = {name: place for place, name in enumerate(whole)}
        self._together = self._bootstrap(whole, pairs)

    def row(self, system: str) -> Row:
        """The figures of one system."""
        column = self._block.columns[system]
        pairs = self._known([system])
        found = self.draws(system)
        wins = self._wins([system], pairs)[:, 0]
        row: Row = {
            "system": system,
            "n": len(pairs),
            "groups": len({one.key for one, _, _ in pairs}),
            "clusters": len({(one.dataset, one.cluster) for one, _, _ in pairs}),
            **_interval("pairwise_accuracy", found.own.interval(0)),
            "tie_rate": float((wins == 0.5).mean()) if len(wins) else None,
            **_ranking(column, pairs),
            **_calibration(column, pairs),
            "ms_p50": _quantile(column.milliseconds, 0.5),
            "ms_p95": _quantile(column.milliseconds, 0.95),
            "failed": column.failed,
        }
        return row if self._reference is None else row | _difference(self._reference, found.paired)

    def draws(self, system: str) -> Draws:
        """The system alone, and beside the reference on the same draws."""
        names = [system, self._reference or system]
        return Draws(own=self._columns([system]), paired=self._columns(names))

    def _columns(self, names: Sequence[str]) -> Bootstrap:
        if all(name in self._shared for name in names):
            return self._together.columns(*(self._shared[name] for name in names))
        return self._bootstrap(names, self._known(names))

    def _known(self, names: Sequence[str]) -> Sequence[Pair]:
        """The pairs for which all of these have scores."""
        scores = [self._block.columns[name].scores for name in names]
        return [
            (one, good, bad)
            for one, good, bad in self._pairs
            if all((one.key, good.id) in known and (one.key, bad.id) in known for known in scores)
        ]

    def _bootstrap(self, names: Sequence[str], pairs: Sequence[Pair]) -> Bootstrap:
        clusters = [f"{one.dataset}\n{one.cluster}" for one, _, _ in pairs]
        return bootstrap(clusters, self._wins(names, pairs), draws=self._draws, seed=self._seed)

    def _wins(self, names: Sequence[str], pairs: Sequence[Pair]) -> NDArray[np.float64]:
        columns = [self._block.columns[name].scores for name in names]
        good = [[known[one.key, side.id] for known in columns] for one, side, _ in pairs]
        bad = [[known[one.key, side.id] for known in columns] for one, _, side in pairs]
        shape = (len(pairs), len(names))
        described = ["/".join((*one.key, left.id, right.id)) for one, left, right in pairs]
        return compare(
            np.array(good, dtype=np.float64).reshape(shape),
            np.array(bad, dtype=np.float64).reshape(shape),
            systems=names,
            pairs=described,
        )


def _sides(pairs: Sequence[Pair]) -> Mapping[Record, Side]:
    """The sides that occur in the pairs, each once."""
    return {(one.key, side.id): side for one, good, bad in pairs for side in (good, bad)}


def _ranking(column: Column, pairs: Sequence[Pair]) -> Row:
    sides = _sides(pairs)
    scores = [column.scores[key] for key in sides]
    labels = [side.sufficient for side in sides.values()]
    groups = ["\n".join(key) for key, _ in sides]
    return {"auroc": auroc(scores, labels), "auroc_within_mean": group_auroc(scores, labels, groups).mean}


def _calibration(column: Column, pairs: Sequence[Pair]) -> Row:
    sides = _sides(pairs)
    if not sides or not sides.keys() <= column.probabilities.keys():
        return {"ece": None, "brier": None}
    values = [column.probabilities[key] for key in sides]
    labels = [side.sufficient for side in sides.values()]
    return {"ece": calibration_error(values, labels), "brier": brier_score(values, labels)}


def _interval(name: str, found: Interval) -> Row:
    return {name: found.estimate, f"{name}_lo": found.lo, f"{name}_hi": found.hi}


def _difference(reference: str, paired: Bootstrap) -> Row:
    return {"reference": reference} | _interval("difference", paired.difference(0, 1))


def _quantile(values: Sequence[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if values else None


def summary(headline: Sequence[Mapping[str, Draws]], *, reference: str | None, labels: Row) -> list[Row]:
    """Two rows for each system that has a figure in every headline row: `macro` and `worst`.

    `n` is the number of headline rows. Rows are drawn independently of one another.
    """
    if not headline:
        return []
    systems = [name for name in headline[0] if all(name in row for row in headline)]
    rows: list[Row] = []
    for name, fold in (("macro", macro), ("worst", worst)):
        for system in systems:
            own = fold([row[system].own for row in headline])
            paired = fold([row[system].paired for row in headline])
            row = labels | {"dataset": name, "construction": "headline", "subset": "all", "system": system}
            row |= {"n": len(headline)} | _interval("pairwise_accuracy", own.interval(0))
            rows.append(row if reference is None else row | _difference(reference, paired))
    return rows
