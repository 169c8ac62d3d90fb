"""`python -m benchmarks coverage`: every strategy over some streams, then the figures."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.config import Settings, load_settings
from retrieval.index.encoder import TransformerEncoder

from ..environment import versions
from ..errors import SettingsError
from ..output import Report, Row
from .figures import best_similarity, comparison_rows, strategy_rows
from .layout import Layout, StreamOptions, depends_on, lay_out
from .lines import CoverageFile, Line
from .origin import running
from .runs import COVERAGE, SIMILARITY, SPARING, Runs
from .shared_work import SharedWork


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """What is simulated.

    Raises:
        SettingsError: no stream.
    """

    stream: StreamOptions
    """Of the first stream."""
    streams: int = 1
    """Streams that are judged together; each has the next seed, its own world and empty caches."""
    out: Path | None = None
    """Run file; strategies that it holds whole are not run again. Streams after the first have their own."""

    def __post_init__(self) -> None:
        if self.streams < 1:
            raise SettingsError(f"Expected at least 1 stream, got {self.streams}.")

    def parts(self) -> list[CoverageOptions]:
        """The streams apart."""
        return [
            CoverageOptions(
                stream=replace(self.stream, seed=self.stream.seed + number), out=_numbered(self.out, number)
            )
            for number in range(self.streams)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What came of one stream."""

    second: dict[str, tuple[Line, ...]]
    """By strategy, the lines of the second half; clusters are named after the seed, too."""
    told: dict[str, Any]
    """Thresholds, and what the world was."""
    faults: list[dict[str, Any]]


def run_coverage(options: CoverageOptions, *, settings: Settings | None = None) -> Report:
    """Simulate, judge and sum up. Blocking; progress goes to stderr.

    Raises:
        DatasetError, CorpusError, RunFileError, BackboneError: see there.
        SettingsError: the records are too few, or the origin did not start.
    """
    settings = settings or without_time_limit()
    encoder = TransformerEncoder.named()
    encoder.encode(["The model is loaded before anybody waits for it."])
    found = [_simulated(part, settings, encoder) for part in options.parts()]
    second = {name: tuple(line for one in found for line in one.second[name]) for name in found[0].second}
    rivals = [name for name in second if name.startswith(SIMILARITY)]
    best = {
        "best_similarity": best_similarity(second, COVERAGE, [name for name in rivals if SPARING not in name]),
        "best_similarity_sparing": best_similarity(second, COVERAGE, [name for name in rivals if SPARING in name]),
    }
    pairs = [(COVERAGE, name) for name in second if name != COVERAGE]
    seed = options.stream.seed
    rows: list[Row] = [*strategy_rows(second, seed=seed), *comparison_rows(second, pairs, seed=seed)]
    told = {f"seed {seed + number}": one.told for number, one in enumerate(found)}
    return Report(
        benchmark="coverage",
        settings=_depends_on(options.stream, settings) | {"streams": options.streams} | best | told,
        seed=seed,
        rows=rows,
        failures=[fault for one in found for fault in one.faults],
    )


def without_time_limit() -> Settings:
    """The user's settings with no limit on time: a slow machine must not change an outcome."""
    return load_settings().model_copy(update={"max_seconds": None})


def _simulated(options: CoverageOptions, settings: Settings, encoder: TransformerEncoder) -> Judged:
    layout = lay_out(options.stream)
    file = None if options.out is None else CoverageFile(options.out, _depends_on(options.stream, settings))
    with running(layout.world) as origin, tempfile.TemporaryDirectory() as folder:
        runs = Runs(
            origin=origin,
            work=SharedWork(encoder),
            settings=settings,
            way=layout.way,
            folder=Path(folder),
            file=file,
        )
        lines, thresholds = runs.all()
    return Judged(
        second={name: _second(own, options.stream.seed) for name, own in lines.items()},
        told=_told(layout, thresholds),
        faults=[*layout.faults, *runs.faults],
    )


def _told(layout: Layout, thresholds: dict[str, float]) -> dict[str, Any]:
    return {"thresholds": thresholds, "pages": len(layout.world.pages), "left_out": layout.left_out}


def _second(lines: Sequence[Line], seed: int) -> tuple[Line, ...]:
    """The judged half. Streams are independent draws: what hangs together does so within one."""
    own = lines[len(lines) // 2 :]
    return tuple(line.model_copy(update={"cluster": f"{seed} {line.cluster}"}) for line in own)


def _numbered(out: Path | None, number: int) -> Path | None:
    return out if out is None or not number else out.with_name(f"{out.stem}-{number}{out.suffix}")


def _depends_on(stream: StreamOptions, settings: Settings) -> dict[str, Any]:
    return {
        **depends_on(stream),
        "search": settings.model_dump(mode="json", include={"k", "policy", "max_turns", "max_calls", "planner"}),
        "code": {name: versions()[name] for name in ("sufficit", "commit")},
    }
