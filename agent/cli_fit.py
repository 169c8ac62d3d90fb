"""`sufficit fit`: a profile from pairs of sufficient and insufficient evidence."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """The command line, parsed; a name of a model that is None is the profile's own."""

    pairs: tuple[Path, ...]
    out: Path
    words: str | None
    reranker: str | None
    span: str | None
    latent: str | None
    layer: int | None
    without: tuple[str, ...]
    families: Mapping[str, str]
    shared: tuple[str, ...]
    folds: bool
    padding: tuple[int, ...] | None
    limit: int | None
    span_epochs: int
    train_span: bool
    device: str
    seed: int


def fit(
    more: Annotated[list[Path] | None, typer.Argument(metavar="[FILE]...", help="More files of pairs.")] = None,
    *,
    pairs: Annotated[
        list[Path],
        typer.Option(help="Files of pairs, JSON lines, also .gz; several after one --pairs, or repeat it."),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the profile; a fit that is there goes on.")],
    profile: Annotated[str, typer.Option(help="Which profile to fit: paper.")] = "paper",
    words: Annotated[str | None, typer.Option(help="Model whose WordPieces cut the question.")] = None,
    reranker: Annotated[str | None, typer.Option(help="Cross-encoder: hub id or folder.")] = None,
    span: Annotated[
        str | None, typer.Option(help="What the span reader is trained from; with --no-train-span the reader.")
    ] = None,
    latent: Annotated[str | None, typer.Option(help="Language model: hub id or folder.")] = None,
    layer: Annotated[
        int | None, typer.Option(min=1, help="Layer of the language model that is read. Default: 17.")
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
            help="Family that makes what folds share, span reader and IDF; may be repeated. Default: all."
        ),
    ] = None,
    folds: Annotated[bool, typer.Option("--folds", help="Fit a profile without each family too.")] = False,
    padding: Annotated[
        str | None, typer.Option(help="Passages added to records, by comma. Default: 5,20,50,100.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Most groups of a family. Default: all.")] = None,
    span_epochs: Annotated[int, typer.Option(min=1, help="Epochs of the span reader's training.")] = 1,
    train_span: Annotated[
        bool, typer.Option("--train-span/--no-train-span", help="Train the span reader, or take it as it is.")
    ] = True,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
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
    if profile not in PROFILES:
        raise ConfigError(f"--profile {profile}: there are {', '.join(sorted(PROFILES))}.")
    request = FitRequest(
        pairs=(*pairs, *(more or ())),
        out=out,
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
        report = PROFILES[profile](request)
    except KeyboardInterrupt:
        typer.echo(f"Interrupted. What was done is kept in {out}; the same command goes on.", err=True)
        raise typer.Exit(INTERRUPT) from None
    _show(report, as_json=as_json)


def add_fit(app: typer.Typer) -> None:
    """Make `fit` a command of `app`."""
    app.command(epilog=EPILOG)(reported(fit))


def _fit_paper(request: FitRequest) -> FitReport:
    from rinse.fit.job import fit_paper
    from rinse.fit.paper import PADDING, PaperFit
    from rinse.fit.span_training import SpanTraining
    from rinse.paper.settings import ReaderSettings

    names = {role: getattr(request, role) for role in ("words", "reranker", "span", "latent")}
    training = SpanTraining(epochs=request.span_epochs, seed=request.seed, device=request.device)
    made = PaperFit(
        pairs=request.pairs,
        out=request.out,
        settings=ReaderSettings() if request.layer is None else ReaderSettings(layer=request.layer),
        training=training if request.train_span else None,
        without=request.without,
        families=request.families,
        shared=request.shared,
        folds=request.folds,
        padding=PADDING if request.padding is None else request.padding,
        limit=request.limit,
        seed=request.seed,
        device=request.device,
        **{role: name for role, name in names.items() if name is not None},
    )
    with _bars() as show:
        return fit_paper(made, progress=show)


PROFILES: Mapping[str, Callable[[FitRequest], FitReport]] = MappingProxyType({"paper": _fit_paper})
"""How each profile is fitted."""


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
    if as_json:
        data = {
            "fitted": report.fitted,
            "changed": report.changed,
            "profiles": [str(path) for path in report.profiles],
            "families": dict(report.families),
            "records": report.records,
            "failed": report.failed,
        }
        sys.stdout.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")
        return
    if not report.fitted:
        typer.echo("Nothing to do: the folder holds this fit, finished, with the same pairs and settings.")
    if report.changed:
        typer.echo(f"Fitted again, for these settings changed: {', '.join(report.changed)}.")
    if report.failed:
        typer.echo(f"{report.failed} of {report.failed + report.records} records gave nothing and were left out.")
    for path in report.profiles:
        typer.echo(f"profile   {path}")
    for name, groups in report.families:
        typer.echo(f"family    {name}: {groups} groups")


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


def _device(name: str) -> str:
    if name not in {"cpu", "cuda"}:
        raise ConfigError(f"--device {name}: expected cpu or cuda.")
    if name == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise ConfigError("--device cuda: torch sees no CUDA device on this machine. Use --device cpu.")
    return name
