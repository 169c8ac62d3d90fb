"""How a search looks on a terminal: one row a turn, then the answer with its citations, or what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .plain import plain_line
from .result import HARMLESS, SearchResult, Turn
from .wire import result_json, turn_json

_VERBS = {"answer": "answer", "search": "search on", "widen": "widen", "abstain": "abstain"}
_COLOURS = {"answer": "green", "search": "cyan", "widen": "yellow", "abstain": "red"}
_MAX_EVENTS = 12
"""Events that are told of a degraded search."""


def turn_table(turns: Iterable[Mapping[str, Any]], *, title: str) -> Table:
    """The table of a search; `turns` as `turn_json` writes them."""
    heading = Text(plain_line(title), style="bold")
    table = Table(title=heading, title_justify="left", expand=True, pad_edge=False)
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
    gaps = " · ".join(plain_line(gap["text"]) for gap in sufficiency.get("gaps", ()))
    action = turn["decision"]["action"]
    decision = Text(_VERBS[action], style=_COLOURS[action])
    decision.append(f"\n{plain_line(turn['decision']['reason']['code'])}", style="dim")
    for event in turn["events"]:
        decision.append(f"\n! {plain_line(event['kind'])}", style="yellow")
    return (
        str(turn["number"]),
        Text(plain_line(turn["tier"]) or "given"),
        Text("\n".join(map(plain_line, turn["queries"]))),
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
    turns = [turn_json(turn) for turn in result.turns]
    return recorded_outcome(result_json(result, with_passages=False), turns=turns, titles=titles, urls=urls)


def recorded_outcome(
    result: Mapping[str, Any],
    *,
    turns: Iterable[Mapping[str, Any]],
    titles: Mapping[str, str],
    urls: Mapping[str, str | None],
) -> RenderableType:
    """The end of a search, from `result_json` and `turn_json`: live and from a trace it looks the same."""
    lines: list[RenderableType] = []
    if result["action"] == "answer":
        answer = plain_line(result["answer"] or "") or "(evidence only)"
        lines.append(Text.assemble(("Answer: ", "bold green"), (answer, "bold")))
        for number, citation in enumerate(result["citations"], start=1):
            key = citation["passage_id"]
            where, url = plain_line(titles.get(key, "?")), plain_line(urls.get(key) or "")
            quote = Text.assemble((f"[{number}] ", "cyan"), (where, "bold"), f": {_short(citation['quote'])}")
            if url:
                quote.append(f" <{url}>", style="dim")
            lines.append(_indented(quote))
    else:
        code = plain_line(result["reason"]["code"])
        lines.append(Text.assemble(("No answer: ", "bold red"), (code, "bold")))
        lines.append(_indented(Text(f"Missing: {_missing(result)}")))
        lines.append(_indented(Text(f"Tiers not tried: {_not_tried(result)}")))
    spend = result["spend"]
    passages = result["evidence"] if isinstance(result["evidence"], list) else []
    fetched = f", {spend['fetches']} fetches" if spend["fetches"] else ""
    told = f"{spend['calls']} calls, {len(passages)} passages{fetched}, {spend['seconds']:.1f} s"
    covered = result.get("coverage")  # traces of older versions have none
    if covered:
        told += f"; the cache: {covered['verdict']}"
    lines.append(Text(told, style="dim"))
    if result["degraded"]:
        lines.append(Text("Degraded: a part failed on the way.", style="yellow"))
        lines += [_indented(Text(line, style="yellow")) for line in _told(turns, result["events"])]
    return Group(*lines)


def _missing(result: Mapping[str, Any]) -> str:
    if result["gaps"]:
        return " · ".join(plain_line(gap["text"]) for gap in result["gaps"])
    if result["evidence"]:
        return "no single part: all are covered weakly"
    if result["spend"]["calls"]:
        return "everything: nothing was found"
    ended = ", the budget ended first" if result["reason"]["code"].startswith("budget_") else ""
    return f"everything: nothing was searched{ended}"


def _not_tried(result: Mapping[str, Any]) -> str:
    names = ", ".join(map(plain_line, result["tiers_not_tried"]))
    return names or ("none, all were searched" if result["spend"]["calls"] else "all, nothing was searched")


def _told(turns: Iterable[Mapping[str, Any]], last: Iterable[Mapping[str, Any]]) -> list[str]:
    """A line for each event that took something from the search, turn by turn and then those of its end."""
    told = [_event(event, f"turn {turn['number']}, ") for turn in turns for event in turn["events"]]
    told += [_event(event) for event in last]
    distinct = [line for line in dict.fromkeys(told) if line]
    more = len(distinct) - _MAX_EVENTS
    return [*distinct[:_MAX_EVENTS], *([f"and {more} more"] if more > 0 else [])]


def _event(event: Mapping[str, Any], when: str = "") -> str:
    if event["kind"] in HARMLESS:
        return ""
    where = f"{plain_line(event['where'])}, " if event["where"] else ""
    return f"{when}{where}{plain_line(event['kind'])}: {_short(event['detail'])}"


def _indented(line: Text) -> Padding:
    return Padding(line, (0, 0, 0, 2))


def _short(text: str, limit: int = 300) -> str:
    line = plain_line(text)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
