"""Commands about data: what files share, where they come from. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .cli import Json, app, reporting


@app.command()
def overlap(
    *,
    first: Annotated[Path, typer.Argument(metavar="A", help="A file of questions with passages, any format.")],
    second: Annotated[list[Path], typer.Argument(metavar="B", help="One or more files to compare it with.")],
    more: Annotated[
        list[Path] | None, typer.Option("--and", help="Another file of the first side; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """What A shares with B: questions, and passages with a sentence of at least eight words in common.

    One row for each dataset of A. Groups are counted by what they share: a question, any passage, a gold passage.

    Official files and our own JSON lines are told by their content; both may be gzip.

    [bold]Examples[/bold]

      python -m benchmarks overlap squad2.dev.jsonl.gz squad1.train.jsonl.gz nq_open.jsonl.gz

      python -m benchmarks overlap musique_ans_v1.0_dev.jsonl dev-v2.0.json --json
    """
    with reporting(as_json=as_json) as reports:
        from .overlap import run_overlap

        reports.append(run_overlap([first, *(more or [])], second))


@app.command()
def download(
    name: Annotated[str | None, typer.Argument(help="A dataset; --list shows them.", show_default=False)] = None,
    *,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder; the dataset gets one of its own in it. Default: a cache."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Show what can be downloaded, and stop.")] = False,
    manifest: Annotated[
        Path | None,
        typer.Option("--manifest", help="Another manifest of the same form, e.g. with addresses of a mirror."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Official files of a dataset: its licence first, then the files, then the paths to give as --data.

    A download that was stopped goes on where it ended; a file that is here and right is not fetched again.

    Size and sha256 are checked before a file gets its name. Out of an archive only the data files are taken.

    [bold]Examples[/bold]

      python -m benchmarks download --list

      python -m benchmarks download squad2-dev

      python -m benchmarks download musique --to data --json
    """
    with reporting(as_json=as_json):
        from .download import emit_download, emit_list, list_datasets, need_name, run_download

        rows = list_datasets(manifest) if listing else []
        result = {} if listing else run_download(need_name(name, manifest), to=to, manifest=manifest)
    if listing:
        emit_list(rows, as_json=as_json)
    else:
        emit_download(result, as_json=as_json)
