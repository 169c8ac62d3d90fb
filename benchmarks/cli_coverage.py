"""`coverage`. Part of the command line of `benchmarks.cli`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .cli import Json, Seed, app, reporting

if TYPE_CHECKING:
    from .coverage.layout import Half, StreamOptions

RECORDS = ("squad2.dev", "qamr.dev", "2wikimultihopqa.dev", "2wikimultihopqa_open.dev")
FIT_RECORDS = ("squad1.train", "qamr.dev", "2wikimultihopqa.train", "hotpotqa_distractor.train")
HALVED = frozenset({"qamr"})
"""There is one file of it: the fit of the bars takes one half of its sentences, the report the other."""
CORPUS = "corpus_wiki_pool"


Data = Annotated[Path, typer.Option("--data", help="Folder with the default files, if --records is not given.")]
Records = Annotated[
    list[Path] | None,
    typer.Option("--records", help="Questions with their passages, JSON lines or .gz; may be repeated."),
]
More = Annotated[Path | None, typer.Option("--corpus", help="More passages for the sites.")]
Others = Annotated[int, typer.Option("--others", min=0, help="How many of these are drawn.")]
Length = Annotated[int, typer.Option("--questions", min=4, help="Length of a stream.")]
Interval = Annotated[float, typer.Option("--interval", min=1, help="Simulated seconds between two questions.")]


@app.command()
def coverage(
    *,
    data: Data = Path("../shared/data"),
    records: Records = None,
    corpus: More = None,
    others: Others = 4_000,
    questions: Length = 200,
    streams: Annotated[
        int, typer.Option("--streams", min=1, help="Streams judged together; each has the next seed.")
    ] = 1,
    interval: Interval = 600.0,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write down each strategy; a stopped run is taken up again.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """When must a cache fetch? Streams of questions against a real server, with five ways to decide.

    40 % of a stream are repeats by a Zipf law, 30 % other questions that need the passages of an earlier
    one, 30 % new. The server is a process on this machine: sites with robots.txt, validators, lives, errors
    and delays, and a search in MediaWiki's shape. Time is simulated, so that pages expire.

    always: no cache. http: the web for every question, pages through the HTTP cache, as for all that follow. ttl:
    what the same question got within a day. similarity: the cache if an earlier question or a stored passage is
    near enough; the threshold is tuned on the first half, or matched to the support recall of coverage on the very
    half that is judged, which no operator could do. coverage: the product, tiers cache and web. oracle: knows the
    annotations. All but coverage and oracle fetch four pages for each query; those named sparing ask the web as
    coverage does, page by page. Figures are of the second half.

    [bold]Example[/bold]

      python -m benchmarks coverage --questions 200 --streams 3 --out coverage.jsonl --json
    """
    with reporting(as_json=as_json) as reports:
        from .coverage.simulation import CoverageOptions, run_coverage

        stream = _stream(
            _files(RECORDS, data, records, corpus),
            half="report",
            halved=records is None,
            others=others,
            questions=questions,
            interval=interval,
            seed=seed,
        )
        reports.append(run_coverage(CoverageOptions(stream=stream, streams=streams, out=out)))


@app.command("coverage-fit")
def coverage_fit(
    *,
    data: Data = Path("../shared/data"),
    records: Records = None,
    corpus: More = None,
    others: Others = 4_000,
    questions: Length = 150,
    streams: Annotated[int, typer.Option("--streams", min=2, help="Streams; each has the next seed.")] = 4,
    interval: Interval = 600.0,
    kept: Annotated[
        Path | None, typer.Option("--kept", help="Write down each stream; a stopped run is taken up again.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="What to write. Default: what the package ships.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Choose the bars of the policy coverage: when a cache suffices, when another page is worth its fetch.

    Every question of some training streams is searched all the way, two calls to the cache and four to the web,
    every second one once more as if its support were nowhere, and the bars are chosen that would have been worth
    most: right 1, wrong -0.5, a page of the web -0.0125, with one false hit in twenty at most. The rows say what
    they are worth on their own streams, and on each stream with bars chosen on the others.

    [bold]Example[/bold]

      python -m benchmarks coverage-fit --kept explored.jsonl --out shipped.json --json
    """
    with reporting(as_json=as_json) as reports:
        from policies.shipped import FILE

        from .coverage.fit import CoverageFitOptions, run_coverage_fit

        stream = _stream(
            _files(FIT_RECORDS, data, records, corpus),
            half="fit",
            halved=records is None,
            others=others,
            questions=questions,
            interval=interval,
            seed=seed,
        )
        options = CoverageFitOptions(stream=stream, streams=streams, kept=kept, out=out or FILE)
        reports.append(run_coverage_fit(options))


_Files = tuple[tuple[Path, ...], Path | None]


def _files(names: tuple[str, ...], data: Path, records: list[Path] | None, corpus: Path | None) -> _Files:
    """Questions and corpus: those that were named, else the default ones."""
    if records:
        return tuple(records), corpus
    return tuple(data / f"{name}.jsonl.gz" for name in names), corpus or data / f"{CORPUS}.jsonl.gz"


def _stream(
    files: _Files, *, half: Half, halved: bool, others: int, questions: int, interval: float, seed: int
) -> StreamOptions:
    from .coverage.layout import StreamOptions

    return StreamOptions(
        records=files[0],
        corpus=files[1],
        others=others,
        questions=questions,
        interval=interval,
        seed=seed,
        halved=HALVED if halved else frozenset(),
        half=half,
    )
