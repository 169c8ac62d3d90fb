"""Run a search in front of a person: a table that grows by a row a turn, then how it ended."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live

from .loop import SearchAgent
from .render import live_table, outcome
from .result import SearchResult, Turn


async def show_search(
    agent: SearchAgent, question: str, *, console: Console, trace: Path | None = None
) -> SearchResult:
    """Search and print. Where nobody watches (a pipe, a file), the table is printed once, at the end."""
    turns: list[Turn] = []
    live = Live(console=console, auto_refresh=False, transient=True) if console.is_terminal else None
    with live or nullcontext():
        async with agent.stream(question, trace=trace) as stream:
            async for turn in stream:
                turns.append(turn)
                if live is not None:
                    live.update(live_table(turns, question=question), refresh=True)
            result = await stream.result()
    console.print(live_table(turns, question=question))
    console.print(outcome(result))
    return result
