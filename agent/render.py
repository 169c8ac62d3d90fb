"""How a search looks on a terminal: one row a turn, then the answer with its citations, or what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .result import SearchResult, Turn
from .wire import result_json, turn_json

_VERBS = {"answer": "answer", "search": "search on", "widen": "widen", "abstain": "abstain"}
_COLOURS = {"answer": "green", "search": "cyan", "widen": "yellow", "abstain": "red"}


def turn_table(turns: Iterable[Mapping[str, Any]], *, title: str) -> Table:
    """The table of a search; `turns` as `turn_json` writes them."""
    table = Table(title=escape(title), title_justify="left", title_style="bold", expand=True, pad_edge=False)
    for name, options in (
        ("turn", {"justify": "right", "no_wrap": True}),
        ("tier", {"no_wrap": True}),
        ("queries", {"ratio": 5}),
        ("new", {"justify": "right", "no_wrap": True}),
        ("score", {"justify": "right", "no_wrap": True}),
        ("gap", {"ratio": 3}),
        ("decision", {"no_wrap": True}),
    ):
        table.add_column(name, **options)
    for turn in turns:
        table.add_row(*_row(turn))
    return table


def _row(turn: Mapping[str, Any]) -> tuple[str | Text, ...]:
    sufficiency = turn["sufficiency"] or {}
    score = sufficiency.get("score")
    gaps = " · ".join(gap["text"] for gap in sufficiency.get("gaps", ()))
    action = turn["decision"]["action"]
    decision = Text(_VERBS[action], style=_COLOURS[action])
    decision.append(f"\n{turn['decision']['reason']['code']}", style="dim")
    for event in turn["events"]:
        decision.append(f"\n! {event['kind']}", style="yellow")
    return (
        str(turn["number"]),
        Text(turn["tier"] or "given"),
        Text("\n".join(turn["queries"])),
        str(len(turn["new"])),
        "–" if score is None else f"{score:.2f}",
        Text(gaps or "–"),
        decision,
    )


def live_table(turns: Sequence[Turn], *, question: str) -> Table:
    """The table of a search that is running."""
    return turn_table([turn_json(turn) for turn in turns], title=question)


def outcome(result: SearchResult) -> RenderableType:
    """The end of a search."""
    titles = {passage.id: passage.heading or passage.source_id for passage in result.evidence}
    urls = {passage.id: passage.url for passage in result.evidence}
    return recorded_outcome(result_json(result, with_passages=False), titles=titles, urls=urls)


def recorded_outcome(
    result: Mapping[str, Any], *, titles: Mapping[str, str], urls: Mapping[str, str | None]
) -> RenderableType:
    """The end of a search, from `result_json`: live and from a trace it looks the same."""
    lines: list[RenderableType] = []
    if result["action"] == "answer":
        lines.append(Text.assemble(("Answer: ", "bold green"), (result["answer"] or "(evidence only)", "bold")))
        for number, citation in enumerate(result["citations"], start=1):
            where = titles.get(citation["passage_id"], "?")
            url = urls.get(citation["passage_id"])
            quote = Text.assemble((f"[{number}] ", "cyan"), (where, "bold"), f": {_short(citation['quote'])}")
            if url:
                quote.append(f" <{url}>", style="dim")
            lines.append(Padding(quote, (0, 0, 0, 2)))
    else:
        lines.append(Text.assemble(("No answer: ", "bold red"), (result["reason"]["code"], "bold")))
        missing = " · ".join(gap["text"] for gap in result["gaps"])
        nothing = (
            "no single part: all are covered weakly" if result["evidence"] else "everything: nothing was found"
        )
        lines.append(Padding(Text(f"Missing: {missing or nothing}"), (0, 0, 0, 2)))
        not_tried = ", ".join(result["tiers_not_tried"])
        lines.append(Padding(Text(f"Tiers not tried: {not_tried or 'none, all were searched'}"), (0, 0, 0, 2)))
    spend = result["spend"]
    passages = result["evidence"] if isinstance(result["evidence"], list) else []
    lines.append(Text(f"{spend['calls']} calls, {len(passages)} passages, {spend['seconds']:.1f} s", style="dim"))
    if result["degraded"]:
        lines.append(Text("Degraded: a part failed on the way; the events say which.", style="yellow"))
    return Group(*lines)


def _short(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def error_console() -> Console:
    """For progress and messages; stdout is for results."""
    return Console(stderr=True)
