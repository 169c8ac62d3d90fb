"""`sufficit fit`: a profile from pairs of sufficient and insufficient evidence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .cli_errors import INTERRUPT, reported
from .errors import ConfigError
from .fit_request import FITTERS, FitRequest, check_options
from .plain import plain, plain_line
from .wire import json_line

if TYPE_CHECKING:
    from rinse.fit.report import FitProgress, FitReport

EPILOG = (
    "Exit status: 0 fitted or nothing to do, 1 failure, 2 usage, 130 interrupt; then the same command "
    "goes on. The format of pairs, what each stage costs and what is refused: docs/fit.md."
)
_STAGES = {
    "pairs": "Reading pairs",
    "span": "Training the span reader",
    "readings": "Reading groups",
    "profiles": "Fitting profiles",
}
_LARGEST_PADDING, _MOST_PADDINGS = 1000, 16


def fit(
    context: typer.Context,
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="More files of pairs.")] = None,
    *,
    pairs: Annotated[
        list[Path],
        typer.Option(
            help="Files of pairs, JSON lines, also .gz or .bz2; several after one --pairs, or repeat it."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the profile.")],
    profile: Annotated[str, typer.Option(help="Which profile to fit: small or paper.")] = "small",
    name: Annotated[
        str | None, typer.Option(help="small: name of profile and file. Default: that of the folder.")
    ] = None,
    work: Annotated[
        Path | None, typer.Option(help="small: folder of what a stopped run goes on with. Default: a cache.")
    ] = None,
    lineage: Annotated[
        list[str] | None,
        typer.Option(help="small: FAMILY=A,B leaves A and B out wherever FAMILY is; may be repeated."),
    ] = None,
    words: Annotated[str | None, typer.Option(help="paper: model whose WordPieces cut the question.")] = None,
    reranker: Annotated[str | None, typer.Option(help="paper: cross-encoder, hub id or folder.")] = None,
    span: Annotated[
        str | None,
        typer.Option(help="paper: what the span reader is trained from; with --no-train-span the reader."),
    ] = None,
    latent: Annotated[str | None, typer.Option(help="paper: language model, hub id or folder.")] = None,
    layer: Annotated[
        int | None, typer.Option(min=1, help="paper: layer of the language model that is read. Default: 17.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Family that nothing may see; may be repeated.")
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option(help="OLD=NEW gives a family or dataset another name, to join two; may be repeated."),
    ] = None,
    shared: Annotated[
        list[str] | None,
        typer.Option(
            help="paper: family that makes what folds share, span reader and IDF; may be repeated. Default: all."
        ),
    ] = None,
    folds: Annotated[bool, typer.Option("--folds", help="Fit a profile without each family too.")] = False,
    padding: Annotated[
        str | None,
        typer.Option(help="Passages added to records, by comma. Default: 5,10,20,40; paper: 5,20,50,100."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Most groups of each construction of a family. Default: all.")
    ] = None,
    span_epochs: Annotated[int, typer.Option(min=1, help="paper: epochs of the span reader's training.")] = 1,
    train_span: Annotated[
        bool,
        typer.Option("--train-span/--no-train-span", help="paper: train the span reader, or take it as it is."),
    ] = True,
    device: Annotated[str, typer.Option(help="paper: cpu or cuda.")] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")
    ] = False,
) -> None:
    """Fit a sufficiency profile to pairs: the same question with passages that suffice and some that do not.

    A line of a file: {"question": "Who built the bridge?", "sufficient": ["Ann Lee built it."],
    "insufficient": ["It is red."], "answers": ["Ann Lee"]}

    Example: sufficit fit --pairs pairs.jsonl --out my.profile --limit 500
    """
    check_options(profile, _given(context))
    request = FitRequest(
        pairs=(*pairs, *(more or ())),
        out=out,
        name=name,
        work=work,
        lineage=_lineage(lineage or ()),
        words=words,
        reranker=reranker,
        span=span,
        latent=latent,
        layer=layer,
        without=tuple(without or ()),
        families=_renamed(family or ()),
        shared=tuple(shared or ()),
        folds=folds,
        padding=None if padding is None else _sizes(padding),
        limit=limit,
        span_epochs=span_epochs,
        train_span=train_span,
        device=_device(device),
        seed=seed,
    )
    try:
        with _bars() as show:
            report = FITTERS[profile](request, show)
    except KeyboardInterrupt:
        typer.echo("Interrupted. What was done is kept; the same command goes on.", err=True)
        raise typer.Exit(INTERRUPT) from None
    _show(report, as_json=as_json)


def add_fit(app: typer.Typer) -> None:
    """Make `fit` a command of `app`."""
    app.command(epilog=EPILOG)(reported(fit))


@contextmanager
def _bars() -> Iterator[Callable[[FitProgress], None]]:
    """A bar a stage on stderr, with the time that is left."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def show(progress: FitProgress) -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(_STAGES[progress.stage], total=progress.total)
            bars.update(tasks[progress.stage], completed=progress.done, total=progress.total)

        yield show


def _show(report: FitReport, *, as_json: bool) -> None:
    for warning in report.warnings:
        typer.echo(plain_line(f"Warning: {warning}"), err=True)
    if as_json:
        data = {
            "fitted": report.fitted,
            "changed": report.changed,
            "profiles": [str(path) for path in report.profiles],
            "odds": [str(path) for path in report.odds],
            "families": dict(report.families),
            "records": report.records,
            "failed": report.failed,
            "warnings": list(report.warnings),
        }
        sys.stdout.write(json_line(data))
        return
    if not report.fitted:
        typer.echo("Nothing to do: what would be written stands there already.")
    if report.changed:
        typer.echo(f"Fitted again, for these settings changed: {', '.join(report.changed)}.")
    if report.failed:
        typer.echo(f"{report.failed} of {report.failed + report.records} records gave nothing and were left out.")
    for path in report.profiles:
        typer.echo(plain(f"profile   {path}"))
    for path in report.odds:
        typer.echo(plain(f"log-odds  {path}"))
    for name, groups in report.families:
        typer.echo(plain(f"family    {name}: {groups} groups"))


def _given(context: typer.Context) -> dict[str, str]:
    """By name the options that stand on the command line, as they are written there."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name: f"--{'no-' if context.params[name] is False else ''}{name.replace('_', '-')}"
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    }


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        sizes = ()
    if not 0 < len(sizes) <= _MOST_PADDINGS or not 1 <= sizes[0] <= sizes[-1] <= _LARGEST_PADDING:
        raise ConfigError(
            f"--padding {text}: expected at most {_MOST_PADDINGS} numbers from 1 to {_LARGEST_PADDING}, e.g. 5,20."
        )
    return sizes


def _renamed(pairs: Sequence[str]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    for old, sign, new in split:
        if not (old and sign and new):
            raise ConfigError(f"--family {old}{sign}{new}: expected OLD=NEW, e.g. squad1=squad.")
    return {old: new for old, _, new in split}


def _lineage(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    split = [text.partition("=") for text in texts]
    for family, sign, others in split:
        if not (family and sign and others.strip(",")):
            raise ConfigError(f"--lineage {family}{sign}{others}: expected FAMILY=A,B, e.g. musique=squad,nq.")
    return {family: tuple(one for one in others.split(",") if one) for family, _, others in split}


def _device(name: str) -> str:
    if name not in {"cpu", "cuda"}:
        raise ConfigError(f"--device {name}: expected cpu or cuda.")
    if name == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: torch sees no CUDA device on this machine. Use --device cpu.")
    return name
