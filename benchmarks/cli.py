"""The command line: `python -m benchmarks NAME`. Each benchmark is imported when it is asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from .output import Report

app = typer.Typer(
    name="python -m benchmarks",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="""Measure Sufficit: whole searches, and its parts.

    Figures go to stdout, as a table or with --json as one object and nothing else; progress goes to stderr.

    [bold]Examples[/bold]

      python -m benchmarks quick

      python -m benchmarks quick --policy fixed-2 --policy band --limit 20

      python -m benchmarks quick --questions dev.jsonl.gz --corpus corpus.jsonl.gz --out run.jsonl --json

      python -m benchmarks heartbeat --json

      python -m benchmarks download squad2-dev

      python -m benchmarks contrasts --data dev.jsonl.gz --corpus corpus.jsonl.gz --out dev.contrasts.jsonl.gz

      python -m benchmarks pairwise --contrasts dev.contrasts.jsonl.gz --scorer rinse-small,minilm-cosine

      python -m benchmarks overlap dev.jsonl.gz train.jsonl.gz

      python -m benchmarks speed score --without-generation

    [bold]Exit status[/bold]

      0 a report was printed (failed searches are counted in it), 1 none could be made,

      2 wrong usage, 130 interrupted
    """,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else on stdout.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of every random choice.")]
Questions = Annotated[
    list[Path] | None,
    typer.Option("--questions", help="JSON lines, plain or .gz; may be repeated. Default: our demo questions."),
]
Corpus = Annotated[
    Path | None, typer.Option("--corpus", help="What to search; its index is built once and kept in a cache.")
]
OwnIndex = Annotated[Path | None, typer.Option("--index", help="An index of your own instead of --corpus.")]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="Questions of each dataset, drawn by --seed. Default: all.")
]


@app.callback()
def _benchmarks() -> None:
    """Keeps the name of a single command necessary."""


@app.command()
def quick(
    *,
    questions: Questions = None,
    corpus: Corpus = None,
    index: OwnIndex = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", help="band, threshold or fixed-K; repeat to compare. Default: band."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write one line a question as it completes; a stopped run is taken up again."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Searches at once. Changes times, not outcomes.")
    ] = 1,
    k: Annotated[int | None, typer.Option("--k", help="Passages that one call asks for.")] = None,
    max_turns: Annotated[int | None, typer.Option("--max-turns", help="Most turns of a search.")] = None,
    max_calls: Annotated[int | None, typer.Option("--max-calls", help="Most calls of a search.")] = None,
    answer_at: Annotated[
        float | None, typer.Option("--answer-at", help="Answer from this score on. Default: as shipped.")
    ] = None,
    abstain_below: Annotated[
        float | None, typer.Option("--abstain-below", help="Give up below this score. Default: as shipped.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whole searches over questions with annotated support: is it found, is the decision right, the answer too?

    Without options: our own questions over the demo's Wikipedia excerpt.

    Times are honest with --concurrency 1 on a machine that does nothing else.

    `digest` is equal for two runs that did the same on every question.

    [bold]Examples[/bold]

      python -m benchmarks quick --policy fixed-2 --policy band

      python -m benchmarks quick --questions a.dev.jsonl.gz --questions b.dev.jsonl.gz --corpus pool.jsonl.gz

      python -m benchmarks quick --limit 50 --out run.jsonl
    """
    with reporting(as_json=as_json) as reports:
        from policies.named import DEFAULT_POLICY

        from .quick import QuickOptions, run_quick

        search = {
            "k": k,
            "max_turns": max_turns,
            "max_calls": max_calls,
            "answer_at": answer_at,
            "abstain_below": abstain_below,
        }
        options = QuickOptions(
            questions=tuple(questions or ()),
            corpus=corpus,
            index=index,
            policies=tuple(dict.fromkeys(policy or [DEFAULT_POLICY])),
            limit=limit,
            seed=seed,
            out=out,
            concurrency=concurrency,
            search={name: value for name, value in search.items() if value is not None},
        )
        reports.append(run_quick(options))


