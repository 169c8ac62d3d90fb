"""Tables of the report of `replay`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..output import Row
from ..stopping.roster import DEFAULT
from ..stopping.rows import MARGIN
from .figures import NONE, cell, digits, number
from .page import Cell, Group, Line, Table
from .replayed import Replayed, uses_gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A column of figures."""

    key: str
    """Of the rows."""
    title: str
    places: int = 3
    percent: bool = False
    best: int = 0
    """1: the highest is the best, -1: the lowest. 0: no mark, since whoever looks at nothing can have the best."""
    subset: str = "all"


MAIN = (
    Figure(key="correct_decisions", title="correct decisions, % ↑", places=1, percent=True, best=1),
    Figure(key="utility", title="utility ↑", best=1),
    Figure(key="regret_utility", title="regret ↓", best=-1),
    Figure(key="calls_per_question", title="calls ↓", places=2),
    Figure(key="coverage", title="answered, %", places=1, percent=True),
    Figure(key="risk", title="risk, % ↓", places=1, percent=True),
    Figure(key="supported_refused", title="supported refused, % ↓", places=1, percent=True),
    Figure(key="unsupported_answered", title="unsupported answered, % ↓", places=1, percent=True),
    Figure(key="em", title="EM, % ↑", places=1, percent=True),
    Figure(key="f1", title="F1, % ↑", places=1, percent=True),
    Figure(key="correct_decisions_over_frontier", title="above the frontier, points ↑", places=1, percent=True),
)
"""What a paper prints."""
MORE = (
    Figure(key="correct_decisions", title="correct: originals, %", places=1, percent=True, subset="original"),
    Figure(key="correct_decisions", title="correct: twins, %", places=1, percent=True, subset="twin"),
    Figure(key="support_recall", title="support found, %", places=1, percent=True),
    Figure(key="over_search", title="calls after completion", places=2),
    Figure(key="under_search", title="stopped too early, %", places=1, percent=True),
    Figure(key="stop_minus_oracle", title="turns beyond the oracle", places=2),
    Figure(key="auroc", title="AUROC at the stop"),
    Figure(key="aurc", title="AURC ↓"),
    Figure(key="risk@0.5", title="risk at coverage 0.5, %", places=1, percent=True),
    Figure(key="passages_scored", title="passages scored", places=1),
    Figure(key="tokens", title="tokens", places=0),
    Figure(key="seconds", title="seconds", places=2),
    Figure(key="price", title="price", places=4),
    Figure(key="utility_p_holm", title="p, Holm", places=3),
)
"""What explains it."""
COSTS = (
    "Calls after completion: made although the support was complete. Stopped too early: before the support was "
    "complete, of searches where it would have become so. Turns beyond the oracle: after the best end. AURC: area "
    "under the risk-coverage curve, by the score at the stop. p, Holm: that the utility equals the default's, "
    "adjusted for the number of policies."
)
_ALIKE = 1e-9
MARKS = (
    "★ marks the best of a column among policies that use no gold, equals included. Columns that a policy which "
    "looks at nothing can win (never answering has no risk, answering always the most right answers, answering at "
    "once the fewest calls) carry no mark. Brackets: 95 % intervals, not adjusted for the number of policies."
)
WORDS = (
    "Risk: answers without complete support, of all answers. Supported refused: of searches whose support is "
    "complete at the horizon, those not answered. Unsupported answered: of the others, those answered. Above the "
    "frontier: correct decisions above the best mixture of fixed numbers of calls and until-dry with as many "
    "calls."
)


def policies_table(found: Replayed, figures: Sequence[Figure], *, caption: str, notes: Sequence[str]) -> Table:
    """A line for each policy; those that use gold apart, at the end."""
    free = [name for name in found.policies if not uses_gold(name)]
    gold = [name for name in found.policies if uses_gold(name)]
    top = {at: _best(found, figure, free) for at, figure in enumerate(figures)}
    groups = [
        Group(
            title=title,
            lines=[
                Line(
                    name=name,
                    strong=name == DEFAULT,
                    cells=[_figure(found, figure, name, top[at]) for at, figure in enumerate(figures)],
                )
                for name in names
            ],
        )
        for title, names in (("Policies without gold", free), ("Oracles: they know the annotations", gold))
        if names
    ]
    return Table(
        caption=caption, columns=["policy", *(figure.title for figure in figures)], groups=groups, notes=notes
    )


