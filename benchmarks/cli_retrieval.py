"""The benchmark of retrieval. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Corpus, Json, Limit, OwnIndex, Questions, Seed, app, reporting


@app.command()
def retrieval(
    *,
    questions: Questions = None,
    corpus: Corpus = None,
    index: OwnIndex = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="bm25, dense, rrf or hop; may be repeated. Default: all."),
    ] = None,
    turns: Annotated[int, typer.Option("--turns", help="Most turns of hop.")] = 4,
    k: Annotated[int, typer.Option("--k", help="Passages that one call of hop asks for.")] = 10,
    scorer: Annotated[
        str,
        typer.Option(
            "--scorer",
            help="Whose gaps hop follows: rinse-small, minilm-cosine, package.module:factory, or none: no gaps, "
            "and no time spent on scores.",
        ),
    ] = "rinse-small",
    without_titles: Annotated[
        bool,
        typer.Option("--without-titles", help="Take titles out of the index. The first time it is encoded again."),
    ] = False,
    filler: Annotated[
        int,
        typer.Option("--filler", help="Mix in so many invented passages; the same is measured without them, too."),
    ] = 0,
    limit: Limit = None,
    processes: Annotated[
        int, typer.Option("--processes", help="Searches at once; changes times, not what is found.")
    ] = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Is all the support found? Words, vectors, both joined, and a search that hops, over annotated questions.

    bm25, dense, rrf: one call for 20 passages. hop: the default planner, scorer and ranking for --turns turns;
    what counts is its final ranking, by weights that have not seen the family of the question (held_out). recall@5
    and so on with a 95 % interval each, rows by type of question.

    oracle-titles: for how many questions titles in the question, then titles in gold text, lead to all support.
    Where this is high, a retriever that follows titles solves the template of the dataset.

    Results are kept in a cache: a stopped run goes on where it ended, and nothing is searched for twice by the
    same code. Times are honest with --processes 1 on a machine that does nothing else.

    [bold]Examples[/bold]

      python -m benchmarks retrieval

      python -m benchmarks retrieval --questions a.dev.jsonl.gz --questions b.dev.jsonl.gz --corpus pool.jsonl.gz

      python -m benchmarks retrieval --questions a.dev.jsonl.gz --corpus pool.jsonl.gz --without-titles --json

      python -m benchmarks retrieval --filler 300000 --system rrf --system hop
    """
    with reporting(as_json=as_json) as reports:
        from .hops.command import RetrievalOptions, run_retrieval
        from .hops.search import SYSTEMS

        options = RetrievalOptions(
            questions=tuple(questions or ()),
            corpus=corpus,
            index=index,
            systems=tuple(dict.fromkeys(system or SYSTEMS)),
            turns=turns,
            k=k,
            scorer=scorer,
            titles=not without_titles,
            filler=filler,
            limit=limit,
            seed=seed,
            processes=processes,
        )
        reports.append(run_retrieval(options))


@app.command("retrieval-fit")
def retrieval_fit(
    *,
    questions: Annotated[
        list[Path], typer.Option("--questions", help="JSON lines of the split train, plain or .gz; repeated.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Where the weights are written, in one step.")],
    corpus: Corpus = None,
    index: OwnIndex = None,
    turns: Annotated[int, typer.Option("--turns", help="Most turns of a search.")] = 4,
    k: Annotated[int, typer.Option("--k", help="Passages that one call asks for.")] = 10,
    limit: Limit = None,
    processes: Annotated[int, typer.Option("--processes", help="Searches at once.")] = 1,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fit the weights of the ranking of evidence: what a link, a rank, a covered word are worth.

    Searches as shipped, without a scorer, then compares passages with support and others of the same question by
    conditional-logistic regression. Writes one set of weights on all families and one without each family, and
    prints how well each ranks what was found. The split dev is refused: figures are reported on it.

    To ship the weights, write them to agent/weights/ranking.json. Searches are kept in a cache: a stopped run goes
    on where it ended. Weights change what is found next, so a second fit searches again.

    [bold]Examples[/bold]

      python -m benchmarks retrieval-fit --questions a.train.jsonl.gz --questions b.train.jsonl.gz
        --corpus pool.jsonl.gz --limit 100 --out agent/weights/ranking.json --json
    """
    with reporting(as_json=as_json) as reports:
        from .hops.fit import FitOptions, run_retrieval_fit

        options = FitOptions(
            questions=tuple(questions),
            out=out,
            corpus=corpus,
            index=index,
            turns=turns,
            k=k,
            limit=limit,
            seed=seed,
            processes=processes,
        )
        reports.append(run_retrieval_fit(options))
