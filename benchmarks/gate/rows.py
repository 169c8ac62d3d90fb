"""From replies, scores and thresholds to flat rows: one a test and generator, and one over all tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..output import Row
from ..stats import Bootstrap, auroc, ratios
from .draw import Drawn
from .threshold import Ground, Point, by_test, tradeoff

ALL: tuple[str, str] = ("all", "all")
"""Dataset and construction of the row over all tests."""

_FIGURES = (
    "answered_insufficient",
    "gated_answered_insufficient",
    "answers_prevented",
    "refused_sufficient",
    "gated_refused_sufficient",
    "refusals_added",
    "generation_skipped",
    "time_saved",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One record with one generator."""

    record: Drawn
    refused: bool
    """By the generator itself."""
    seconds: float
    """Of its reply."""
    stopped: bool
    """By the gate: without a call, and counted as refused."""
    score_seconds: float

    @property
    def gated_seconds(self) -> float:
        """With the gate: its score, and the reply where it lets the record pass."""
        return self.score_seconds + (0.0 if self.stopped else self.seconds)


def gate_rows(cases: Sequence[Case], labels: Row, *, draws: int, seed: int) -> list[Row]:
    """The rows of one generator, tests in alphabetical order, then all of them together.

    Shares are in [0, 1], with 95 % intervals `_lo`, `_hi` by drawing whole clusters again; with and without the
    gate on the same draws.

    * `answered_insufficient`: of the insufficient records those that are answered; `answers_prevented`: of these
      answers the share that the gate prevents;
    * `refused_sufficient`: of the sufficient records those that are refused; `refusals_added`: those that the
      generator answers and the gate stops;
    * `generation_skipped`: share of the generator's time in records that the gate stops; `time_saved`: the same
      less the time of all scores, so below 0 where the gate costs more than it spares. Both depend on how many
      records are insufficient: here half of them.
    """
    tests: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        tests[case.record.test].append(case)
    tables = [*sorted(tests.items()), (ALL, list(cases))] if cases else []
    return [
        {"dataset": dataset, "construction": construction, **labels, **_row(found, draws=draws, seed=seed)}
        for (dataset, construction), found in tables
    ]


def _row(cases: Sequence[Case], *, draws: int, seed: int) -> Row:
    drawn = _ratios(cases, draws=draws, seed=seed)
    counts = Counter(case.record.side.sufficient for case in cases)
    row: Row = {
        "n_sufficient": counts[True],
        "n_insufficient": counts[False],
        "groups": len({case.record.contrast.key for case in cases}),
    }
    for column, name in enumerate(_FIGURES):
        found = drawn.interval(column)
        row |= {name: found.estimate, f"{name}_lo": found.lo, f"{name}_hi": found.hi}
    for name, seconds in (
        ("ms", [case.seconds for case in cases]),
        ("gated_ms", [case.gated_seconds for case in cases]),
        ("score_ms", [case.score_seconds for case in cases]),
    ):
        row |= {f"{name}_p{share}": float(np.percentile(seconds, share)) * 1_000 for share in (50, 95)}
    return row


def _ratios(cases: Sequence[Case], *, draws: int, seed: int) -> Bootstrap:
    """The figures of `_FIGURES`, each a sum over records by another."""
    bad = np.array([not case.record.side.sufficient for case in cases], dtype=np.float64)
    answered = np.array([not case.refused for case in cases], dtype=np.float64)
    passed = np.array([not case.stopped for case in cases], dtype=np.float64)
    seconds = np.array([case.seconds for case in cases])
    score_seconds = np.array([case.score_seconds for case in cases])
    good, stopped = 1 - bad, 1 - passed
    columns = (
        (bad * answered, bad),
        (bad * answered * passed, bad),
        (bad * answered * stopped, bad * answered),
        (good * (1 - answered), good),
        (good * (1 - answered * passed), good),
        (good * answered * stopped, good),
        (seconds * stopped, seconds),
        (seconds * stopped - score_seconds, seconds),
    )
    parts, wholes = (np.stack(side, axis=1) for side in zip(*columns, strict=True))
    return ratios([case.record.cluster for case in cases], parts, wholes, draws=draws, seed=seed)


def training_rows(
    grounds: Mapping[str, Ground],
    points: Mapping[str, Sequence[Point]],
    thresholds: Mapping[str, float],
    labels: Row,
) -> list[Row]:
    """What each threshold does to the contrasts that it was chosen on: by test, then over all of the ground.

    A generator that answers nearly everything can expect these rates: `stopped_insufficient` of its answers on
    insufficient records are prevented, `stopped_sufficient` of the sufficient ones are lost.
    """
    rows: list[Row] = []
    for name, at in sorted(thresholds.items()):
        tests: list[tuple[tuple[str, str], Sequence[Point]]] = [
            *by_test(points[name]).items(),
            (ALL, points[name]),
        ]
        for (dataset, construction), found in tests:
            done = tradeoff(found, at)
            row: Row = {"dataset": dataset, "construction": construction, **labels}
            row |= {"ground": name, "without": grounds[name].without, "threshold": at}
            row |= {"n_sufficient": done.sufficient, "n_insufficient": done.insufficient}
            row |= {
                "stopped_sufficient": done.stopped_sufficient,
                "stopped_insufficient": done.stopped_insufficient,
                "auroc": auroc([point.score for point in found], [point.sufficient for point in found]),
            }
            rows.append(row)
    return rows
