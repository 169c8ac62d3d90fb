"""Bars for the cache and for the web, chosen on explored searches at declared prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from policies.bars import Bars
from policies.utility import Utility

from .exploring import CACHE_LOOKS, WEB_LOOKS, Explored, Look

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CACHE_PRICE = 0.005
"""What a call to the cache costs where a right answer is worth 1: so that of equals the shorter search wins."""
PAGE_SHARE = 0.25
"""Of the declared price of a call, what a call to the web costs: it reads one page, an ordinary one four."""
MOST_FALSE_HITS = 0.05
"""Of all searches, those that may be answered from the cache on incomplete support. Without a cap the cache would
answer nearly everything that resembles its pages: a wrong hit is priced as an answer that was searched for, though
nobody was asked."""
_PENALTY = 10.0
"""For each false hit above the cap: more than any answer is worth."""
_QUANTILES = np.linspace(0.02, 0.98, 33)
_SWEEPS = 4
_NEVER, _ALWAYS = 1e9, -1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Explored searches as arrays, one row a question; a look that was not possible repeats the one before."""

    scores: Floats
    """(questions, looks), the cache's first; `_ALWAYS` without a score: never an answer."""
    shares: Floats
    """Share of the support that would be served, in [0, 1]."""
    fetches: Floats
    answerable: Flags
    complete: Flags
    """Whether all support would be served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """For each look the bar to answer from and the one to leave below; the last look of the web has no second."""

    upper: tuple[float, ...]
    lower: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Where each search ends under some bars; arrays over the questions."""

    look: NDArray[np.intp]
    """The last look that was taken."""
    cache_calls: Floats
    web_calls: Floats
    answered: Flags

    @property
    def hits(self) -> Flags:
        """Answered from the cache."""
        return self.answered & (self.look < CACHE_LOOKS)


def table_of(explored: Sequence[Explored]) -> Table:
    """The arrays."""
    looks = [_filled(one) for one in explored]
    needs = np.array([max(one.needs, 1) for one in explored], dtype=float)
    answerable = np.array([one.needs > 0 for one in explored])
    shares = np.array([[float(look.held) for look in row] for row in looks]) / needs[:, None]
    return Table(
        scores=np.array([[_ALWAYS if look.score is None else look.score for look in row] for row in looks]),
        shares=shares,
        fetches=np.array([[float(look.fetches) for look in row] for row in looks]),
        answerable=answerable,
        complete=answerable[:, None] & (shares >= 1),
    )


def play(table: Table, levels: Levels) -> Ends:
    """What `CoverageBars` would do. Below the lower bar the cache is left for the web, and the web for good."""
    return _play(table, np.array([levels.upper]), np.array([levels.lower]))[0]


def worths(table: Table, ends: Ends, utility: Utility) -> Floats:
    """Utility of each search: a complete answer, an incomplete one, or none; less its calls."""
    complete = table.complete[np.arange(len(table.scores)), ends.look]
    gain = np.where(ends.answered, np.where(complete, utility.right, -utility.wrong), 0.0)
    return gain - CACHE_PRICE * ends.cache_calls - PAGE_SHARE * utility.call_price * ends.web_calls


def climb(table: Table, utility: Utility) -> Levels:
    """The best bars that coordinate ascent finds from a grid of beginnings; the same every time.

    Best is the mean utility with no more than `MOST_FALSE_HITS`.

    Each bar is tried at 33 quantiles of the scores of its look, and at "never": a bar to answer from is always one
    that some score failed. Linear in questions, looks, beginnings and sweeps.
    """
    steps = [_quantiles(table.scores[:, place]) for place in range(table.scores.shape[1])]
    climbed = [_ascended(table, utility, begin, steps) for begin in _beginnings()]
    _worth, (upper, lower) = max(climbed, key=lambda pair: pair[0])
    return Levels(upper=tuple(map(float, upper)), lower=tuple(map(float, lower)))


def as_bars(levels: Levels) -> tuple[Bars, Bars]:
    """The bars of the cache and those of the web. After the last look of each there is nothing between them."""
    cache = _as_bars(levels.upper[:CACHE_LOOKS], levels.lower[:CACHE_LOOKS])
    return cache, _as_bars(levels.upper[CACHE_LOOKS:], levels.lower[CACHE_LOOKS:])


