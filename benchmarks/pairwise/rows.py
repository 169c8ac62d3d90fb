"""From scores to flat rows: one for each dataset, construction, number of additions, subset and system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..contrasts.model import HEADLINE, Contrast, Side
from ..cues import Record
from ..output import Row
from ..stats import Bootstrap, Interval, auroc, bootstrap, brier_score, calibration_error, compare, group_auroc
from .columns import Block, Column, pool

FEWEST_ROW = 100
"""Retrieval pairs of a dataset above which it has a row of its own."""
FEWEST_POOLED = 150
"""Retrieval pairs of all datasets from which on their row is a headline."""

Pair: TypeAlias = tuple[Contrast, Side, Side]
Groups: TypeAlias = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Rows, and what the summary over headline rows needs."""

    rows: list[Row]
    headline: list[dict[str, Bootstrap]]
    """For each headline row the draws by system; column 0 is the system, column 1 the reference."""


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
    headline: list[dict[str, Bootstrap]] = []
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
    return subset == "all" or pairs > 0


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
        whole = [name for name, column in block.columns.items() if _has(column, pairs).all()]
        self._shared = {name: place for place, name in enumerate(whole)}
        self._together = self._bootstrap(whole, pairs)

    def row(self, system: str) -> Row:
        """The figures of one system."""
        column = self._block.columns[system]
        pairs = self._own_pairs(system)
        found = self.draws(system)
        wins = self._wins([system], pairs)[:, 0]
        row: Row = {
            "system": system,
            "n": len(pairs),
            "groups": len({one.key for one, _, _ in pairs}),
            "clusters": len({one.cluster for one, _, _ in pairs}),
            **_interval("pairwise_accuracy", found.interval(0)),
            "tie_rate": float((wins == 0.5).mean()) if len(wins) else None,
            **self._ranking(column, pairs),
            **_calibration(column, pairs),
            "ms_p50": _quantile(column.milliseconds, 0.5),
            "ms_p95": _quantile(column.milliseconds, 0.95),
            "failed": column.failed,
            "reference": self._reference,
        }
        if self._reference is not None:
            row |= _interval("difference", found.difference(0, 1))
        return row

    def draws(self, system: str) -> Bootstrap:
        """Column 0 is the system, column 1 the reference, if there is one, on the same draws."""
        reference = self._reference
        names = [system] if reference is None else [system, reference]
        if all(name in self._shared for name in names):
            return _columns(self._together, [self._shared[name] for name in names])
        return self._bootstrap(names, [pair for pair in self._own_pairs(system) if self._known(names, pair)])

    def _own_pairs(self, system: str) -> Sequence[Pair]:
        if system in self._shared:
            return self._pairs
        return [pair for pair in self._pairs if self._known([system], pair)]

    def _known(self, names: Sequence[str], pair: Pair) -> bool:
        return all(bool(_has(self._block.columns[name], [pair]).all()) for name in names)

    def _bootstrap(self, names: Sequence[str], pairs: Sequence[Pair]) -> Bootstrap:
        clusters = [f"{one.dataset}\n{one.cluster}" for one, _, _ in pairs]
        return bootstrap(clusters, self._wins(names, pairs), draws=self._draws, seed=self._seed)

    def _wins(self, names: Sequence[str], pairs: Sequence[Pair]) -> NDArray[np.float64]:
        shape = (len(pairs), len(names))
        good = np.array([[self._score(n, one, side) for n in names] for one, side, _ in pairs]).reshape(shape)
        bad = np.array([[self._score(n, one, side) for n in names] for one, _, side in pairs]).reshape(shape)
        return compare(good, bad, systems=names)

    def _score(self, system: str, one: Contrast, side: Side) -> float:
        return self._block.columns[system].scores[one.key, side.id]

    def _ranking(self, column: Column, pairs: Sequence[Pair]) -> Row:
        """Areas under the curve over the sides that occur in these pairs, each once."""
        sides = _sides(pairs)
        scores = [column.scores[key] for key in sides]
        labels = [side.sufficient for side in sides.values()]
        groups = ["\n".join(key) for key, _ in sides]
        return {"auroc": auroc(scores, labels), "auroc_within_mean": group_auroc(scores, labels, groups).mean}


def _has(column: Column, pairs: Sequence[Pair]) -> NDArray[np.bool_]:
    known = column.scores
    return np.array(
        [(one.key, good.id) in known and (one.key, bad.id) in known for one, good, bad in pairs], dtype=np.bool_
    )


def _sides(pairs: Sequence[Pair]) -> Mapping[Record, Side]:
    return {(one.key, side.id): side for one, good, bad in pairs for side in (good, bad)}


def _columns(found: Bootstrap, columns: Sequence[int]) -> Bootstrap:
    return Bootstrap(
        estimate=None if found.estimate is None else found.estimate[list(columns)],
        draws=None if found.draws is None else found.draws[:, list(columns)],
    )


def _calibration(column: Column, pairs: Sequence[Pair]) -> Row:
    sides = _sides(pairs)
    known = [key for key in sides if key in column.probabilities]
    if not known or len(known) != len(sides):
        return {"ece": None, "brier": None}
    values = [column.probabilities[key] for key in known]
    labels = [sides[key].sufficient for key in known]
    return {"ece": calibration_error(values, labels), "brier": brier_score(values, labels)}


def _interval(name: str, found: Interval) -> Row:
    return {name: found.estimate, f"{name}_lo": found.lo, f"{name}_hi": found.hi}


def _quantile(values: Sequence[float], share: float) -> float | None:
    return float(np.quantile(values, share)) if values else None


def summary(headline: Sequence[dict[str, Bootstrap]], *, reference: str | None, labels: Row) -> list[Row]:
    """Two rows for each system that has a figure in every headline row: `macro` and `worst`."""
    if not headline:
        return []
    systems = [name for name in headline[0] if all(name in row for row in headline)]
    kinds: dict[str, Callable[[NDArray[np.float64], int], NDArray[np.float64]]] = {
        "macro": lambda values, axis: values.mean(axis=axis),
        "worst": lambda values, axis: values.min(axis=axis),
    }
    rows: list[Row] = []
    for name, reduce in kinds.items():
        for system in systems:
            found = _reduced([row[system] for row in headline], reduce)
            row = labels | {"dataset": name, "construction": "headline", "subset": "all", "system": system}
            row |= {"n": len(headline)} | _interval("pairwise_accuracy", found.interval(0))
            if reference is not None:
                row |= {"reference": reference} | _interval("difference", found.difference(0, 1))
            rows.append(row)
    return rows


def _reduced(
    rows: Sequence[Bootstrap], reduce: Callable[[NDArray[np.float64], int], NDArray[np.float64]]
) -> Bootstrap:
    """Mean or minimum over rows, on the data and on each draw; rows are drawn independently of one another."""
    estimates = [row.estimate for row in rows if row.estimate is not None]
    draws = [row.draws for row in rows if row.draws is not None]
    return Bootstrap(
        estimate=reduce(np.stack(estimates), 0) if len(estimates) == len(rows) else None,
        draws=reduce(np.stack(draws), 0) if len(draws) == len(rows) else None,
    )
