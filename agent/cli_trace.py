"""`sufficit trace`: look at recorded searches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from .cli_errors import reported
from .wire import json_line

trace_app = typer.Typer(help="Look at recorded searches.", no_args_is_help=True, rich_markup_mode=None)


@trace_app.callback()
def _group() -> None:
    """Keep `show` a command of its own while it is the only one."""


@trace_app.command()
@reported
def show(
    file: Annotated[Path, typer.Argument(help="What `sufficit ask --trace FILE` wrote.")],
    passages: Annotated[bool, typer.Option("--passages", help="Print the evidence's texts too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print header, turns and result as one object.")] = False,
) -> None:
    """Show a recorded search as it looked: its turns, and how it ended.

    Example: sufficit trace show search.jsonl --passages
    """
    from .plain import plain, plain_line
    from .render import recorded_outcome, turn_table
    from .trace import load_trace

    recorded = load_trace(file)
    if as_json:
        data = {"search": recorded.header, "turns": recorded.turns, "result": recorded.result}
        sys.stdout.write(json_line(data))
        return
    console = Console(highlight=False)
    console.print(turn_table(recorded.turns, title=recorded.question))
    if recorded.result is None:
        console.print(
            "The search did not end by itself: it was cancelled or killed after these turns.", style="yellow"
        )
    else:
        titles = {key: passage.heading or passage.source_id for key, passage in recorded.passages.items()}
        urls = {key: passage.url for key, passage in recorded.passages.items()}
        console.print(recorded_outcome(recorded.result, turns=recorded.turns, titles=titles, urls=urls))
    if passages:
        for passage in recorded.passages.values():
            console.print(Text(f"\n{plain_line(passage.heading)} ({passage.id[:12]})", style="bold"))
            console.print(Padding(Text(plain(passage.text)), (0, 0, 0, 2)))
    for problem in recorded.problems:
        typer.echo(plain_line(f"{file}: {problem} cannot be read"), err=True)
