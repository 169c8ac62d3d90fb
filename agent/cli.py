"""The command line: `sufficit`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from retrieval.text import encodable

from .cli_cache import cache_app
from .cli_calibrate import add_calibrate
from .cli_errors import reported
from .cli_fetch import fetch
from .cli_fit import add_fit
from .cli_index import index_app
from .cli_trace import trace_app
from .config import Settings, load_settings
from .errors import ConfigError
from .plain import plain_line
from .wire import json_line

if TYPE_CHECKING:
    from .loop import SearchAgent

app = typer.Typer(
    name="sufficit",
    help=(
        "Search until the evidence suffices, then answer from it, or say what is missing.\n\n"
        "First build an index, then ask:\n\n"
        "  sufficit index build corpus.jsonl --out wiki.index\n\n"
        "  sufficit ask 'Which river runs through the birthplace of Albert Einstein?' --index wiki.index"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.add_typer(index_app, name="index")
app.add_typer(trace_app, name="trace")
app.add_typer(cache_app, name="cache")
app.command()(fetch)
add_calibrate(app)
add_fit(app)


def _default(setting: str) -> str:
    return f"Default: {Settings.model_fields[setting].default:g}."


JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


@app.command(
    epilog="Exit status: 0 answered or abstained in order, 1 failure, 2 usage, 130 interrupt. Every option can "
    "also stand in the environment (SUFFICIT_MAX_TURNS=4) or in ./sufficit.toml (max_turns = 4)."
)
@reported
def ask(
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    *,
    index: Annotated[Path | None, typer.Option(help="Folder of the local index.")] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="When to stop: bars (default; with a tier web: coverage), band, fixed-6; all: docs/policies.md."
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Of sufficit calibrate: its policy decides, for the searches it is about.")
    ] = None,
    answer_at: Annotated[
        float | None, typer.Option(help="Answer from this score on. Default: found on training questions.")
    ] = None,
    abstain_below: Annotated[
        float | None, typer.Option(help="Give up below this score. Default: found on training questions.")
    ] = None,
    min_turns: Annotated[
        int | None,
        typer.Option(help="Turns before a score may end the search. Default: found on training questions."),
    ] = None,
    max_turns: Annotated[
        int | None, typer.Option(help=f"Most turns; a decision follows each. {_default('max_turns')}")
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(help=f"Most calls: one query to one tier each. {_default('max_calls')}")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help=f"Longest search, in seconds of wall clock. {_default('max_seconds')}")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Most tokens of a language model in the search.")] = None,
    tiers: Annotated[
        str | None,
        typer.Option(help="Where to search, in order, by comma: local (default), cache, web. See docs/tiers.md."),
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Folder of the coverage cache; what the web tier fetches is stored in it.")
    ] = None,
    sites: Annotated[
        str | None, typer.Option(help="Hosts that the web tier keeps to, by comma; default: all.")
    ] = None,
    max_fetches: Annotated[int | None, typer.Option(help="Most requests to web sites in the search.")] = None,
    max_age: Annotated[
        float | None, typer.Option(help="Oldest content of use from cache and web, in seconds.")
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose part of the cache is read and filled.")] = None,
    k: Annotated[int | None, typer.Option(help=f"Passages that one call asks for. {_default('k')}")] = None,
    planner: Annotated[
        str | None, typer.Option(help="What plans the queries: gap (default), or llm, set under [llm].")
    ] = None,
    answerer: Annotated[
        str | None, typer.Option(help="What answers: extractive (default), or llm, set under [llm].")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Record the search in this new file, or in a new file in this folder.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Search for the evidence that a question needs; answer it, or abstain and say what is missing.

    Example: sufficit ask 'Who taught the founder of the Lyceum?' --index wiki.index --policy band --max-turns 4
    """
    from .build import open_agent

    question = _asked(question)
    settings = load_settings(
        {
            "index": index, "policy": policy, "certificate": certificate, "answer_at": answer_at,
            "abstain_below": abstain_below, "min_turns": min_turns, "max_turns": max_turns,
            "max_calls": max_calls, "max_seconds": max_seconds,
            "max_tokens": max_tokens, "k": k, "planner": planner, "answerer": answerer, "trace": trace,
            "tiers": tiers, "max_fetches": max_fetches, "max_age": max_age, "tenant": tenant,
            "web": None if sites is None else {"sites": sites},
            "cache": None if cache is None else {"folder": cache},
        }
    )  # fmt: skip
    with Console(stderr=True).status("Opening the tiers and loading the model …"):
        agent = open_agent(settings=settings)
    asyncio.run(_ask(agent, question, settings.trace, as_json=as_json))


