"""`python -m benchmarks stop-fit`: what is shipped for a scorer, chosen on recorded training searches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from policies.named import DEFAULT_POLICY
from policies.probed import Probed
from policies.shipped import FORMAT, Shipped, shipped, shipped_json
from policies.threshold import Band
from policies.utility import Utility

from ..datasets.reading import fault_counts
from ..errors import RunFileError, SettingsError
from ..metrics import mean
from ..output import Report, Row
from ..progress import counted
from .board import Played, make_board, play
from .climbing import climb
from .figures import worths
from .runs import Search, load_runs
from .tuning import Tuner

FOLDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StopFitOptions:
    """What to choose on. See `python -m benchmarks stop-fit --help`."""

    runs: tuple[Path, ...]
    """Recorded runs of training questions."""
    out: Path
    """The file of all that is shipped; entries of other scorers stay."""
    utility: Utility = Utility()  # noqa: RUF009  frozen
    refusal_price: float = 0.25
    """What refusing all searches with complete support costs, beside the utility that is lost."""
    seed: int = 0
    """Of the division into folds."""


def run_stop_fit(options: StopFitOptions) -> Report:
    """Choose, write in one step, report. Blocking.

    Raises:
        DatasetError, RunFileError: a file cannot be read or written, or is no run.
        SettingsError: no search, scores of two scorers, or searches of the split dev.
        PolicyError: nothing can be calibrated on the searches.
    """
    run = load_runs(options.runs)
    scorers = {search.scorer for search in run.searches}
    if len(scorers) != 1:
        raise SettingsError(f"Expected searches with scores of one scorer, found those of {len(scorers)}.")
    tuner = Tuner(run.searches, options.utility)
    bars = climb(tuner, refusal_price=options.refusal_price)
    band = tuner.best("band")
    if not isinstance(band, Band):
        raise SettingsError("No band stays on the record of all searches: record them with one tier.")
    weights = tuner.on.probe
    probed = tuner.best("probed")
    if not isinstance(probed, Probed) or weights is None:
        raise SettingsError("The searches were recorded without probes: record them with this version.")
    counts = Counter(search.dataset for search in run.searches)
    scorer = scorers.pop()
    before = shipped(scorer)
    found = Shipped(
        scorer=scorer,
        bars=bars,
        answer_at=band.answer_at,
        abstain_below=band.abstain_below,
        min_turns=band.min_turns,
        calibration=tuner.on.calibrations[0],
        hazard=tuner.on.hazard,
        utility=options.utility,
        probe=weights,
        probed_at=probed.answer_at,
        found_on=f"{', '.join(f'{count} searches of {name}' for name, count in sorted(counts.items()))}, twins "
        f"included, a refusal priced at {options.refusal_price:g}: python -m benchmarks stop-fit",
        web=None if before is None else before.web,
    )
    write_shipped(options.out, found)
    return Report(
        benchmark="stop-fit",
        settings=shipped_json(found) | {"runs": [path.name for path in options.runs], "out": options.out.name},
        seed=options.seed,
        rows=_rows(run.searches, options),
        failures=fault_counts(run.faults),
    )


def _rows(searches: Sequence[Search], options: StopFitOptions) -> list[Row]:
    """How the bars do on groups that they were not chosen on: `FOLDS` choices, each judged on the rest."""
    board = make_board(searches)
    played = _held_out(searches, options)
    complete = board.at(board.complete, played.look) > 0
    supported = board.complete[:, -1]
    table = {
        "utility": worths(board, played.look, played.answered, options.utility),
        "correct_decisions": played.answered == complete,
        "calls_per_question": board.at(board.calls, played.look),
        "supported_refused": np.where(supported, ~played.answered, np.nan),
        "unsupported_answered": np.where(supported, np.nan, played.answered),
        "risk": np.where(played.answered, ~complete, np.nan),
    }
    names = np.array([search.dataset for search in searches])
    rows: list[Row] = []
    for dataset in (*sorted(set(names)), "all"):
        mine = (names == dataset) | (dataset == "all")
        row: Row = {"dataset": dataset, "policy": DEFAULT_POLICY, "folds": FOLDS, "n": int(mine.sum())}
        for name, values in table.items():
            row[name] = mean(None if np.isnan(value) else float(value) for value in values[mine])
        rows.append(row)
    return rows


def _held_out(searches: Sequence[Search], options: StopFitOptions) -> Played:
    """How each search ends under bars that were chosen without its fold."""
    groups = sorted({search.group for search in searches})
    order = np.random.default_rng(options.seed).permutation(len(groups))
    fold = {groups[at]: place % FOLDS for place, at in enumerate(order)}
    folds = np.array([fold[search.group] for search in searches])
    look = np.zeros(len(searches), dtype=np.intp)
    answered, off = np.zeros(len(searches), dtype=np.bool_), np.zeros(len(searches), dtype=np.bool_)
    with counted("folds", total=FOLDS) as advance:
        for number in range(FOLDS):
            training = [search for search, own in zip(searches, folds, strict=True) if own != number]
            bars = climb(Tuner(training, options.utility), refusal_price=options.refusal_price)
            rest = np.flatnonzero(folds == number)
            played = play(bars, [searches[int(at)] for at in rest])
            look[rest], answered[rest], off[rest] = played.look, played.answered, played.off
            advance()
    return Played(look=look, answered=answered, off=off, reasons=())


def write_shipped(path: Path, found: Shipped) -> None:
    """Replace the entry of this scorer; a file that stands there is never half written."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))["shipped"] if path.exists() else []
        others = [one for one in known if one["scorer"] != found.scorer]
    except (ValueError, KeyError, TypeError) as error:
        raise RunFileError(f"{path} is no file of shipped policies: {error}. Name another one.") from error
    text = json.dumps({"format": FORMAT, "shipped": [*others, shipped_json(found)]}, indent=1, ensure_ascii=False)
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise RunFileError(f"Cannot write {path}: {error.strerror or error}") from error
