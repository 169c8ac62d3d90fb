"""`speed index`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from typing import Annotated

import typer

from .cli import Json, Seed, reporting
from .cli_speed import speed


@speed.command()
def index(
    *,
    size: Annotated[
        list[int] | None,
        typer.Option("--sizes", help="Passages of an index; may be repeated. Default: 5000, 37000, 300000."),
    ] = None,
    queries: Annotated[int, typer.Option("--queries", help="Queries of each size.")] = 100,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """What the local index costs by its size: to build, on the disk, and to ask by words, by vectors and by both.

    The text is invented, its words as frequent as those of a language; vectors are random, so that no build waits
    for a model. What the default encoder adds is measured apart, on a few passages: case encoder.

    ratio_to_rank_bm25 and ratio_to_numpy_dot: the index's median by that of rank-bm25 and of a product of all
    vectors with one, on the same queries in the same process with one thread; below 1 the index is faster.
    rank-bm25 takes seconds a query at 300,000 passages, and gigabytes: rank_bm25_n says how many it was asked.

    growth: the exponent of time by number of passages, 1 = in proportion.

    [bold]Examples[/bold]

      python -m benchmarks speed index --json

      python -m benchmarks speed index --sizes 5000 --sizes 37000
    """
    with reporting(as_json=as_json) as reports:
        from .speed.index import SIZES, IndexSpeedOptions, run_speed_index

        options = IndexSpeedOptions(sizes=tuple(size or SIZES), queries=queries, seed=seed)
        reports.append(run_speed_index(options))
