"""The scorers as a table for people: backbone, times, accuracy, and the paper's figures beside them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from ..output import Row
from .legend import FAIR_READING, NOT_RUN
from .rows import ALL
from .sample import SUBSET as SAMPLED

_COLUMNS = ("system", "backbone", "reads", "mean", "worst", "p50 ms", "p95 ms", "records/s")
_PAPER = ("paper: size", "mean", "worst", "p50 ms")


def roster(legend: Sequence[Row], rows: Sequence[Row]) -> Table:
    """A line for each scorer; mean and worst over the sample's headline tests where there is a sample.

    Args:
        legend: Rows of kind `system`.
        rows: The others.
    """
    subset = SAMPLED if any(row["subset"] == SAMPLED for row in rows) else ALL
    known = {
        (row["system"], row["dataset"]): row
        for row in rows
        if row["construction"] == "headline" and row["subset"] == subset and not row.get("readers")
    }
    table = Table(title="What was run where", title_justify="left", caption=FAIR_READING, caption_justify="left")
    for name in (*_COLUMNS, *_PAPER):
        table.add_column(name, justify="left" if name in _COLUMNS[:3] else "right")
    for one in legend:
        mean, worst = (known.get((one["system"], fold), {}) for fold in ("macro", "worst"))
        absent = one["status"] == NOT_RUN
        ours = (mean.get("pairwise_accuracy"), worst.get("pairwise_accuracy"))
        times = (mean.get("ms_p50"), mean.get("ms_p95"), mean.get("records_per_second"))
        paper = (one.get("paper_average"), one.get("paper_worst"))
        table.add_row(
            escape(str(one["system"])),
            escape(f"not run here: lacks {one['missing']}" if absent else str(one["backbone"] or "-")),
            str(one["reads"]),
            *map(_share, ours),
            *map(_time, times),
            str(one.get("paper_backbone") or "-"),
            *map(_share, paper),
            _time(one.get("paper_ms_p50")),
        )
    return table


def _share(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else "-"


def _time(value: object) -> str:
    if not isinstance(value, int | float):
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
