"""`coverage`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, Seed, app, reporting

RECORDS = ("squad2.dev", "qamr.dev", "2wikimultihopqa.dev", "2wikimultihopqa_open.dev")
CORPUS = "corpus_wiki_pool"


@app.command()
def coverage(
    *,
    data: Annotated[
        Path, typer.Option("--data", help="Folder with the default files, if --records is not given.")
    ] = Path("../shared/data"),
    records: Annotated[
        list[Path] | None,
        typer.Option("--records", help="Questions with their passages, JSON lines or .gz; may be repeated."),
    ] = None,
    corpus: Annotated[Path | None, typer.Option("--corpus", help="More passages for the sites.")] = None,
    others: Annotated[int, typer.Option("--others", min=0, help="How many of these are drawn.")] = 4_000,
    questions: Annotated[int, typer.Option("--questions", min=4, help="Length of the stream.")] = 200,
    interval: Annotated[
        float, typer.Option("--interval", min=1, help="Simulated seconds between two questions.")
    ] = 600.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write down each strategy; a stopped run is taken up again.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """When must a cache fetch? One stream of questions against a real server, with five ways to decide.

    40 % of the stream are repeats by a Zipf law, 30 % other questions that need the passages of an earlier
    one, 30 % new. The server is a process on this machine: sites with robots.txt, validators, lives, errors
    and delays, and a search in MediaWiki's shape. Time is simulated, so that pages expire.

    always: no cache. http: the web for every question, pages through the HTTP cache, as for all that follow. ttl:
    what the same question got within a day. similarity: the cache if an earlier question or a stored passage is
    near enough; the threshold is tuned on the first half, or matched to the support recall of coverage on the very
    half that is judged, which no operator could do. coverage: the product, tiers cache and web. oracle: knows the
    annotations. Figures are of the second half.

    [bold]Example[/bold]

      python -m benchmarks coverage --questions 200 --out coverage.jsonl --json
    """
    with reporting(as_json=as_json) as reports:
        from .coverage.simulation import CoverageOptions, run_coverage

        pool = data / f"{CORPUS}.jsonl.gz"
        options = CoverageOptions(
            records=tuple(records or (data / f"{name}.jsonl.gz" for name in RECORDS)),
            corpus=corpus or (pool if records is None else None),
            others=others,
            questions=questions,
            interval=interval,
            seed=seed,
            out=out,
        )
        reports.append(run_coverage(options))
