"""Figures of each strategy over the second half of the stream, and the comparisons that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..output import Row
from ..stats import Interval, ratios
from .lines import Line
from .tuning import support_recall

MATCHED = 0.03
"""Support recalls that differ by no more count as equal."""

_Part = Callable[[Line], tuple[float, float]]
RATES: Mapping[str, _Part] = {
    "fetches": lambda line: (line.pages, 1),
    "searches": lambda line: (line.searches, 1),
    "kilobytes": lambda line: (line.bytes / 1000, 1),
    "hits": lambda line: (line.hit, 1),
    "false_hits": lambda line: (line.false_hit, line.answerable),
    "false_hits_unanswerable": lambda line: (line.hit and not line.answerable, not line.answerable),
    "false_misses": lambda line: (line.false_miss, line.complete_before is not None),
    "support_recall": lambda line: (line.held / line.needs if line.needs else 0, line.needs > 0),
    "stale": lambda line: (line.stale, line.served),
}
"""What is summed above and below the line."""


def strategy_rows(lines: Mapping[str, Sequence[Line]], *, seed: int) -> list[Row]:
    """A row for each strategy: each rate with its 95 % interval, and the latency."""
    return [_row(name, own, seed=seed) for name, own in lines.items()]


def comparison_rows(
    lines: Mapping[str, Sequence[Line]], pairs: Sequence[tuple[str, str]], *, seed: int
) -> list[Row]:
    """By how much the first of each pair is above the second, question by question, with intervals."""
    return [_comparison(lines, one, other, seed=seed) for one, other in pairs]


def best_similarity(lines: Mapping[str, Sequence[Line]], coverage: str, others: Sequence[str]) -> str | None:
    """Of the similarity strategies with the support recall of coverage, the one that fetched least; None = none.

    The same recall is one that is less by `MATCHED` at most. Chosen on the figures themselves, which favours it.
    """
    bar = support_recall(lines[coverage]) - MATCHED
    near = [name for name in others if support_recall(lines[name]) >= bar]
    return min(near, key=lambda name: sum(line.pages for line in lines[name]), default=None)


def _row(name: str, lines: Sequence[Line], *, seed: int) -> Row:
    row: Row = {"strategy": name, "questions": len(lines), "answerable": sum(line.answerable for line in lines)}
    clusters = [line.cluster for line in lines]
    for rate, part in RATES.items():
        above, below = np.array([part(line) for line in lines], dtype=float).reshape(-1, 2).T
        interval = ratios(clusters, above[:, None], below[:, None], seed=seed).interval(0)
        row |= _named(rate, interval)
    row["false_hits_counted"] = sum(line.false_hit for line in lines)
    row["false_misses_counted"] = sum(line.false_miss for line in lines)
    row["calls"] = sum(line.calls for line in lines) / len(lines)
    seconds = [line.seconds for line in lines]
    row["seconds_p50"], row["seconds_p95"] = (float(np.quantile(seconds, share)) for share in (0.5, 0.95))
    return row


def _comparison(lines: Mapping[str, Sequence[Line]], one: str, other: str, *, seed: int) -> Row:
    row: Row = {"strategy": f"{one} minus {other}", "questions": len(lines[one])}
    clusters = [line.cluster for line in lines[one]]
    for rate, part in RATES.items():
        table = np.array([[part(line) for line in lines[name]] for name in (one, other)], dtype=float)
        above, below = table[:, :, 0].T, table[:, :, 1].T
        row |= _named(rate, ratios(clusters, above, below, seed=seed).difference(0, 1))
    for name, count in (("fetches", _fetches), ("false_hits", _false_hits)):
        whole = count(lines[other])
        row[f"{name}_of_it"] = count(lines[one]) / whole if whole else None
    return row


def _fetches(lines: Sequence[Line]) -> int:
    return sum(line.pages for line in lines)


def _false_hits(lines: Sequence[Line]) -> int:
    return sum(line.false_hit for line in lines)


def _named(rate: str, interval: Interval) -> Row:
    return {rate: interval.estimate, f"{rate}_lo": interval.lo, f"{rate}_hi": interval.hi}