def _rows(found: Replayed, figure: Figure) -> Mapping[str, Row]:
    return {"all": found.policies, "original": found.originals, "twin": found.twins}[figure.subset]


def _best(found: Replayed, figure: Figure, names: Sequence[str]) -> float | None:
    """The best value of a column; None where none is marked: nothing defined, or no policy can win."""
    if not figure.best or found.hopeless:
        return None
    values = [number(_rows(found, figure).get(name), figure.key) for name in names]
    known = [value * figure.best for value in values if value is not None]
    return max(known) * figure.best if known else None


def _figure(found: Replayed, figure: Figure, name: str, top: float | None) -> Cell:
    row = _rows(found, figure).get(name)
    value = number(row, figure.key)
    best = not uses_gold(name) and value is not None and top is not None and abs(value - top) <= _ALIKE
    return cell(row, figure.key, figure.places, percent=figure.percent, best=best)


def score_table(parts: Sequence[Replayed]) -> Table | None:
    """Pooled AUROC of the score after each look; None where none is defined."""
    looks = max((len(part.scores) for part in parts), default=0)
    if not looks:
        return None
    lines = [
        Line(
            name=part.title,
            cells=[
                *(cell(row, "auroc") for row in part.scores),
                *(Cell(text=NONE) for _ in range(looks - len(part.scores))),
                cell(part.default, "auroc"),
            ],
        )
        for part in parts
    ]
    return Table(
        caption="Pooled AUROC of the score: how well it tells complete from incomplete support. 0.5 is chance.",
        columns=["dataset", *(f"after look {look}" for look in range(1, looks + 1)), "where the default stops"],
        groups=[Group(title="", lines=lines)],
        notes=["Originals and twins together; a search that ended before a look counts with its last one."],
    )


def default_table(parts: Sequence[Replayed]) -> Table | None:
    """The default against its rivals, a line for each dataset; None where it was not compared."""
    known = [part for part in parts if part.default is not None]
    if not known:
        return None
    points = 100 * MARGIN
    note = (
        "Frontier: the best mixture of fixed numbers of calls and until-dry with as many calls as the default. "
        "Horizon: answering always, at the last look. Not worse: the one-sided 95 % bound of the difference in "
        f"correct decisions lies above {digits(-points, 0)} points."
    )
    columns = [
        "dataset",
        "correct decisions, %",
        "above the frontier, points",
        "above a random stop, points",
        "calls",
        "calls saved against the horizon, %",
        "correct against the horizon, points",
        f"not worse by {digits(points, 0)} points",
        "supported refused, %",
        "unsupported answers avoided, %",
        "regret",
        "rival with the lowest regret",
        "its regret above the default's",
    ]
    return Table(
        caption="The default against rivals on the same searches",
        columns=columns,
        groups=[Group(title="", lines=[Line(name=part.title, cells=_default(part)) for part in known])],
        notes=[note],
    )


def _default(part: Replayed) -> list[Cell]:
    row = part.default
    assert row is not None  # noqa: S101  the table takes only these
    bound = number(row, "correct_decisions_vs_horizon_at_least")
    enough = row.get("not_worse_than_horizon")
    rival = lowest_regret(part)
    return [
        cell(row, "correct_decisions", 1, percent=True),
        cell(row, "correct_decisions_over_frontier", 1, percent=True),
        cell(row, "correct_decisions_over_random", 1, percent=True),
        cell(row, "calls_per_question", 2),
        cell(row, "calls_saved", 1, percent=True),
        cell(row, "correct_decisions_vs_horizon", 1, percent=True),
        Cell(
            text=NONE if enough is None else "yes" if enough else "no",
            interval="" if bound is None else f"at least {digits(bound, 1, percent=True)}",
        ),
        cell(row, "supported_refused", 1, percent=True),
        cell(row, "unsupported_cut", 1, percent=True),
        cell(row, "regret_utility"),
        Cell(text=rival or NONE),
        cell(part.policies.get(rival or ""), "regret_utility_vs_default"),
    ]


def lowest_regret(part: Replayed) -> str | None:
    """The policy without gold, other than the default, with the lowest regret; the first of equals."""
    known = {
        name: value
        for name, row in part.policies.items()
        if name != DEFAULT and not uses_gold(name) and (value := number(row, "regret_utility")) is not None
    }
    return min(known, key=lambda name: known[name], default=None)