@app.command()
def heartbeat(
    *,
    passages: Annotated[int, typer.Option("--passages", min=1, help="Passages that are scored at once.")] = 200,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Does the event loop stay free while passages are scored? The largest gap between beats of 10 ms (case L14).

    [bold]Example[/bold]

      python -m benchmarks heartbeat --json
    """
    with reporting(as_json=as_json) as reports:
        from rinse.scorer import RinseScorer

        from .heartbeat import run_heartbeat

        reports.append(run_heartbeat(RinseScorer.small, passages=passages, seed=seed))


@app.command()
def sparse(
    *,
    corpus: Annotated[Path, typer.Option("--corpus", help="JSON lines, plain or .gz.")],
    questions: Annotated[
        list[Path], typer.Option("--questions", help="JSON lines with annotated support; may be repeated.")
    ],
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Most questions of each dataset.")] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Engines for the sparse index side by side: ours, tantivy (if installed) and SQLite FTS5.

    [bold]Example[/bold]

      python -m benchmarks sparse --corpus corpus.jsonl.gz --questions train.jsonl.gz --limit 100
    """
    with reporting(as_json=as_json) as reports:
        from .sparse import run_sparse

        reports.append(run_sparse(corpus=corpus, questions=questions, limit=limit, seed=seed))


@app.command()
def demo(
    index: Annotated[Path | None, typer.Option("--index", help="An index; default: the demo's own.")] = None,
    question: Annotated[
        list[str] | None, typer.Option("--question", help="Id of a demo question; may be repeated.")
    ] = None,
) -> None:
    """Search for a few of our own questions over a Wikipedia excerpt, live, and hold each against its annotations.

    [bold]Example[/bold]

      python -m benchmarks demo --question demo-bridge2-01
    """
    try:
        from .demo import SHOWN, run_demo

        run_demo(index, question or SHOWN)
    except Exception as error:
        raise _explained(error) from error


def names(given: Iterable[str]) -> tuple[str, ...]:
    """Names that an option was given, each occurrence one name or several separated by commas.

    >>> names(["fixed-2, band", "never"])
    ('fixed-2', 'band', 'never')
    """
    return tuple(name for part in given for one in part.split(",") if (name := one.strip()))


def main() -> None:
    """Run the command line."""
    app()


@contextmanager
def reporting(*, as_json: bool) -> Iterator[list[Report]]:
    """Keep stdout for the report, print it, and turn errors into one line and an exit status."""
    reports: list[Report] = []
    try:
        with redirect_stdout(sys.stderr):  # whatever a library prints is not part of the report
            yield reports
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        raise typer.Exit(130) from None
    except Exception as error:
        raise _explained(error) from error
    from .output import emit

    try:
        for report in reports:
            emit(report, as_json=as_json)
        sys.stdout.flush()
    except OSError as error:
        typer.echo(f"error: The report cannot be written to stdout: {error.strerror or error}", err=True)
        raise typer.Exit(1) from error


def _explained(error: Exception) -> Exception:
    """A usage error, a failure whose message is printed, or the error itself: then it is a fault of ours."""
    from agent.errors import AgentError, ConfigError
    from policies.errors import PolicyError, PolicyParameterError
    from retrieval.errors import RetrievalError
    from rinse.errors import RinseError

    from .errors import BenchmarkError, SettingsError

    if isinstance(error, SettingsError | ConfigError | PolicyParameterError):
        return typer.BadParameter(str(error))
    if isinstance(error, BenchmarkError | AgentError | PolicyError | RetrievalError | RinseError):
        typer.echo(f"error: {error}", err=True)
        return typer.Exit(1)
    return error


from . import cli_cache as _cli_cache  # noqa: E402, F401  # its commands join `app`
from . import cli_contrasts as _cli_contrasts  # noqa: E402, F401
from . import cli_coverage as _cli_coverage  # noqa: E402, F401
from . import cli_data as _cli_data  # noqa: E402, F401
from . import cli_faults as _cli_faults  # noqa: E402, F401
from . import cli_gate as _cli_gate  # noqa: E402, F401
from . import cli_pairwise as _cli_pairwise  # noqa: E402, F401
from . import cli_record as _cli_record  # noqa: E402, F401
from . import cli_retrieval as _cli_retrieval  # noqa: E402, F401
from . import cli_speed as _cli_speed  # noqa: E402, F401
from . import cli_speed_index as _cli_speed_index  # noqa: E402, F401
from . import cli_stopping as _cli_stopping  # noqa: E402, F401
from . import cli_stopping_ltt as _cli_stopping_ltt  # noqa: E402, F401