async def _ask(agent: SearchAgent, question: str, trace: Path | None, *, as_json: bool) -> None:
    from .show import show_search
    from .wire import result_json

    async with agent:
        if as_json:
            _print_json(result_json(await agent.run(question, trace=trace)))
        else:
            await show_search(agent, question, console=Console(), trace=trace)


@app.command()
@reported
def score(
    *,
    question: Annotated[str, typer.Option(help="The question.")],
    passages: Annotated[
        Path, typer.Option(help="File of passages, one JSON object or text a line; also .gz, .bz2 or /dev/stdin.")
    ],
    odds: Annotated[
        bool,
        typer.Option(
            "--odds", help="Log-odds that they suffice, to compare multi-hop questions, in place of the score."
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Score whether a question plus passages suffice, and say which part of the question is uncovered.

    A line of the file: {"text": "Ada Lovelace was born in London.", "title": "Ada Lovelace"}

    title, section, source_id and url may be left out, and other fields are let be. Passages of one source_id (or
    id) are read as chunks of one document.

    The score sums readers that have mean 0 and deviation 1 over the sets that the profile was fitted on: 0 is the
    average of those, more is more sufficient. It is no probability, and it is made to order sets of one question.

    With --odds the score compares multi-hop questions, for a threshold over all of them: the natural logarithm of
    the odds that the passages suffice, as fitted where half of the sets did. 0 is even, 1 about three to one. Not
    for questions that one of several passages answers alone: these look as if a hop were missing.

    Example: sufficit score --question 'Where was Ada Lovelace born?' --passages passages.jsonl --json
    """
    from rinse import OddsScorer, RinseScorer

    from .passage_file import read_passages
    from .wire import sufficiency_json

    question = _asked(question)
    evidence = read_passages(passages)
    scorer = OddsScorer.small() if odds else RinseScorer.small()
    sufficiency = scorer.score(question, evidence)
    if as_json:
        _print_json({"question": question, **(sufficiency_json(sufficiency) or {})})
        return
    typer.echo(f"{'log-odds' if odds else 'score':<10}{sufficiency.score:.3f}")
    typer.echo(f"passages  {sufficiency.passages}")
    for gap in sufficiency.gaps:
        typer.echo(f"gap       '{plain_line(gap.text)}' (coverage {gap.coverage:.2f})")


@app.command()
@reported
def doctor(
    *,
    index: Annotated[Path | None, typer.Option(help="An index to look at too.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Look at versions, model weights, the scorer's profile and an index; exit status 1 if something is wrong.

    Example: sufficit doctor --index wiki.index
    """
    from .doctor import examine

    findings = examine(load_settings({"index": index}))
    if as_json:
        _print_json({"ok": all(f.ok for f in findings), "findings": [f.as_json() for f in findings]})
    else:
        for finding in findings:
            typer.echo(f"{'ok  ' if finding.ok else 'BAD '} {finding.part:<12} {plain_line(finding.detail)}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def _asked(question: str) -> str:
    """The question as UTF-8 can write it; looked at before a model is loaded for it."""
    if not question.strip():
        raise ConfigError("The question is empty. Pass one in quotes, e.g. 'Who wrote Emma?'.")
    return encodable(question)


def _print_json(data: Mapping[str, object]) -> None:
    sys.stdout.write(json_line(data))


def main() -> None:
    """Run the command line."""
    app()
