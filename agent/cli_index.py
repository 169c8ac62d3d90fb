"""`sufficit index`: build a local index, change it, and look at it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from .cli_errors import reported
from .plain import plain_line
from .wire import json_line

if TYPE_CHECKING:
    from retrieval.corpora import Corpus
    from retrieval.index import IndexInfo, TransformerEncoder

index_app = typer.Typer(
    help="Build a local index, change it, and look at it.", no_args_is_help=True, rich_markup_mode=None
)

CorpusArgument = Annotated[
    Path,
    typer.Argument(
        help="JSONL (id, title, text, optional url; also .gz, .bz2), a folder of .txt, .md and .html files, "
        "or a MediaWiki XML dump (also .gz, .bz2)."
    ),
]
IndexOption = Annotated[Path, typer.Option("--index", help="The folder of the index.", envvar="SUFFICIT_INDEX")]
EncoderOption = Annotated[
    str | None,
    typer.Option(
        help="The encoder that built the index, where it lies in a folder; otherwise it is found by name."
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


@index_app.command()
@reported
def build(
    *,
    corpus: CorpusArgument,
    out: Annotated[
        Path, typer.Option(help="The folder of the index; an index that is there is replaced at the end.")
    ],
    encoder: Annotated[
        str, typer.Option(help="Backbone for the vectors: a known name, a folder, or a hub id.")
    ] = "all-MiniLM-L6-v2",
    max_words: Annotated[int, typer.Option(min=1, help="Longest chunk of an article, in words.")] = 150,
    overlap: Annotated[
        int, typer.Option(min=0, help="Sentences that a chunk of an article shares with the one before.")
    ] = 1,
    force: Annotated[bool, typer.Option("--force", help="Build even if the same index is there.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Build an index of a corpus. Interrupted builds go on where they stopped.

    What cannot be used is left out and told on stderr; a corpus without any document is an error.

    Example: sufficit index build wiki.xml.bz2 --out wiki.index
    """
    from retrieval.corpora import open_corpus
    from retrieval.index import TransformerEncoder, build_index

    from .progress import build_progress

    opened = open_corpus(corpus)
    with build_progress() as progress:
        info = build_index(
            opened,
            out,
            encoder=TransformerEncoder.named(encoder),
            max_words=max_words,
            overlap=overlap,
            progress=progress,
            force=force,
            allow_empty=False,
        )
    _complain(opened)
    _report(info, as_json=as_json)


@index_app.command()
@reported
def add(
    *, corpus: CorpusArgument, folder: IndexOption, encoder: EncoderOption = None, as_json: JsonFlag = False
) -> None:
    """Add documents to an index; those whose id it knows are replaced. Only what is new is encoded.

    Searches go on meanwhile. Batches are committed as they go: if it is interrupted, the same command goes on.
    What cannot be used is left out and told on stderr; a corpus without any document is an error.

    Example: sufficit index add more.jsonl --index wiki.index
    """
    from retrieval.corpora import open_corpus
    from retrieval.index.change import add_to_index

    from .progress import build_progress

    opened = open_corpus(corpus)
    with build_progress() as progress:
        info = add_to_index(
            opened, folder, encoder=_encoder(folder, encoder), progress=progress, allow_empty=False
        )
    _complain(opened)
    _report(info, as_json=as_json)


@index_app.command()
@reported
def delete(
    *,
    ids: Annotated[list[str], typer.Argument(help="Ids of documents, as the corpus gave them.")],
    folder: IndexOption,
    missing_ok: Annotated[
        bool, typer.Option("--missing-ok", help="Skip ids that the index does not know.")
    ] = False,
    encoder: EncoderOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Delete documents from an index, all of them or, if an id is unknown, none.

    Example: sufficit index delete 12 314 --index wiki.index
    """
    from retrieval.index.change import delete_from_index

    _report(
        delete_from_index(ids, folder, encoder=_encoder(folder, encoder), missing_ok=missing_ok), as_json=as_json
    )


@index_app.command()
@reported
def compact(*, folder: IndexOption, encoder: EncoderOption = None, as_json: JsonFlag = False) -> None:
    """Give back the space of what was deleted and replaced. Happens by itself when more than half is waste.

    Example: sufficit index compact --index wiki.index
    """
    from retrieval.index.change import compact_index

    _report(compact_index(folder, encoder=_encoder(folder, encoder)), as_json=as_json)


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


def _encoder(folder: Path, name: str | None) -> TransformerEncoder:
    """The encoder with which an index is changed: the one that was named, or the one that its manifest names."""
    from retrieval.index import TransformerEncoder
    from retrieval.index.info import encoder_of

    return encoder_of(folder) if name is None else TransformerEncoder.named(name)


def _complain(corpus: Corpus) -> None:
    """Say what was left out or doubted; silent where an earlier run read the corpus."""
    for line in corpus.complaints:
        typer.echo(f"Note: {plain_line(line)}", err=True)


def _report(info: IndexInfo, *, as_json: bool) -> None:
    from retrieval.corpora import in_words

    data = info.as_json()
    if as_json:
        sys.stdout.write(json_line(data))
        return
    console = Console(highlight=False)
    for key, value in {**data, "problems": in_words(data["problems"])}.items():
        console.print(Text(f"{key:<14} {plain_line(str(value))}"), soft_wrap=True)
