"""`gate`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, app, reporting


@app.command()
def gate(
    *,
    generator: Annotated[
        list[str] | None,
        typer.Option(
            "--generator",
            help="A local model's name or folder; endpoint: the model that sufficit.toml or SUFFICIT_LLM_* name; "
            "endpoint:MODEL: another one of that server. May be repeated. Default: SmolLM2-135M-Instruct.",
        ),
    ] = None,
    scorer: Annotated[
        str,
        typer.Option(
            "--scorer",
            help="What decides: rinse-small; rinse-odds, which compares multi-hop questions better; or any other "
            "scorer of `pairwise`.",
        ),
    ] = "rinse-small",
    records: Annotated[
        int, typer.Option("--records", help="Sufficient records, and as many insufficient ones. The paper: 300.")
    ] = 60,
    loss: Annotated[
        float,
        typer.Option("--loss", help="Share of the sufficient records that a threshold may stop, on average."),
    ] = 0.08,
    held_out: Annotated[
        bool,
        typer.Option(
            "--held-out",
            help="As in the paper: profiles fitted without a record's family, thresholds from other families.",
        ),
    ] = False,
    contrasts: Annotated[
        list[Path] | None,
        typer.Option("--contrasts", help="What `contrasts` wrote: judged. May be repeated."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", help="Files of records instead, contrasts are built from them. May be repeated."),
    ] = None,
    train_contrasts: Annotated[
        list[Path] | None,
        typer.Option("--train-contrasts", help="Contrasts to choose thresholds on. May be repeated."),
    ] = None,
    train_data: Annotated[
        list[Path] | None, typer.Option("--train-data", help="Files of records instead. May be repeated.")
    ] = None,
    train_records: Annotated[
        int, typer.Option("--train-records", help="Records of each side that thresholds are chosen on.")
    ] = 540,
    folder: Annotated[
        Path, typer.Option("--folder", help="Where the files lie that are used unless others are given.")
    ] = Path("../shared/data"),
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            help="Where contrasts that are built take passages from. Default: --folder's, if it has one.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write each reply and score as it comes; a stopped run is taken up again."),
    ] = None,
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Folder that keeps scores of training records. Default: a cache."),
    ] = None,
    record_seconds: Annotated[
        float, typer.Option("--record-seconds", help="Deadline of one record; then its process is killed.")
    ] = 600.0,
    processes: Annotated[
        int, typer.Option("--processes", help="Processes of one thread each; above 1, times are not honest.")
    ] = 1,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of every random choice.")] = 17,
    as_json: Json = False,
) -> None:
    """A score in front of a generator: how many unsupported answers does it prevent, and what does that cost?

    The generator is told to reply "unanswerable" when the documents lack the answer, on sufficient and
    insufficient sets of the headline contrasts, evenly from all tests: passages cut at 1,600 characters, greedy,
    at most 24 tokens (RINSE, table 1). A reply that contains "unanswerable" is a refusal, every other one an
    answer.

    With the gate, a record whose score lies below a threshold is not given to the generator and counts as refused.
    Each record is generated once: the gate only decides whether that reply counts, with its time, and its score's
    time is added to every record.

    The threshold is the highest one that stops at most --loss of the sufficient records on average (split
    conformal), if they are drawn as those of training files were: sets of one passage or of several, as the record
    is, of its own family, or of others where that has none. Rows with split train say what to expect from it.
    Records that are judged never take part.

    answers_prevented: of the answers on insufficient records; refusals_added: of the sufficient records;
    time_saved: of the generator's time, less the gate's own. Intervals are 95 %, by drawing whole groups again.

    [bold]Examples[/bold]

      python -m benchmarks gate --out gate.jsonl

      python -m benchmarks gate --scorer rinse-odds --out gate.jsonl

      python -m benchmarks gate --records 300 --held-out --out paper.jsonl --json

      python -m benchmarks gate --generator endpoint --generator SmolLM2-135M-Instruct --loss 0.05

      python -m benchmarks gate --contrasts dev.contrasts.jsonl.gz --train-contrasts train.contrasts.jsonl.gz
    """
    with reporting(as_json=as_json) as reports:
        from rinse.local_generator import DEFAULT_GENERATOR

        from .gate.options import GateOptions
        from .gate.run import run_gate
        from .gate.sources import Source
        from .pairwise.run import scores_folder

        options = GateOptions(
            generators=tuple(generator or [DEFAULT_GENERATOR]),
            scorer=scorer,
            judged=Source(contrasts=tuple(contrasts or ()), data=tuple(data or ())),
            training=Source(contrasts=tuple(train_contrasts or ()), data=tuple(train_data or ())),
            folder=folder,
            corpus=corpus,
            records=records,
            train_records=train_records,
            loss=loss,
            held_out=held_out,
            out=out,
            scores=scores or scores_folder(),
            processes=processes,
            seconds=record_seconds,
            seed=seed,
        )
        reports.append(run_gate(options))
