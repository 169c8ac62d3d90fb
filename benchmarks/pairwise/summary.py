"""Mean and worst over the headline rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..output import Row
from ..stats import macro, worst
from .figures import difference_row, interval_row, times
from .rows import ALL, Draws


def summary(
    headline: Sequence[Mapping[str, Draws]], *, reference: str | None, labels: Row, subset: str = ALL
) -> list[Row]:
    """Two rows for each system that has a figure in every headline row: `macro` and `worst`.

    `n` is the number of headline rows. Rows are drawn independently of one another. Times are over the sides of
    all of them.
    """
    if not headline:
        return []
    systems = [name for name in headline[0] if all(name in row for row in headline)]
    rows: list[Row] = []
    for name, fold in (("macro", macro), ("worst", worst)):
        for system in systems:
            own = fold([row[system].own for row in headline])
            paired = fold([row[system].paired for row in headline])
            row = labels | {"dataset": name, "construction": "headline", "subset": subset, "system": system}
            row |= {"n": len(headline)} | interval_row("pairwise_accuracy", own.interval(0))
            row |= times([spent for one in headline for spent in one[system].milliseconds])
            rows.append(row if reference is None else row | difference_row(reference, paired))
    return rows
