"""Recording searches for the comparison of stop policies. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Corpus, Json, Limit, OwnIndex, Questions, Seed, app, reporting


@app.command()
def record(
    *,
    out: Annotated[Path, typer.Option("--out", help="The run file; a stopped run goes on where it ended.")],
    questions: Questions = None,
    corpus: Corpus = None,
    index: OwnIndex = None,
    calls: Annotated[int, typer.Option("--calls", help="Horizon: calls of each search, one a turn.")] = 6,
    k: Annotated[int, typer.Option("--k", help="Passages that one call asks for.")] = 5,
    twins: Annotated[
        bool, typer.Option("--twins/--no-twins", help="Also search for each question with its support masked.")
    ] = True,
    limit: Limit = None,
    processes: Annotated[
        int, typer.Option("--processes", help="Searches at once; changes times, not what is found.")
    ] = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Search to the end of the horizon, whatever the score, and keep everything: record once, replay many.

    Each line of the file is one search: its trace with texts, how much of the annotated support the evidence held
    after each call, and the answer that would have been given then. Any stop policy can then be decided on the
    same evidence (`replay`), and thresholds be calibrated (`sufficit calibrate`).

    A question's twin is the same search with its support masked at query time: gold passages, near copies of them
    and other passages of their articles. The label says "annotated support is complete", never "answerable".

    Resuming needs the same settings and the same code; a larger --limit keeps what a smaller one recorded.

    [bold]Examples[/bold]

      python -m benchmarks record --out demo.run.jsonl

      python -m benchmarks record --questions a.dev.jsonl.gz --questions b.dev.jsonl.gz --corpus pool.jsonl.gz
        --limit 100 --processes 2 --out dev.run.jsonl
    """
    with reporting(as_json=as_json) as reports:
        from .stopping.record import RecordOptions, run_record

        options = RecordOptions(
            out=out,
            questions=tuple(questions or ()),
            corpus=corpus,
            index=index,
            calls=calls,
            k=k,
            twins=twins,
            limit=limit,
            seed=seed,
            processes=processes,
        )
        reports.append(run_record(options))
