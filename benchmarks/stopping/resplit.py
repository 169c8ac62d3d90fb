"""Certificates on recorded searches, over and over: each time some groups calibrate and the others are looked at.

A description, no proof: the held-out risk is itself an estimate from few answered searches, so it lies above
alpha now and then although the true risk does not. Proof comes from `simulate`, where the truth is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from agent.calibrating import CalibrateRequest
from agent.calibration_data import CalibrationData, read_runs
from policies.calibration import control_risk, feasible
from policies.calibration.cases import CANDIDATES, divided, spread
from policies.calibration.ltt import LEARNED, check_levels, learn_then_test
from policies.calibration.outcomes import Outcomes, play_all

from ..errors import SettingsError
from ..output import Report, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class ResplitOptions:
    """What to do with recorded searches.

    Raises:
        SettingsError: no split, or a share of groups outside (0, 1).
    """

    runs: tuple[Path, ...]
    policies: tuple[str, ...] = ("threshold",)
    alphas: tuple[float, ...] = (0.1, 0.2)
    delta: float = 0.05
    calibrated: float = 2 / 3
    """Share of the groups that each split calibrates on."""
    splits: int = 200
    min_turns: int | None = None
    abstain_below: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.splits < 1 or not 0 < self.calibrated < 1:
            raise SettingsError(
                f"Expected at least 1 split and a share of calibrated groups between 0 and 1, got {self.splits} "
                f"and {self.calibrated}."
            )


def certify_recorded(options: ResplitOptions) -> Report:
    """A row for each dataset, all of them together, each policy and each alpha.

    Raises:
        LabelledError: a run cannot be read.
        PolicyParameterError: a policy without a threshold, or a level outside (0, 1).
    """
    for alpha in options.alphas:
        check_levels(alpha, options.delta)
    data = read_runs(options.runs)
    datasets = sorted({search.dataset for search in data.searches})
    parts = [(name, data.of(name)) for name in datasets]
    if len(parts) > 1:
        parts.append(("all", data))
    rows = [
        row for name, part in parts for policy in options.policies for row in _rows(name, part, policy, options)
    ]
    settings = {
        "runs": dict(data.files),
        "delta": options.delta,
        "splits": options.splits,
        "calibrated": options.calibrated,
    }
    faults = [{"fault": text} for text in data.faults]
    return Report(benchmark="ltt", settings=settings, seed=options.seed, rows=rows, failures=faults)


def _rows(name: str, data: CalibrationData, policy: str, options: ResplitOptions) -> list[Row]:
    request = CalibrateRequest(policy=policy, min_turns=options.min_turns, abstain_below=options.abstain_below)
    family = request.family(data.search.get("scorer"))
    cases, candidates = data.cases, request.candidates
    # all searches give the candidates: they are the population here, and each split draws from it
    levels = candidates or spread([score for case in cases for score in case.scores], CANDIDATES)
    outcomes = play_all(cases, family, levels)
    rows: list[Row] = []
    for alpha in options.alphas:
        whole = control_risk(
            cases, family, alpha=alpha, delta=options.delta, seed=options.seed, candidates=candidates
        )
        possible = feasible(cases, alpha)
        rows.append(
            {
                "dataset": name,
                "policy": policy,
                "alpha": alpha,
                "groups": len(outcomes),
                "searches": len(cases),
                "mu": possible.mu,
                "certified_threshold": whole.parameter,
                "p_value": whole.p_value,
                "risk": whole.risk,
                "coverage": whole.coverage,
                "coverage_at_most": possible.coverage,
                "groups_needed": whole.groups_needed,
                **_over_splits(outcomes, alpha, options),
            }
        )
    return rows


def _over_splits(outcomes: Outcomes, alpha: float, options: ResplitOptions) -> Row:
    """Shares of all splits; means over the certified ones, on the groups that were held out."""
    held = [end for split in range(options.splits) if (end := _split(outcomes, alpha, options, split))]
    risks = [risk for risk, _ in held if risk is not None]
    return {
        "split_certified": len(held) / options.splits,
        "split_violations": sum(risk > alpha for risk in risks) / options.splits,
        "split_risk": fmean(risks) if risks else None,
        "split_coverage": fmean(coverage for _, coverage in held) if held else None,
    }


def _split(
    outcomes: Outcomes, alpha: float, options: ResplitOptions, split: int
) -> tuple[float | None, float] | None:
    """Held-out risk and coverage of the certified threshold; None: nothing was certified."""
    ours, held = divided(len(outcomes), options.calibrated, _seed(options.seed, split))
    cut = round(len(ours) * LEARNED)
    found = learn_then_test(
        outcomes.rows(ours),
        np.arange(cut),
        np.arange(cut, len(ours)),
        alpha=alpha,
        delta=options.delta,
    )
    if found.parameter is None:
        return None
    column = int(np.flatnonzero(outcomes.candidates == found.parameter)[0])
    others = outcomes.rows(held)
    return others.risk(column), float(others.coverage()[column])


def _seed(seed: int, split: int) -> int:
    """A seed of its own for each split, others for another seed."""
    return int(np.random.SeedSequence([seed, split]).generate_state(1)[0])
