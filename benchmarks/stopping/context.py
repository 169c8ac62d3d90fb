"""Rows that belong to no policy: how well the score ranks, and whether any policy can win."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from policies.utility import Utility

from ..output import Row
from ..stats import Bootstrap, macro, ratios, weighted
from .board import Board, Numbers
from .figures import best_ends, worths
from .matched import fixed_ends
from .rows import Part, labels, with_ends
from .selective import selective
from .sheet import derived

SCORE = "auroc-at-look"
GAIN = "oracle-gain"
_NIL = 1e-9


def score_rows(parts: Sequence[Part], *, draws: int, seed: int) -> Iterator[Row]:
    """Pooled AUROC of the score after each look, whatever a policy would have done: printed before anything else.

    After look k every search counts with the evidence of its k-th look, of its last one if it ended before.
    """
    found = {id(part): _by_look(part.board, draws=draws, seed=seed) for part in parts if part.board is not None}
    for part in parts:
        if part.board is not None:
            mine = found[id(part)]
        else:
            same = [one for one in parts if one.subset == part.subset and one.board is not None]
            looks = min(one.board.looks for one in same if one.board is not None)
            mine = macro([found[id(one)].columns(*range(looks)) for one in same])
        for look in range(0 if mine.estimate is None else len(mine.estimate)):
            yield {
                **labels(part, case=SCORE),
                "look": look + 1,
                "headline": part.subset == "all",
                **with_ends("auroc", mine.interval(look)),
            }


def gain_rows(parts: Sequence[Part], utility: Utility, *, draws: int, seed: int) -> Iterator[Row]:
    """By how much the oracle of the utility beats the best policy that looks at nothing (case E04).

    These policies are: abstain at once, or answer after a fixed number of calls. In each draw the best of them is
    chosen anew. Where the gain is nil, differences between policies are noise: no policy can win.
    """
    found = {id(part): _gain(part.board, utility, draws=draws, seed=seed) for part in parts if part.board}
    for part in parts:
        same = [part] if part.board else [one for one in parts if one.subset == part.subset and one.board]
        interval = macro([found[id(one)] for one in same]).interval(0)
        nil = interval.estimate is not None and interval.estimate <= _NIL
        yield {
            **labels(part, case=GAIN),
            "headline": part.subset == "all",
            "note": "no policy can win here: the oracle gains nothing over a policy that looks at nothing"
            if nil
            else "",
            **with_ends("oracle_gain", interval),
        }


def _by_look(board: Board, *, draws: int, seed: int) -> Bootstrap:
    def figures(weights: Numbers) -> Numbers:
        columns = [
            selective(board.score[:, look], board.complete[:, look], weights)[:, 0] for look in range(board.looks)
        ]
        return np.stack(columns, axis=1)

    return weighted(board.groups, figures, draws=draws, seed=seed)


def _gain(board: Board, utility: Utility, *, draws: int, seed: int) -> Bootstrap:
    size = len(board.searches)
    ends = fixed_ends(board.looks, size)
    everyone = np.ones(size, dtype=np.bool_)
    blind = [worths(board, ends[0], ~everyone, utility)] + [
        worths(board, look, everyone, utility) for look in ends
    ]
    table = np.stack([best_ends(board, utility).utility, *blind], axis=1)
    means = ratios(board.groups, table, draws=draws, seed=seed)
    return derived(means, lambda values: (values[:, 0] - values[:, 1:].max(axis=1))[:, None])
