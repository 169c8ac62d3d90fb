"""`pairwise`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli import Json, app, names, reporting
from .cli_contrasts import (
    Additions,
    Construction,
    Corpus,
    Data,
    Index,
    Limit,
    Processes,
    RetrievalLimit,
    Seed,
    build_options,
)

if TYPE_CHECKING:
    from .output import Report
    from .pairwise.systems import Weights

FOLDER = Path("../shared/data")
RECORDS = ("hotpotqa_distractor.dev", "2wikimultihopqa.dev", "musique_ans.dev", "squad2.dev")
CORPUS = "corpus_wiki_pool"


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
        list[str] | None,
        typer.Option(
            "--scorer",
            help="May be repeated, or separated by commas: rinse-small, the name of a rival, "
            "sufficient-context@endpoint, package.module:factory; rivals: all of them that run here; all: ours "
            "and those. The first one is the reference of differences; empty: cues only. Default: rinse-small.",
        ),
    ] = None,
    limit_lm: Annotated[
        int,
        typer.Option(
            "--limit-lm",
            min=1,
            help="Groups of each headline test for scorers that take seconds a side; all scorers are compared on "
            "these groups, too.",
        ),
    ] = 40,
    lm: Annotated[
        str | None,
        typer.Option("--lm", help="Name or folder of the causal language model. Default: SmolLM2-135M-Instruct."),
    ] = None,
    weights: Annotated[
        list[str] | None,
        typer.Option(
            "--weights", help="NAME=FOLDER: weights that a rival needs, by the name in its row; may be repeated."
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes", help="After so many no group is begun; what was scored is reported, a new run goes on."
        ),
    ] = None,
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
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Also write one HTML file to look at: plots and tables. Needs sufficit\\[report]."
        ),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", help="Also write one figure: accuracy against latency. Needs sufficit\\[report]."),
    ] = None,
    seed: Seed = 17,
    processes: Processes = 2,
    as_json: Json = False,
) -> None:
    """How often does a scorer put the set that suffices above the one that does not? Cues stand beside it.

    Without --data and --contrasts: HotpotQA, 2WikiMultiHopQA, MuSiQue and SQuAD 2.0 of ../shared/data with its
    corpus; --data FOLDER takes them from another folder.

    Ties count 0.5; intervals are 95 %, by drawing whole clusters again 2,000 times; `difference` is to the first
    scorer, on the same draws. Scores are kept: the same command goes on after a stop, and computes figures again
    without scoring. What fails on a side is listed, the rest is scored.

    Rivals that take seconds a side, as those do that run a causal language model, read a seeded sample: one pair
    each of --limit-lm groups of each headline test, scored first, by all scorers. The others then read all sides.
    Rivals whose weights are not on this machine stand in the table as not run here.

    [bold]Examples[/bold]

      python -m benchmarks pairwise --scorer all --held-out --minutes 45 --html report.html

      python -m benchmarks pairwise --contrasts dev.contrasts.jsonl.gz --scorer rinse-small,minilm-cosine

      python -m benchmarks pairwise --data squad2.dev.jsonl.gz --construction question-swap --limit 100

      python -m benchmarks pairwise --contrasts dev.jsonl.gz --scorer my_package.scorers:make --held-out --json
    """
    with reporting(as_json=as_json) as reports:
        from .pairwise.run import ANSWERS, PairwiseOptions, run_pairwise, scores_folder
        from .pairwise.scoring import ScoringOptions
        from .report.page import require_report

        files, pool = _inputs(data, ready, corpus, index)
        _apart([*filter(None, (html, svg))], [*files, *(ready or ()), *(overlap_with or ())])
        for file in filter(None, (html, svg)):
            require_report(file)
        folder = scores or scores_folder()
        options = PairwiseOptions(
            data=files,
            contrasts=tuple(ready or ()),
            build=build_options(
                corpus=pool,
                index=index,
                construction=construction,
                retrieval_limit=retrieval_limit,
                additions=additions,
                seed=seed,
                processes=processes,
            ),
            scorers=names(["rinse-small"] if scorer is None else scorer),
            added=_numbers(added),
            limit=limit,
            limit_lm=limit_lm,
            minutes=minutes,
            weights=_weights(lm, weights or (), folder / ANSWERS),
            held_out=held_out,
            ablation=ablation,
            order=order,
            overlap_with=tuple(overlap_with or ()),
            scoring=ScoringOptions(folder=folder, processes=processes, seconds=record_seconds),
        )
        report = run_pairwise(options)
        _write(report, html, svg)
        reports.append(report)


def _apart(written: list[Path], read: list[Path]) -> None:
    """Refuse to write one file twice, or over what is read.

    Raises:
        SettingsError: --html or --svg names such a file.
    """
    from .errors import SettingsError

    taken = {path.resolve() for path in read}
    for file in written:
        if file.resolve() in taken:
            raise SettingsError(f"{file} is read, or written already. Give --html and --svg files of their own.")
        taken.add(file.resolve())


def _write(report: Report, html: Path | None, svg: Path | None) -> None:
    """The files to look at, if any was asked for."""
    if html is not None:
        from .report.pairwise import write_pairwise_report

        write_pairwise_report(report, html)
    if svg is not None:
        from .report.pairwise import write_pairwise_figure

        write_pairwise_figure(report, svg)


def _inputs(
    data: list[Path] | None, ready: list[Path] | None, corpus: Path | None, index: Path | None
) -> tuple[tuple[Path, ...], Path | None]:
    """Files of records and the corpus: as given, or the default ones of a folder.

    Raises:
        SettingsError: nothing was named, and there is no default folder.
    """
    from .errors import SettingsError

    given = tuple(data or ()) if data or ready else (FOLDER,)
    folders = [path for path in given if path.is_dir()]
    if not (data or ready) and not folders:
        raise SettingsError(
            f"Nothing to measure: there is no folder {FOLDER}. Give --contrasts FILES, --data FILES (with "
            f"--corpus), or --data FOLDER with {', '.join(RECORDS)} (.jsonl.gz)."
        )
    files = [
        file
        for path in given
        for file in ([path / f"{name}.jsonl.gz" for name in RECORDS] if path in folders else [path])
    ]
    own = corpus or index
    return tuple(files), corpus if own or not folders else folders[0] / f"{CORPUS}.jsonl.gz"


def _weights(lm: str | None, named: list[str] | tuple[()], answers: Path) -> Weights:
    from rinse.local_generator import DEFAULT_GENERATOR

    from .errors import SettingsError
    from .pairwise.systems import WEIGHTS_NEEDED, Weights

    folders: dict[str, str] = {} if lm is None else {DEFAULT_GENERATOR: lm}
    for one in named:
        name, equals, folder = one.partition("=")
        if not (name and equals and folder):
            raise SettingsError(f"--weights takes NAME=FOLDER, got {one!r}.")
        if name not in WEIGHTS_NEEDED:
            raise SettingsError(
                f"No rival needs the weights {name!r}. Known: {', '.join(sorted(WEIGHTS_NEEDED))}."
            )
        folders[name] = folder
    return Weights(folders=tuple(sorted(folders.items())), answers=answers)


def _numbers(text: str) -> tuple[int, ...]:
    from .errors import SettingsError

    try:
        return tuple(sorted({int(part) for part in text.split(",") if part.strip()})) or (0,)
    except ValueError:
        raise SettingsError(f"--added takes numbers separated by commas, e.g. 0,5,10, got {text!r}.") from None
