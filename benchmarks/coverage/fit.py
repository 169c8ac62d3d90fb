"""`python -m benchmarks coverage-fit`: the bars of the cache and of the web, chosen on training streams."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from agent.config import Settings
from policies.bars import Bars
from policies.shipped import FILE, WebBars, shipped
from policies.utility import Utility
from retrieval.index.encoder import TransformerEncoder
from rinse import RinseScorer

from ..environment import versions
from ..errors import SettingsError
from ..output import Report, Row
from ..runfile import HeadedLines
from ..stats import ratios
from ..stopping.fit import write_shipped
from .bars import (
    MOST_FALSE_HITS,
    PAGE_SHARE,
    Ends,
    Floats,
    Levels,
    Table,
    as_bars,
    climb,
    play,
    table_of,
    worths,
)
from .exploring import Explored, explore
from .layout import StreamOptions, depends_on, lay_out
from .origin import running
from .shared_work import SharedWork
from .simulation import without_time_limit

PARTIAL_FROM = 0.3
"""From this score on gaps become the first query for the web. On a training stream that found as much support as
asking the question first; from -2 to -1 half as much after one call, since the names in what the cache nominated
misled, and from -1 to 0.3 the same support for a fifth of a page more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageFitOptions:
    """What bars are chosen on.

    Raises:
        SettingsError: fewer than two streams.
    """

    stream: StreamOptions
    """Of the first stream; the others have the next seeds."""
    streams: int = 4
    """At least 2: each is judged by bars that were chosen on the others."""
    kept: Path | None = None
    """Run file of explored searches; a stopped run is taken up again, stream by stream."""
    out: Path = FILE
    """The file of all that is shipped."""

    def __post_init__(self) -> None:
        if self.streams < 2:
            raise SettingsError(
                f"Expected at least 2 streams, got {self.streams}: each is judged without its own."
            )


class Kept(BaseModel):
    """The explored searches of one stream."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    type: Literal["stream"] = "stream"
    seed: int
    searches: list[Explored]


class ExploredFile(HeadedLines[Kept]):
    """One line a stream."""

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.streams: dict[int, list[Explored]] = {}
        super().__init__(path, depends_on)

    def read(self, line: bytes) -> Kept:
        """One line."""
        return Kept.model_validate_json(line)

    def take(self, record: Kept, number: int) -> None:
        """Keep it."""
        self.streams.setdefault(record.seed, record.searches)


def run_coverage_fit(options: CoverageFitOptions, *, settings: Settings | None = None) -> Report:
    """Explore, choose, write in one step, report. Blocking; progress goes to stderr.

    Raises:
        DatasetError, CorpusError, RunFileError, BackboneError: see there.
        SettingsError: the records are too few, they are of the split dev, or nothing was shipped for the scorer.
    """
    settings = settings or without_time_limit()
    encoder = TransformerEncoder.named()
    scorer = RinseScorer.small(encoder=encoder).fingerprint
    before = shipped(scorer)
    if before is None:
        raise SettingsError("Choose the other bars of this scorer first: python -m benchmarks stop-fit --help")
    header = {name: value for name, value in depends_on(options.stream).items() if name != "seed"}
    header |= {"code": versions()["commit"]}
    file = None if options.kept is None else ExploredFile(options.kept, header)
    parts = [
        _explored(replace(options.stream, seed=options.stream.seed + number), settings, encoder, file)
        for number in range(options.streams)
    ]
    utility = before.utility
    tables = [table_of(part) for part in parts]
    levels = climb(table_of([one for part in parts for one in part]), utility)
    ahead, fetching = as_bars(levels)
    total = sum(map(len, parts))
    web = WebBars(
        ahead=ahead,
        fetching=fetching,
        partial_from=PARTIAL_FROM,
        found_on=_found_on(options, total, utility),
    )
    write_shipped(options.out, replace(before, web=web))
    return Report(
        benchmark="coverage-fit",
        settings={
            **depends_on(options.stream),
            "streams": options.streams,
            "ahead": _told(ahead),
            "fetching": _told(fetching),
            "out": options.out.name,
        },
        seed=options.stream.seed,
        rows=_rows(parts, tables, levels, utility, seed=options.stream.seed),
        failures=[],
    )


def _found_on(options: CoverageFitOptions, searches: int, utility: Utility) -> str:
    files = ", ".join(path.name.removesuffix(".gz").removesuffix(".jsonl") for path in options.stream.records)
    return (
        f"{searches} searches, twins included, in {options.streams} streams of {files}; a page of the web costs "
        f"{PAGE_SHARE * utility.call_price:g}, false hits {MOST_FALSE_HITS:g} at most: "
        "python -m benchmarks coverage-fit"
    )


def _explored(
    stream: StreamOptions, settings: Settings, encoder: TransformerEncoder, file: ExploredFile | None
) -> list[Explored]:
    if file is not None and stream.seed in file.streams:
        return file.streams[stream.seed]
    layout = lay_out(stream)
    reported = sorted({ask.record.dataset for ask in layout.way.stream if ask.record.split == "dev"})
    if set(reported) - stream.halved:
        raise SettingsError(
            f"{', '.join(reported)} is of the split dev, on which we report. Choose bars on training questions."
        )
    with running(layout.world) as origin, tempfile.TemporaryDirectory() as folder:
        found = explore(origin, SharedWork(encoder), settings, layout.way, Path(folder))
    if file is not None:
        file.append(Kept(seed=stream.seed, searches=found))
    return found


def _rows(
    parts: Sequence[Sequence[Explored]], tables: Sequence[Table], levels: Levels, utility: Utility, *, seed: int
) -> list[Row]:
    """The chosen bars on what they were chosen on, and each stream under bars chosen without it."""
    held_out = [
        climb(table_of([one for other in parts if other is not part for one in other]), utility) for part in parts
    ]
    clusters = [f"{number} {one.cluster}" for number, part in enumerate(parts) for one in part]
    rows: list[Row] = []
    for name, chosen in (("in the fit", [levels] * len(parts)), ("held out", held_out)):
        figures = [_figures(table, play(table, own), utility) for table, own in zip(tables, chosen, strict=True)]
        row: Row = {"bars": name, "questions": len(clusters)}
        for figure in figures[0]:
            above, below = np.concatenate([one[figure] for one in figures]).T
            found = ratios(clusters, above[:, None], below[:, None], seed=seed).interval(0)
            row |= {figure: found.estimate, f"{figure}_lo": found.lo, f"{figure}_hi": found.hi}
        rows.append(row)
    return rows


def _figures(table: Table, ends: Ends, utility: Utility) -> dict[str, Floats]:
    """By figure what is summed above and below the line, shape (questions, 2)."""
    rows = np.arange(len(table.scores))
    all_of_them = np.ones(len(rows))
    complete = table.complete[rows, ends.look]
    parts = {
        "utility": (worths(table, ends, utility), all_of_them),
        "hits": (ends.hits, all_of_them),
        "false_hits": (ends.hits & ~complete & table.answerable, table.answerable),
        "fetches": (table.fetches[rows, ends.look], all_of_them),
        "support_recall": (table.shares[rows, ends.look] * table.answerable, table.answerable),
    }
    return {
        name: np.stack([np.asarray(part, dtype=float) for part in both], axis=1) for name, both in parts.items()
    }


def _told(bars: Bars) -> dict[str, Any]:
    return {"answer_at": list(bars.answer_at), "abstain_below": list(bars.abstain_below)}
