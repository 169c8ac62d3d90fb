"""Figures with their uncertainty: a row for each dataset, system and type of question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..metrics import all_support_at, mean, recall_at
from ..output import Row
from ..stats import ratios
from .search import Found
from .targets import Target

T = TypeVar("T")
Ranks: TypeAlias = Sequence[int | None]

FIGURES: Mapping[str, Callable[[Ranks], float | None]] = {
    "recall@5": partial(recall_at, k=5),
    "recall@10": partial(recall_at, k=10),
    "all_support@5": partial(all_support_at, k=5),
    "all_support@10": partial(all_support_at, k=10),
    "all_support@20": partial(all_support_at, k=20),
}
ORACLE = "oracle-titles"
"""The system of the rows that say for how many questions titles lead to all support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One question and what one system found for it."""

    target: Target
    kind: str
    """Type of the question; may be empty."""
    system: str
    found: Found
    without_filler: Found | None = None
    """What the system found before other text was mixed in; None where there is none."""


def system_rows(measured: Iterable[Measured], *, labels: Row, seed: int) -> list[Row]:
    """One row for each dataset, split, system and subset: `all`, then each type where there are several.

    Args:
        measured: Questions with support.
        labels: Keys that all rows share.
        seed: Of the intervals.
    """
    groups: dict[tuple[str, str, str], list[Measured]] = defaultdict(list)
    for one in measured:
        groups[one.target.question.dataset, one.target.question.split, one.system].append(one)
    return [
        {"dataset": dataset, "split": split, "system": system, "construction": "retrieval", "subset": subset}
        | labels
        | _figures(some, seed=seed)
        for (dataset, split, system), group in sorted(groups.items(), key=lambda item: item[0][:2])
        for subset, some in _subsets(group, [one.kind for one in group])
    ]


def oracle_rows(targets: Sequence[Target], kinds: Sequence[str], *, labels: Row, seed: int) -> list[Row]:
    """One row for each dataset, split and subset: the share of questions whose support titles lead to.

    Args:
        targets: The questions; those without titles are left out.
        kinds: The type of each.
        labels: Keys that all rows share.
        seed: Of the intervals.
    """
    groups: dict[tuple[str, str], list[tuple[Target, str]]] = defaultdict(list)
    for target, kind in zip(targets, kinds, strict=True):
        if target.title_reach is not None:
            groups[target.question.dataset, target.question.split].append((target, kind))
    return [
        {"dataset": dataset, "split": split, "system": ORACLE, "construction": "retrieval", "subset": subset}
        | labels
        | _sizes([target for target, _ in some])
        | _with_intervals(
            ("title_reach",),
            np.array([[bool(target.title_reach)] for target, _ in some], dtype=np.float64),
            [target for target, _ in some],
            seed=seed,
        )
        for (dataset, split), group in sorted(groups.items())
        for subset, some in _subsets(group, [kind for _, kind in group])
    ]


def _subsets(items: Sequence[T], kinds: Sequence[str]) -> Iterator[tuple[str, Sequence[T]]]:
    yield "all", items
    if len(set(kinds)) > 1:
        for kind in sorted(set(kinds)):
            yield kind or "untyped", [item for item, other in zip(items, kinds, strict=True) if other == kind]


def _figures(some: Sequence[Measured], *, seed: int) -> Row:
    targets = [one.target for one in some]
    ranks = [one.target.ranks(one.found.ids) for one in some]
    table = np.array([_shares(each) for each in ranks])
    times = [one.found.ms for one in some]
    return {
        **_sizes(targets),
        "lacking": sum(not target.complete for target in targets),
        **_with_intervals(tuple(FIGURES), table, targets, seed=seed),
        "all_support": mean(
            all_support_at(each, len(one.found.ids)) for each, one in zip(ranks, some, strict=True)
        ),
        "passages_per_question": mean(len(one.found.ids) for one in some),
        "calls_per_question": mean(one.found.calls for one in some),
        "ms_per_question": mean(times),
        "ms_p50": float(np.quantile(times, 0.5)),
        **_lost(some, table, seed=seed),
    }


def _lost(some: Sequence[Measured], table: NDArray[np.float64], *, seed: int) -> Row:
    """By how much each figure was higher before other text was mixed in, question by question."""
    before = [_shares(one.target.ranks(one.without_filler.ids)) for one in some if one.without_filler]
    if len(before) != len(some):
        return {}
    names = tuple(f"lost_{name}" for name in FIGURES)
    return _with_intervals(names, np.array(before) - table, [one.target for one in some], seed=seed)


def _shares(ranks: Ranks) -> list[float]:
    """The figures of one question; it has support, so each is defined."""
    return [figure(ranks) or 0.0 for figure in FIGURES.values()]


def _sizes(targets: Sequence[Target]) -> Row:
    return {"n": len(targets), "groups": len({target.question.group for target in targets})}


def _with_intervals(
    names: Sequence[str], table: NDArray[np.float64], targets: Sequence[Target], *, seed: int
) -> Row:
    """The mean of each column with its 95 % percentile interval over draws of complete groups, with replacement.

    The table has the shape `(questions, figures)`. Systems that are measured on the same groups share the draws.
    One group alone has no interval.
    """
    found = ratios([target.question.group for target in targets], table, seed=seed)
    row: Row = {}
    for at, name in enumerate(names):
        interval = found.interval(at)
        row[name], row[f"{name}_lo"], row[f"{name}_hi"] = interval.estimate, interval.lo, interval.hi
    return row
