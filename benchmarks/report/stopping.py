"""The report of `python -m benchmarks replay`: which stop policy does what in the same recorded searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..output import Report, Row
from .figures import cell, digits, number
from .page import Block, Command, Group, Line, Notice, Page, Plot, Plots, Section, Table, Text
from .pareto import pareto_plot, regret_plot
from .ran import failures_table, pairs_table, text_cell
from .repeat import replay_command
from .replayed import Replayed, replayed
from .risk import risk_plot, stops_plot
from .tables import COSTS, MAIN, MARKS, MORE, WORDS, default_table, lowest_regret, policies_table, score_table

_DRAWN: Sequence[tuple[str, Callable[..., Plot | None]]] = (
    ("pareto", pareto_plot),
    ("risk", risk_plot),
    ("regret", regret_plot),
    ("stops", stops_plot),
)
_LABEL = (
    "A decision is correct if and only if the search is answered exactly where the annotated support is complete. "
    "The label says “annotated support complete”; it does not say that the question can be answered, nor that it "
    "cannot: passages without annotation may carry the same facts."
)
_TWIN = (
    "A twin is the same question with its support masked when it was searched for. Question and twin are one "
    "group, and groups are what the bootstrap draws."
)
_NO_GOLD = "Oracles know the annotations; no search could be run with them. They show what could be reached."


def replay_page(report: Report) -> Page:
    """The page of a replay.

    Args:
        report: Of `stopping.replaying.run_replay`.
    """
    parts = replayed(report)
    sections = [
        Section(title="How well the score ranks", blocks=[*_maybe(score_table(parts))]),
        Section(title="The default against its rivals", blocks=list(_verdict(parts))),
        *(Section(title=part.title, blocks=list(_dataset(part, f"d{at}"))) for at, part in enumerate(parts)),
        Section(title="Policies and their parameters", blocks=list(_policies(report, parts))),
        Section(title="How to read this", blocks=[_notes(report)]),
        Section(title="What was run", blocks=list(_run(report))),
    ]
    return Page(
        title="Stop policies on the same recorded searches",
        lead=[Text(paragraphs=[_lead(report, parts)]), Command(line=replay_command(report))],
        sections=[section for section in sections if section.blocks],
    )


def _lead(report: Report, parts: Sequence[Replayed]) -> str:
    if not parts:
        return "Nothing was compared."
    whole = parts[0]
    left_out = report.settings.get("left_out", {})
    names = ", ".join(dict.fromkeys(part.title for part in parts[1:] or parts))
    return (
        f"{len(whole.policies)} stop policies were shown the same {whole.searches} recorded searches for "
        f"{whole.groups} questions of {names}; {len(left_out)} more were left out. Files: "
        f"{', '.join(report.settings.get('runs', ()))}; parameters chosen on: "
        f"{', '.join(report.settings.get('tune', ())) or 'nothing, as shipped'}. Seed {report.seed}. "
        "Repeat it with:"
    )


def _verdict(parts: Sequence[Replayed]) -> Iterator[Block]:
    table = default_table(parts)
    if table is None:
        yield Notice(
            text="The default was not compared: no thresholds were shipped for the scorer of these searches."
        )
        return
    yield Text(points=[_sentence(part) for part in parts if part.default is not None])
    yield table


def _sentence(part: Replayed) -> str:
    row = part.default
    if part.hopeless:
        return f"{part.title}: {part.hopeless}."
    right, above, saved = (
        _with(row, name, 1, percent=True)
        for name in ("correct_decisions", "correct_decisions_over_frontier", "calls_saved")
    )
    told = (
        f"{part.title}: the default decides {right} % of searches correctly with "
        f"{_with(row, 'calls_per_question', 2)} calls. Against the frontier of fixed numbers of calls and "
        f"until-dry at as many calls: {above} points. Against always answering at the horizon: {saved} % fewer "
        "calls."
    )
    rival = lowest_regret(part)
    if rival is None:
        return told
    gap = _with(part.policies[rival], "regret_utility_vs_default")
    return f"{told} Regret of {rival}, the lowest of the others without gold, minus its own: {gap}."


def _with(row: Row | None, name: str, places: int = 3, *, percent: bool = False) -> str:
    """A figure and its interval, in a sentence."""
    found = cell(row, name, places, percent=percent)
    return f"{found.text} {found.interval}".strip()


def _dataset(part: Replayed, name: str) -> Iterator[Block]:
    yield Text(paragraphs=[f"{part.searches} searches for {part.groups} questions, twins included."])
    if part.hopeless:
        yield Notice(
            text=f"{part.hopeless[:1].upper()}{part.hopeless[1:]}. Differences between policies are noise here: "
            "no best is marked, and no rank should be read off the plots."
        )
    elif number(part.gain, "oracle_gain") is not None:
        told = (
            f"The best end of each search is worth {_with(part.gain, 'oracle_gain')} more utility than the best "
            "policy that looks at nothing: so much a policy could gain."
        )
        yield Text(paragraphs=[told])
    plots = [plot for kind, draw in _DRAWN if (plot := draw(part, name=f"{name}-{kind}")) is not None]
    if plots:
        yield Plots(plots=plots)
    if part.policies:
        yield policies_table(
            part, MAIN, caption=f"{part.title}: every policy on the same searches", notes=[WORDS, MARKS]
        )
        yield policies_table(
            part, MORE, caption=f"{part.title}: where the figures come from, and costs", notes=[COSTS]
        )


def _policies(report: Report, parts: Sequence[Replayed]) -> Iterator[Block]:
    known = parts[0].policies if parts else {}
    lines = [
        Line(
            name=name,
            cells=[text_cell(row.get("parameters")), text_cell(row.get("note")), text_cell(row.get("reasons"))],
        )
        for name, row in known.items()
    ]
    if lines:
        yield Table(
            caption="Policies that were compared, and why their searches ended (number of searches)",
            columns=["policy", "parameters", "where they come from", "reasons of its stops"],
            groups=[Group(title="", lines=lines)],
        )
    left_out: Mapping[str, Any] = report.settings.get("left_out", {})
    if left_out:
        yield Table(
            caption="Policies that were left out, and why",
            columns=["policy", "why"],
            groups=[
                Group(title="", lines=[Line(name=name, cells=[text_cell(why)]) for name, why in left_out.items()])
            ],
        )


def _notes(report: Report) -> Text:
    utility = report.settings.get("utility", {})
    prices = (
        f"Utility of a search: +{_price(utility, 'right')} for an answer on complete support, "
        f"\N{MINUS SIGN}{_price(utility, 'wrong')} for an answer on incomplete support, 0 for an abstention, "
        f"minus {_price(utility, 'call_price')} for each call. Regret is counted against the best end of each "
        "search."
    )
    return Text(
        points=[
            _LABEL,
            _TWIN,
            prices,
            str(report.settings.get("multiplicity", "")),
            _NO_GOLD,
            "A dash is an undefined figure, such as the risk of a policy that never answers.",
        ]
    )


def _price(utility: Mapping[str, Any], name: str) -> str:
    value = number(utility, name)
    return digits(value) if value is None else f"{value:g}"


def _run(report: Report) -> Iterator[Block]:
    settings = {key: report.settings[key] for key in _SHOWN if key in report.settings}
    yield pairs_table("Settings", {**settings, "seed": report.seed})
    for at, depends_on in enumerate(report.settings.get("depends_on", ())):
        names = report.settings.get("runs", ())
        yield pairs_table(f"What {names[at] if at < len(names) else 'the run'} depends on", depends_on)
    yield pairs_table("Versions", report.versions)
    yield pairs_table("Machine that replayed", report.machine)
    yield from failures_table(report.failures, caption="Lines of the files that could not be used")


_SHOWN = ("runs", "tune", "scorer", "utility", "draws")


def _maybe(table: Table | None) -> Iterator[Table]:
    if table is not None:
        yield table