def _as_bars(upper: tuple[float, ...], lower: tuple[float, ...]) -> Bars:
    last = round(upper[-1], 6)
    ups = [None if bar >= _NEVER else round(bar, 6) for bar in upper[:-1]]
    downs = [None if bar <= _ALWAYS else round(bar, 6) for bar in lower[:-1]]
    downs = [low if low is None or up is None else min(low, up) for up, low in zip(ups, downs, strict=True)]
    return Bars(answer_at=(*ups, last), abstain_below=(*downs, last))


def _filled(one: Explored) -> list[Look]:
    nothing = Look(score=None, held=0, fetches=0)
    cache = [*one.cache] or [nothing]
    cache += [cache[-1]] * (CACHE_LOOKS - len(cache))
    web = [*one.web] or [cache[-1]]
    return [*cache[:CACHE_LOOKS], *web[:WEB_LOOKS], *[web[-1]] * (WEB_LOOKS - len(web))]


def _quantiles(scores: Floats) -> list[float]:
    known = scores[scores > _ALWAYS]
    return [float(value) for value in np.quantile(known, _QUANTILES)] if known.size else []


def _beginnings() -> list[Floats]:
    """Level bars and falling ones for the web, each without a bar to leave below and with one: (2, looks)."""
    webs = [(bar,) * (WEB_LOOKS - 1) + (last,) for bar, last in ((0.3, -3.0), (0.9, 0.0), (1.5, 0.0))]
    webs.append(tuple(float(bar) for bar in np.linspace(1.8, -0.3, WEB_LOOKS)))
    found = []
    for cache, web, low in product((-1.0, 0.0, 1.0), webs, (_ALWAYS, -1.0)):
        lower = (_ALWAYS,) * CACHE_LOOKS + (low,) * (WEB_LOOKS - 1) + (_ALWAYS,)
        found.append(np.array([(cache,) * CACHE_LOOKS + web, lower]))
    return found


def _ascended(
    table: Table, utility: Utility, bars: Floats, steps: Sequence[Sequence[float]]
) -> tuple[float, Floats]:
    """The worth and the bars at which moving no single one helps, or after the last sweep."""
    best = _means(table, utility, bars[None])[0]
    for _ in range(_SWEEPS):
        before = best
        for place, values in enumerate(steps):
            for side, extreme in enumerate((_NEVER, _ALWAYS)):
                others = np.repeat(bars[None], len(values) + 1, axis=0)
                others[:, side, place] = [*values, extreme]
                means = _means(table, utility, others)
                if means.max() > best + 1e-9:
                    best, bars = means.max(), others[means.argmax()]
        if best - before < 1e-6:
            break
    return float(best), bars


def _means(table: Table, utility: Utility, bars: Floats) -> Floats:
    """Mean worth of each of several bars, shape (bars, 2, looks), less the penalty for more false hits."""
    means = []
    for end in _play(table, bars[:, 0], bars[:, 1]):
        complete = table.complete[np.arange(len(table.scores)), end.look]
        above = (end.hits & ~complete).mean() - MOST_FALSE_HITS
        means.append(worths(table, end, utility).mean() - _PENALTY * max(above, 0.0))
    return np.array(means)


def _play(table: Table, upper: Floats, lower: Floats) -> list[Ends]:
    """The ends under each of several bars, both of shape (bars, looks)."""
    shape = (len(upper), len(table.scores))
    look = np.zeros(shape, dtype=np.intp)
    calls = {True: np.zeros(shape), False: np.zeros(shape)}
    answered, over, left = (np.zeros(shape, dtype=np.bool_) for _ in range(3))
    for place in range(CACHE_LOOKS + WEB_LOOKS):
        in_cache = place < CACHE_LOOKS
        here = ~over & ~(left & in_cache)
        look[here] = place
        calls[in_cache] += here
        scores = table.scores[None, :, place]
        up = here & (scores > _ALWAYS) & (scores >= upper[:, place, None])
        down = here & ~up & (scores < lower[:, place, None])
        answered |= up
        over |= up
        if in_cache:
            left |= down
        else:
            over |= down
    return [
        Ends(look=look[row], cache_calls=calls[True][row], web_calls=calls[False][row], answered=answered[row])
        for row in range(len(upper))
    ]
