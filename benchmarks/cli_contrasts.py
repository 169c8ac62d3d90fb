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

        options = build_options(
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


def build_options(*, construction: list[str] | None, retrieval_limit: int, **others: Any) -> BuildOptions:  # noqa: ANN401
    """How contrasts are built.

    Raises:
        SettingsError: an unknown construction, or counts out of range.
    """
    from .contrasts.build import BuildOptions
    from .contrasts.model import CONSTRUCTIONS
    from .errors import SettingsError

    unknown = sorted(set(construction or ()) - set(CONSTRUCTIONS))
    if unknown:
        raise SettingsError(f"Unknown construction {', '.join(unknown)}. Known: {', '.join(CONSTRUCTIONS)}.")
    chosen = tuple(name for name in CONSTRUCTIONS if name in (construction or ()))
    return BuildOptions(constructions=chosen or None, retrieval_limit=retrieval_limit or None, **others)
