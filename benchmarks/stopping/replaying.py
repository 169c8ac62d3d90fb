"""`python -m benchmarks replay`: what every stop policy would have done in the same recorded searches."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.dry import UntilDry
from policies.utility import Utility

from ..datasets.reading import fault_counts
from ..errors import RunFileError, SettingsError
from ..output import Report, Row
from ..progress import counted
from ..stats.resampling import DRAWS
from .board import Played, missing_observations, play
from .context import gain_rows, score_rows
from .curves import curves
from .ends import end_lines
from .roster import DEFAULT, Entry, Roster, names
from .rows import make_parts, policy_rows
from .runs import Run, Search, load_runs
from .sheet import RANDOM, UNTIL_DRY

MULTIPLICITY = (
    "Intervals are 95 % each and not adjusted for the number of policies. utility_p_holm is: of all differences "
    "in utility to the default in one dataset and subset, any false one is claimed with at most its probability."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What to replay. See `python -m benchmarks replay --help`.

    Raises:
        SettingsError: no run, or a number below its least value.
    """

    runs: tuple[Path, ...]
    """Recorded runs that policies are compared on."""
    tune: tuple[Path, ...] = ()
    """Recorded runs of training questions that parameters are chosen on."""
    policies: tuple[str, ...] = ()
    """Names; none: all of `roster.names`."""
    utility: Utility = Utility()  # noqa: RUF009  frozen
    out: Path | None = None
    """Where to write how each search ended under each policy, one JSON line each."""
    draws: int = DRAWS
    seed: int = 17

    def __post_init__(self) -> None:
        if not self.runs or self.draws < 1:
            raise SettingsError(f"Expected a run and at least 1 draw, got {len(self.runs)} and {self.draws}.")


def run_replay(options: ReplayOptions) -> Report:
    """Read, choose parameters, replay, compare. Blocking; progress goes to stderr.

    Raises:
        DatasetError, RunFileError: a file cannot be read, or is no run.
        SettingsError: an unknown policy, no search, or training searches that are compared on, too.
        PolicyError: nothing can be calibrated on the training searches.
    """
    run, training = load_runs(options.runs), load_runs(options.tune)
    if not run.searches:
        raise SettingsError("The runs hold no search that can be used: see the faults of their lines.")
    _require_apart(run.searches, training.searches)
    entries = _entries(run, training, options)
    begun = time.process_time()
    plays = dict(_played([*entries, Entry(name=UNTIL_DRY, policy=UntilDry())], run.searches))
    speed = _speed(plays, time.process_time() - begun)
    parts = make_parts(run.searches, plays, options.utility, draws=options.draws, seed=options.seed)
    if options.out is not None:
        _write(options.out, end_lines(run.searches, plays, options.utility))
    rows: list[Row] = [
        *score_rows(parts, draws=options.draws, seed=options.seed),
        *(row for part in parts for row in policy_rows(part, entries)),
        *gain_rows(parts, options.utility, draws=options.draws, seed=options.seed),
    ]
    return Report(
        benchmark="replay",
        settings=_settings(options, run, entries) | speed | {"curves": curves(parts, entries)},
        seed=options.seed,
        rows=rows,
        failures=fault_counts([*run.faults, *training.faults]),
    )


def _entries(run: Run, training: Run, options: ReplayOptions) -> list[Entry]:
    """The policies, each with what speaks against it, if anything does. The default is always among them."""
    horizon = max(state.spend.calls for search in run.searches for state in search.states)
    wanted = dict.fromkeys((DEFAULT, *(options.policies or names(horizon))))
    roster = Roster(
        scorer=run.searches[0].scorer,
        training=training.searches,
        utility=options.utility,
        seed=options.seed,
    )
    entries = []
    with counted("policies", total=len(wanted)) as advance:
        for name in wanted:
            entries.append(_playable(roster.entry(name), run.searches))
            advance()
    return entries


def _playable(entry: Entry, searches: Sequence[Search]) -> Entry:
    if entry.policy is None:
        return entry
    missing = missing_observations(entry.policy, searches)
    if not missing:
        return entry
    note = f"not run here: the searches were recorded without the observer {', '.join(missing)}"
    return Entry(name=entry.name, policy=None, note=note)


def _played(entries: Sequence[Entry], searches: Sequence[Search]) -> Iterator[tuple[str, Played]]:
    for entry in entries:
        if entry.policy is not None:
            yield entry.name, play(entry.policy, searches)


def _speed(plays: Mapping[str, Played], seconds: float) -> dict[str, Any]:
    """How many searches were decided in a second of one core, all policies together."""
    decided = sum(len(played.answered) for played in plays.values())
    return {"decisions": decided, "decisions_per_second": round(decided / seconds) if seconds else None}


def _require_apart(compared: Sequence[Search], training: Sequence[Search]) -> None:
    """Parameters are never chosen on what they are judged by."""
    both = {search.group for search in compared} & {search.group for search in training}
    if both:
        raise SettingsError(
            f"{len(both)} questions stand both in the runs and in --tune, e.g. {min(both)}. Figures on them would "
            "flatter whatever was chosen: record training questions for --tune."
        )


def _settings(options: ReplayOptions, run: Run, entries: Sequence[Entry]) -> dict[str, Any]:
    left_out = [entry for entry in entries if entry.policy is None and entry.name != RANDOM]
    return {
        "runs": [path.name for path in options.runs],
        "tune": [path.name for path in options.tune],
        "depends_on": [dict(one) for one in run.depends_on],
        "scorer": run.searches[0].scorer,
        "policies": {entry.name: repr(entry.policy) for entry in entries if entry.policy is not None},
        "left_out": {entry.name: entry.note for entry in left_out},
        "utility": {
            "right": options.utility.right,
            "wrong": options.utility.wrong,
            "call_price": options.utility.call_price,
        },
        "draws": options.draws,
        "multiplicity": MULTIPLICITY,
    }


def _write(path: Path, lines: Iterator[Mapping[str, Any]]) -> None:
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
    except OSError as error:
        raise RunFileError(f"Cannot write {path}: {error.strerror or error}") from error
