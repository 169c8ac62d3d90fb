"""The report of `python -m benchmarks pairwise`: which scorer tells sets that suffice from sets that do not?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import SettingsError
from ..output import Report, Row
from ..pairwise.legend import FAIR_READING
from .figures import cell, number
from .page import Block, Command, Notice, Page, Plots, Section, Text, write_page, write_whole
from .pairwise_added import ADDED, added_plots, falls_table, measured_with_additions
from .pairwise_latency import latency_plot
from .pairwise_repeat import pairwise_command
from .pairwise_rows import ACCURACY, WHOLE, Compared, Sheet, compared, is_waiting, of_sheet
from .pairwise_spread import SPREAD, spread_plots
from .pairwise_tables import cue_table, headline_table, not_run_table, paper_table, subset_tables
from .pairwise_tests import TESTS, test_plots
from .pairwise_words import (
    NO_ADDITIONS,
    NO_SPREAD,
    NO_TESTS,
    NO_TIMES,
    READING,
    REMEMBERED,
    UNFINISHED,
)
from .ran import failures_table, pairs_table
from .svg import alone

_WIDE = 500.0
"""Of the drawing that stands alone: a page of documentation is wider than a phone."""


def write_pairwise_report(report: Report, path: Path) -> None:
    """Write the page; a file that stands there is replaced at once, never half.

    Args:
        report: Of `pairwise.run.run_pairwise`.
        path: In a folder that exists: see `page.require_report`.

    Raises:
        RunFileError: it cannot be written.
    """
    write_page(pairwise_page(report), path)


def write_pairwise_figure(report: Report, path: Path) -> None:
    """Write the drawing of accuracy against latency as an SVG file that stands alone, for light and for dark.

    Raises:
        RunFileError: it cannot be written.
        SettingsError: no scorer has both a mean accuracy and a time.
    """
    found = compared(report)
    drawn = (latency_plot(found, sheet, name="latency", width=_WIDE) for sheet in found.sheets)
    plot = next((one for one in drawn if one is not None), None)
    if plot is None:
        raise SettingsError(f"There is nothing to draw accuracy against latency from. {NO_TIMES}")
    write_whole(alone(plot.svg), path)


def pairwise_page(report: Report) -> Page:
    """The page of a comparison."""
    found = compared(report)
    main = found.sheets[0] if found.sheets else None
    sections = [
        *([] if found.sheets else [Section(title="Headline tests", blocks=[Notice(text=NO_TESTS)])]),
        *(_section(found, sheet, f"sheet{at}") for at, sheet in enumerate(found.sheets)),
        Section(title="Not run here", blocks=list(_not_run(found))),
        Section(title="Accuracy against latency", blocks=list(_latency(found))),
        Section(title="Scores of both sides", blocks=list(_spread(found, main))),
        Section(title="Accuracy against added passages", blocks=list(_added(found))),
        Section(title="Cues", blocks=list(_cues(found))),
        Section(title="Beside the paper", blocks=[one for one in [paper_table(found)] if one is not None]),
        Section(title="How to read this", blocks=[Text(points=READING)]),
        Section(title="What was run", blocks=list(_run(report))),
    ]
    return Page(
        title="Scorers of sufficiency side by side",
        lead=[
            Text(paragraphs=[_lead(report, found)]),
            Command(line=pairwise_command(report)),
            *([Notice(text=UNFINISHED)] if any(map(is_waiting, report.failures)) else []),
        ],
        sections=[section for section in sections if section.blocks],
    )


def _lead(report: Report, found: Compared) -> str:
    settings = report.settings
    files = [*settings.get("data", ()), *settings.get("contrasts", ())]
    tests = max((len(sheet.tests) for sheet in found.sheets), default=0)
    held_out = (
        "Scorers were fitted without the family of the dataset they were tested on."
        if settings.get("held_out")
        else "Scorers were not held out from the families of the datasets (--held-out does that)."
    )
    lacking = f"; {len(found.not_run)} more lack their weights here and are shown with the paper’s figures"
    return (
        f"{len(found.scorers)} scorers ran here on {tests} headline tests{lacking if found.not_run else ''}. "
        f"Files: {', '.join(files) or 'none'}. {held_out} Seed {report.seed}. Repeat it with:"
    )


def _section(found: Compared, sheet: Sheet, name: str) -> Section:
    return Section(title=f"Headline tests: {of_sheet(sheet).lower()}", blocks=list(_sheet(found, sheet, name)))


def _sheet(found: Compared, sheet: Sheet, name: str) -> Iterator[Block]:
    if len(found.sheets) > 1:
        told = (
            "Scorers that prompt a language model were not run on all groups; they stand in the section before."
            if sheet.subset == WHOLE
            else "A seeded sample of groups of each dataset; all scorers are compared pair by pair on the same."
        )
        yield Text(paragraphs=[told])
    yield Text(points=list(_verdict(found, sheet)))
    if found.rivals and sheet is found.sheets[0]:
        yield Text(paragraphs=[FAIR_READING])
    yield headline_table(found, sheet, caption="Pairwise accuracy of every system on the headline tests")
    plots = test_plots(found, sheet, name=name)
    if plots:
        yield Text(paragraphs=[TESTS])
        yield Plots(plots=plots)


def _verdict(found: Compared, sheet: Sheet) -> Iterator[str]:
    for what, rows in (("mean over the tests", sheet.mean), ("worst test", sheet.worst)):
        leader = _highest({name: row for name, row in rows.items() if name in found.scorers})
        if leader is None:
            continue
        cue = _highest({name: row for name, row in rows.items() if name not in found.scorers})
        told = f"Highest {what} of the scorers that ran here: {_told(leader, rows)}."
        if cue is not None:
            told += f" Best cue: {_told(cue, rows)}."
        yield told


def _highest(rows: Mapping[str, Row]) -> str | None:
    """The system with the highest accuracy; the first of equals."""
    known = {name: value for name, row in rows.items() if (value := number(row, ACCURACY)) is not None}
    return max(known, key=lambda name: known[name], default=None)


def _told(system: str, rows: Mapping[str, Row]) -> str:
    shown = cell(rows[system], ACCURACY)
    return f"{system} with {shown.text} {shown.interval}".strip()


def _not_run(found: Compared) -> Iterator[Block]:
    table = not_run_table(found)
    if table is not None:
        yield table


def _latency(found: Compared) -> Iterator[Block]:
    drawn = (latency_plot(found, sheet, name=f"latency{at}") for at, sheet in enumerate(found.sheets))
    plots = [plot for plot in drawn if plot is not None]
    yield Text(paragraphs=[REMEMBERED if plots else NO_TIMES])
    if plots:
        yield Plots(plots=plots)


def _spread(found: Compared, sheet: Sheet | None) -> Iterator[Block]:
    plots = [] if sheet is None else spread_plots(found, sheet, name="spread")
    yield Text(paragraphs=[SPREAD if plots else NO_SPREAD])
    if plots:
        yield Plots(plots=plots)


def _added(found: Compared) -> Iterator[Block]:
    plots = added_plots(found, name="added")
    if plots:
        yield Text(paragraphs=[ADDED])
    if not measured_with_additions(found):
        yield Text(paragraphs=[NO_ADDITIONS])
    if plots:
        yield Plots(plots=plots)
    table = falls_table(found)
    if table is not None:
        yield table


def _cues(found: Compared) -> Iterator[Block]:
    table = cue_table(found)
    if table is not None:
        yield table
    yield from subset_tables(found)


def _run(report: Report) -> Iterator[Block]:
    hidden = {"histograms", "contrasts_made", "command"}
    settings = {name: value for name, value in report.settings.items() if name not in hidden}
    yield pairs_table("Settings", {**settings, "seed": report.seed})
    made = report.settings.get("contrasts_made")
    if made:
        yield from failures_table(made, caption="Contrasts that were built, and from how much")
    yield pairs_table("Versions", report.versions)
    yield pairs_table("Machine that measured", report.machine)
    yield from failures_table(report.failures, caption="What could not be read or measured")
    if not report.failures:
        yield Text(paragraphs=["Nothing failed."])
