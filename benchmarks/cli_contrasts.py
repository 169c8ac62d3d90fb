"""Commands of the sufficiency benchmark. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli import Json, app, reporting

if TYPE_CHECKING:
    from .contrasts.build import BuildOptions

Data = Annotated[
    list[Path] | None,
    typer.Option("--data", help="Official files or our JSON lines, plain or .gz; may be repeated."),
]
Corpus = Annotated[
    Path | None,
    typer.Option(
        "--corpus", help="Where distractors and retrieval pairs come from; indexed once, kept in a cache."
    ),
]
Index = Annotated[Path | None, typer.Option("--index", help="An index of your own instead of --corpus.")]
Construction = Annotated[
    list[str] | None,
    typer.Option(
        "--construction",
        help="Only this one; may be repeated. Default: all that apply but made-swap; without --corpus those "
        "without it.",
    ),
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Groups of each dataset, drawn by --seed. Default: all.")
]
RetrievalLimit = Annotated[
    int,
    typer.Option("--retrieval-limit", min=0, help="Questions of each dataset that are searched for. 0 = all."),
]
Additions = Annotated[int, typer.Option("--additions", min=0, help="Shared additions that a contrast carries.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
Processes = Annotated[
    int, typer.Option("--processes", min=1, help="Processes at once; changes times, not one digit.")
]


@app.command()
def contrasts(
    *,
    data: Data = None,
    out: Annotated[Path, typer.Option("--out", help="JSON lines to write, one group a line; packed if .gz.")],
    corpus: Corpus = None,
    index: Index = None,
    construction: Construction = None,
    limit: Limit = None,
    retrieval_limit: RetrievalLimit = 100,
    additions: Additions = 20,
    seed: Seed = 17,
    disjoint_from: Annotated[
        list[Path] | None,
        typer.Option(
            "--disjoint-from",
            help="Files that will be reported on: records that share a question or eight words in a row with "
            "them are left out; may be repeated.",
        ),
    ] = None,
    processes: Processes = 2,
    as_json: Json = False,
) -> None:
    """Build paired contrasts: sets that suffice beside sets that lack something, each side with how it was made.

    substitution: a needed passage replaced at random and by a word of its title (the paper's rule);
    hard-substitution: replaced by the near miss that a retriever returns;
    deletion: taken out, among sets of many sizes;
    question-swap, native: the dataset's own unanswerable questions;
    unrelated-swap: another article's question, for a cross-check;
    retrieval: top fives of bm25, dense, rrf and hop, some with all support, some without;
    made-swap: questions that we make unanswerable, to fit on; only where it is asked for.

    Searches are kept in a cache: a stopped run goes on where it ended.

    [bold]Examples[/bold]

      python -m benchmarks contrasts --data dev.jsonl.gz --corpus pool.jsonl.gz --out dev.contrasts.jsonl.gz

      python -m benchmarks contrasts --data squad2.json --construction question-swap --out squad.jsonl

      python -m benchmarks contrasts --data nq.jsonl --construction made-swap --disjoint-from dev.jsonl --out f.gz
    """
    with reporting(as_json=as_json) as reports:
        from .contrasts.command import run_contrasts

        options = _build_options(
            corpus=corpus,
            index=index,
            construction=construction,
            retrieval_limit=retrieval_limit,
            additions=additions,
            seed=seed,
            processes=processes,
        )
        reports.append(
            run_contrasts(tuple(data or ()), out, options, limit=limit, disjoint_from=tuple(disjoint_from or ()))
        )


@app.command()
def pairwise(
    *,
    data: Data = None,
    ready: Annotated[
        list[Path] | None,
        typer.Option("--contrasts", help="What `contrasts` wrote, instead of --data; may be repeated."),
    ] = None,
    corpus: Corpus = None,
    index: Index = None,
    scorer: Annotated[
        str,
        typer.Option(
            "--scorer",
            help="Separated by commas: rinse-small, minilm-cosine, package.module:factory. The first one is the "
            "reference of differences; empty: cues only.",
        ),
    ] = "rinse-small",
    added: Annotated[
        str, typer.Option("--added", help="Shared additions under which scorers are measured, e.g. 0,5,10,15,20.")
    ] = "0",
    construction: Construction = None,
    limit: Limit = None,
    retrieval_limit: RetrievalLimit = 100,
    additions: Additions = 20,
    held_out: Annotated[
        bool, typer.Option("--held-out", help="For each dataset the profile fitted without its family.")
    ] = False,
    overlap_with: Annotated[
        list[Path] | None,
        typer.Option(
            "--overlap-with", help="Files that were fitted on: adds rows without groups that share text."
        ),
    ] = None,
    ablation: Annotated[
        bool,
        typer.Option("--ablation", help="Adds rows for every set of a scorer's readers; scores nothing again."),
    ] = False,
    order: Annotated[
        str, typer.Option("--order", help="How a set is presented: bm25, or given (shuffled once).")
    ] = "bm25",
    scores: Annotated[
        Path | None,
        typer.Option("--scores", help="Folder in which scores are kept, so that a run goes on. Default: a cache."),
    ] = None,
    record_seconds: Annotated[
        float, typer.Option("--record-seconds", help="Deadline of one side; then its process is killed.")
    ] = 120.0,
    seed: Seed = 17,
    processes: Processes = 2,
    as_json: Json = False,
) -> None:
    """How often does a scorer put the set that suffices above the one that does not? Cues stand beside it.

    Ties count 0.5; intervals are 95 %, by drawing whole clusters again 2,000 times; `difference` is to the first
    scorer, on the same draws. Scores are kept: the same command goes on after a stop, and computes figures again
    without scoring. What fails on a side is listed, the rest is scored.

    [bold]Examples[/bold]

      python -m benchmarks pairwise --contrasts dev.contrasts.jsonl.gz --scorer rinse-small,minilm-cosine

      python -m benchmarks pairwise --data squad2.dev.jsonl.gz --construction question-swap --limit 100

      python -m benchmarks pairwise --contrasts dev.jsonl.gz --scorer my_package.scorers:make --held-out --json
    """
    with reporting(as_json=as_json) as reports:
        from .pairwise.run import PairwiseOptions, run_pairwise, scores_folder
        from .pairwise.scoring import ScoringOptions

        options = PairwiseOptions(
            data=tuple(data or ()),
            contrasts=tuple(ready or ()),
            build=_build_options(
                corpus=corpus,
                index=index,
                construction=construction,
                retrieval_limit=retrieval_limit,
                additions=additions,
                seed=seed,
                processes=processes,
            ),
            scorers=tuple(name.strip() for name in scorer.split(",") if name.strip()),
            added=_numbers(added),
            limit=limit,
            held_out=held_out,
            ablation=ablation,
            order=order,
            overlap_with=tuple(overlap_with or ()),
            scoring=ScoringOptions(folder=scores or scores_folder(), processes=processes, seconds=record_seconds),
        )
        reports.append(run_pairwise(options))


def _build_options(*, construction: list[str] | None, retrieval_limit: int, **others: Any) -> BuildOptions:  # noqa: ANN401
    from .contrasts.build import BuildOptions
    from .contrasts.model import CONSTRUCTIONS
    from .errors import SettingsError

    unknown = sorted(set(construction or ()) - set(CONSTRUCTIONS))
    if unknown:
        raise SettingsError(f"Unknown construction {', '.join(unknown)}. Known: {', '.join(CONSTRUCTIONS)}.")
    chosen = tuple(name for name in CONSTRUCTIONS if name in (construction or ()))
    return BuildOptions(constructions=chosen or None, retrieval_limit=retrieval_limit or None, **others)


def _numbers(text: str) -> tuple[int, ...]:
    from .errors import SettingsError

    try:
        return tuple(sorted({int(part) for part in text.split(",") if part.strip()})) or (0,)
    except ValueError:
        raise SettingsError(f"--added takes numbers separated by commas, e.g. 0,5,10, got {text!r}.") from None
