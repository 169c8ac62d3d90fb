"""`cache-crash` and `speed cache`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from typing import Annotated

import typer

from .cli import Json, Seed, app, reporting
from .cli_speed import speed


@app.command()
def cache_crash(
    *,
    processes: Annotated[int, typer.Option("--processes", min=1, help="Writers at once.")] = 10,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long.")] = 60.0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Processes that share one cache are killed at random: is it whole, is an acknowledged write lost? (case C04)

    Each process stores, replaces and removes pages of its own, all of them replace one that they share, and now
    and then one makes the index follow. What a process has noted as done must be there at the end.

    lost: acknowledged writes that are not there. faults: what `sufficit cache verify` finds.

    Exit status 1 if anything was lost or is wrong.

    [bold]Example[/bold]

      python -m benchmarks cache-crash --processes 10 --seconds 120 --json
    """
    with reporting(as_json=as_json) as reports:
        from .cache_crash import run_cache_crash

        reports.append(run_cache_crash(processes=processes, seconds=seconds, seed=seed))
    if reports[0].failures:
        raise typer.Exit(1)


@speed.command()
def cache(
    *,
    size: Annotated[
        list[int] | None,
        typer.Option("--sizes", help="Passages of a cache; may be repeated. Default: 1000, 10000, 100000."),
    ] = None,
    queries: Annotated[int, typer.Option("--queries", min=1, help="Queries of each size.")] = 200,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How long the coverage cache takes to nominate passages, by the number of its passages.

    The text is invented; vectors are random, so that no build waits for a model: what the default encoder adds is
    measured by `speed index`. A query goes the whole way of a search's tier: a look into the journal, words and
    vectors, the fusion, the store about each candidate, freshness, the best ten.

    cpu_ms: processor time of the process, which other programs on the machine disturb less than ms.

    growth: the exponent of the 95th percentile by number of passages, 1 = in proportion; cpu_growth: of cpu_ms.

    [bold]Example[/bold]

      python -m benchmarks speed cache --sizes 1000 --sizes 10000 --json
    """
    with reporting(as_json=as_json) as reports:
        from .speed.cache import SIZES, run_speed_cache

        reports.append(run_speed_cache(sizes=sorted(size or SIZES), queries=queries, seed=seed))
