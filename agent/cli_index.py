"""`sufficit index`: build a local index and look at it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from .cli_errors import reported

if TYPE_CHECKING:
    from retrieval.index import IndexInfo

index_app = typer.Typer(help="Build a local index and look at it.", no_args_is_help=True, rich_markup_mode=None)

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


@index_app.command()
@reported
def build(
    *,
    corpus: Annotated[
        Path,
        typer.Argument(
            help="JSONL (id, title, text, optional url; also .gz, .bz2), a folder of .txt, .md and .html files, "
            "or a MediaWiki XML dump (also .gz, .bz2)."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="The folder of the index; an index that is there is replaced at the end.")
    ],
    encoder: Annotated[
        str, typer.Option(help="Backbone for the vectors: a known name, a folder, or a hub id.")
    ] = "all-MiniLM-L6-v2",
    max_words: Annotated[int, typer.Option(min=1, help="Longest chunk of an article, in words.")] = 150,
    force: Annotated[bool, typer.Option("--force", help="Build even if the same index is there.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Build an index of a corpus. Interrupted builds go on where they stopped.

    Example: sufficit index build wiki.xml.bz2 --out wiki.index
    """
    from retrieval.index import TransformerEncoder, build_index

    from .progress import build_progress

    with build_progress() as progress:
        info = build_index(
            corpus,
            out,
            encoder=TransformerEncoder.named(encoder),
            max_words=max_words,
            progress=progress,
            force=force,
        )
    _report(info, as_json=as_json)


@index_app.command()
@reported
def info(
    folder: Annotated[Path, typer.Argument(help="The folder of an index.")],
    as_json: JsonFlag = False,
) -> None:
    """Say what an index holds and with what it was built.

    Example: sufficit index info wiki.index
    """
    from retrieval.index import index_info

    _report(index_info(folder), as_json=as_json)


def _report(info: IndexInfo, *, as_json: bool) -> None:
    data = info.as_json()
    if as_json:
        sys.stdout.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")
        return
    console = Console()
    for key, value in data.items():
        console.print(f"{key:<14} {value}", markup=False, highlight=False)
