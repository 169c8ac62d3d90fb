"""All figures of all policies over one set of searches, on the data and on the same draws of the bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from policies.utility import Utility

from ..stats import Bootstrap, Interval, macro, ratios, weighted
from .board import Board, Numbers, Played
from .figures import Share, best_ends, shares
from .matched import fixed_ends, frontier_at, matched_rate, random_mean, stop_shares
from .selective import SELECTIVE, selective

Column: TypeAlias = tuple[str, str]
"""Policy and figure."""

HORIZON = "horizon"
"""Always answers at the last look."""
RANDOM = "random"
UNTIL_DRY = "until-dry"
"""A rival of the frontier, beside fixed numbers of calls."""
MATCHED = ("correct_decisions", "utility")
"""Figures that are compared with rivals at the same mean number of calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Columns by policy and figure."""

    columns: Mapping[Column, int]
    values: Bootstrap

    def interval(self, policy: str, figure: str) -> Interval:
        """The figure of a policy; all None where there is none."""
        at = self.columns.get((policy, figure))
        return _NOTHING if at is None else self.values.interval(at)

    def difference(self, policy: str, other: str, figure: str) -> Interval:
        """By how much a policy's figure lies above another one's, draw by draw."""
        pair = self._pair(policy, other, figure)
        return _NOTHING if pair is None else self.values.difference(*pair)

    def at_least(self, policy: str, other: str, figure: str) -> float | None:
        """One-sided lower bound of the difference, see `Bootstrap.at_least`."""
        pair = self._pair(policy, other, figure)
        return None if pair is None else self.values.at_least(*pair)

    def p_value(self, policy: str, other: str, figure: str) -> float | None:
        """That both are equal, see `Bootstrap.p_value`."""
        pair = self._pair(policy, other, figure)
        return None if pair is None else self.values.p_value(*pair)

    def _pair(self, policy: str, other: str, figure: str) -> tuple[int, int] | None:
        one, two = self.columns.get((policy, figure)), self.columns.get((other, figure))
        return None if one is None or two is None else (one, two)


def make_sheet(
    board: Board, plays: Mapping[str, Played], utility: Utility, *, matched_to: str | None, draws: int, seed: int
) -> Sheet:
    """The figures of each policy, and of `HORIZON`, over all searches of a board.

    A policy that left the record in any search has no figure at all. `RANDOM` is the exact expectation of a random
    stop with the mean calls of `matched_to`, and needs no play.
    """
    kept = {name: played for name, played in plays.items() if not played.off.any()}
    best = best_ends(board, utility)
    size = len(board.searches)
    everyone = np.ones(size, dtype=np.bool_)
    ends = [
        Played(look=look, answered=everyone, off=~everyone, reasons=()) for look in fixed_ends(board.looks, size)
    ]
    each = [shares(board, end, utility, best) for end in ends]
    table: dict[Column, Share] = {
        (f"look-{look}", figure): one[figure]
        for look, one in enumerate(each)
        for figure in (*MATCHED, "calls_per_question")
    }
    table |= {(HORIZON, figure): share for figure, share in each[-1].items()}
    for name, played in kept.items():
        table |= {(name, figure): share for figure, share in shares(board, played, utility, best).items()}
    if matched_to in kept:
        rate = _rate(board, kept[matched_to])
        table |= {(RANDOM, figure): share for figure, share in _mixed(each, rate).items()}
    sums = ratios(
        board.groups,
        np.stack([part for part, _ in table.values()], axis=1),
        np.stack([whole for _, whole in table.values()], axis=1),
        draws=draws,
        seed=seed,
    )
    scored = _selective(board, {**kept, HORIZON: ends[-1]}, draws=draws, seed=seed)
    summed = Sheet(columns={column: at for at, column in enumerate(table)}, values=sums)
    return _with_rivals(_beside(summed, scored), looks=board.looks)


def make_macro(sheets: Sequence[Sheet]) -> Sheet:
    """The unweighted mean over sheets of every figure that all of them have."""
    common = [column for column in sheets[0].columns if all(column in sheet.columns for sheet in sheets)]
    rows = [sheet.values.columns(*(sheet.columns[column] for column in common)) for sheet in sheets]
    return Sheet(columns={column: at for at, column in enumerate(common)}, values=macro(rows))


def derived(values: Bootstrap, make: Callable[[Numbers], Numbers]) -> Bootstrap:
    """Columns made of columns, on the data and in each draw alike: `make` takes `(draws, columns)`."""
    return Bootstrap(
        estimate=None if values.estimate is None else make(values.estimate[None])[0],
        draws=None if values.draws is None else make(values.draws),
    )


def _rate(board: Board, played: Played) -> float:
    """Stop rate of the random stop with the mean calls of these ends."""
    mean = board.at(board.calls, played.look).mean(keepdims=True)
    return float(matched_rate(board.calls.mean(axis=0, keepdims=True), mean)[0])


def _mixed(each: Sequence[Mapping[str, Share]], rate: float) -> Mapping[str, Share]:
    """What each search adds on average if it ends at random."""
    mix = stop_shares(rate, len(each))
    return {
        figure: (
            sum(weight * one[figure][0] for weight, one in zip(mix, each, strict=True)),
            sum(weight * one[figure][1] for weight, one in zip(mix, each, strict=True)),
        )
        for figure in each[0]
    }


def _selective(board: Board, plays: Mapping[str, Played], *, draws: int, seed: int) -> Sheet:
    """Areas and risks of the score at the stop. Policies that end everywhere alike share one computation."""
    looks = {played.look.tobytes(): played.look for played in plays.values()}
    places = {key: at for at, key in enumerate(looks)}

    def figures(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate(
            [
                selective(board.at(board.score, look), board.at(board.complete, look) > 0, weights)
                for look in looks.values()
            ],
            axis=1,
        )

    width = len(SELECTIVE)
    columns = {
        (name, figure): places[played.look.tobytes()] * width + at
        for name, played in plays.items()
        for at, figure in enumerate(SELECTIVE)
    }
    return Sheet(columns=columns, values=weighted(board.groups, figures, draws=draws, seed=seed))


def _with_rivals(sheet: Sheet, *, looks: int) -> Sheet:
    """With the gains over rivals at the same calls, and the share of calls that is saved against the horizon."""
    at = sheet.columns
    names = list(dict.fromkeys(name for name, _ in at if not name.startswith("look-")))
    own_calls = [at[name, "calls_per_question"] for name in names]
    fixed = [f"look-{look}" for look in range(looks)]
    rivals = [*fixed, *(name for name in (UNTIL_DRY,) if name in names)]

    def make(values: Numbers) -> Numbers:
        look_calls = values[:, [at[one, "calls_per_question"] for one in fixed]]
        rival_calls = values[:, [at[one, "calls_per_question"] for one in rivals]]
        by_look = {figure: values[:, [at[one, figure] for one in fixed]] for figure in MATCHED}
        by_rival = {figure: values[:, [at[one, figure] for one in rivals]] for figure in MATCHED}
        columns = []
        for name, calls in zip(names, own_calls, strict=True):
            wanted = values[:, calls]
            rate = matched_rate(look_calls, wanted)
            for figure in MATCHED:
                own = values[:, at[name, figure]]
                columns.append(own - random_mean(by_look[figure], rate))
                columns.append(own - frontier_at(rival_calls, by_rival[figure], wanted))
        saved = 1 - values[:, own_calls] / values[:, [at[HORIZON, "calls_per_question"]]]
        return np.column_stack([*columns, saved])

    new = [
        (name, f"{figure}_{rival}")
        for name in names
        for figure in MATCHED
        for rival in ("over_random", "over_frontier")
    ]
    new += [(name, "calls_saved") for name in names]
    made = Sheet(columns={column: place for place, column in enumerate(new)}, values=derived(sheet.values, make))
    return _beside(sheet, made)


def _beside(one: Sheet, other: Sheet) -> Sheet:
    """The columns of two sheets over the same searches and draws."""
    first, second = one.values, other.values
    shift = 0 if first.estimate is None else len(first.estimate)
    both = Bootstrap(estimate=_joined(first.estimate, second.estimate), draws=_joined(first.draws, second.draws))
    return Sheet(columns={**one.columns, **{name: at + shift for name, at in other.columns.items()}}, values=both)


def _joined(one: Numbers | None, other: Numbers | None) -> Numbers | None:
    return None if one is None or other is None else np.concatenate([one, other], axis=-1)


_NOTHING = Interval(estimate=None, lo=None, hi=None)
