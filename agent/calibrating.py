"""From labelled searches to a certificate, or to why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from policies import StopPolicy
from policies.calibration import (
    Feasible,
    RefusalControl,
    RiskControl,
    control_refusals,
    control_risk,
    feasible,
    fit_platt,
    hazards,
)
from policies.calibration.cases import Case, by_group, one_of_each
from policies.calibration.outcomes import play_all
from policies.calibration.probing import LEVELS
from policies.degenerate import degeneracy
from policies.errors import PolicyParameterError
from policies.named import needs_thresholds
from policies.parameters import require_threshold
from policies.probed import ProbeWeights
from policies.replay import Stop
from policies.shipped import Shipped, shipped

from .calibration_data import CalibrationData
from .certify import MAX_SCORES, Achieved, Certificate, DataRecord, PolicySpec

_WITH_TWO = frozenset({"band", "decaying"})
"""Policies with a second threshold, which is not looked for: it costs calls and refusals, not errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateRequest:
    """What is asked for.

    Raises:
        PolicyParameterError: a policy without a threshold.
    """

    policy: str = "threshold"
    """A policy whose `answer_at` is to be found."""
    promise: Literal["risk", "refusals"] = "risk"
    share: float = 0.1
    """Of answered searches without support, or of sufficient searches that are refused."""
    delta: float = 0.05
    """1 - confidence; for `risk`."""
    abstain_below: float | None = None
    """For `band` and `decaying`; at most the threshold. None: as shipped for the scorer."""
    min_turns: int | None = None
    """None: as shipped for the scorer, else 1."""
    patience: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        if self.abstain_below is not None:
            require_threshold("calibrate", "abstain_below", self.abstain_below)
        if not needs_thresholds(self.policy):
            raise PolicyParameterError(
                f"The policy {self.policy!r} holds no score against a threshold, so there is nothing to "
                "calibrate. Take threshold, band, probed, decaying or gated-K."
            )

    def spec(self, answer_at: float, scorer: object) -> PolicySpec:
        """The policy with this threshold.

        Raises:
            PolicyParameterError: it needs `abstain_below`, and none was shipped for this scorer.
        """
        found = shipped(str(scorer))
        low = self.abstain_below if found is None or self.abstain_below is not None else found.abstain_below
        if low is None and self.policy in _WITH_TWO:
            raise PolicyParameterError(
                f"The policy {self.policy!r} needs a second threshold, and none was shipped for this scorer. Pass "
                "--abstain-below, or take the policy threshold."
            )
        return PolicySpec(
            name=self.policy,
            answer_at=answer_at,
            abstain_below=answer_at if low is None else min(low, answer_at),
            min_turns=self.min_turns or (found.min_turns if found else 1),
            patience=self.patience,
            probe=self._probe(found),
        )

    def _probe(self, found: Shipped | None) -> ProbeWeights | None:
        if self.policy != "probed":
            return None
        if found is None:
            raise PolicyParameterError("The policy 'probed' needs weights, and none were shipped for this scorer.")
        return found.probe

    @property
    def candidates(self) -> tuple[float, ...] | None:
        """Thresholds to try; None: scores seen."""
        return LEVELS if self.policy == "probed" else None

    def family(self, scorer: object) -> Callable[[float], StopPolicy]:
        """All policies that differ from it in the threshold."""
        return lambda answer_at: self.spec(answer_at, scorer).build()


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The outcome."""

    feasible: Feasible
    control: RiskControl | RefusalControl
    certificate: Certificate | None
    """None: there is not even a guess, since no threshold answers anything."""
    warnings: tuple[str, ...]

    @property
    def promised(self) -> bool:
        """Whether the demanded promise can be made."""
        return self.control.parameter is not None


def calibrate(data: CalibrationData, request: CalibrateRequest) -> Calibrated:
    """Find the threshold and write down what may be said of it. Blocking: seconds for hundreds of searches.

    Raises:
        PolicyParameterError: the policy, or a share outside (0, 1).
        CalibrationDataError: no search, or none with a valid score.
    """
    cases = data.cases
    family = request.family(data.search.get("scorer"))
    control: RiskControl | RefusalControl
    if request.promise == "risk":
        control = control_risk(
            cases,
            family,
            alpha=request.share,
            delta=request.delta,
            seed=request.seed,
            candidates=request.candidates,
        )
        guess = control.parameter if control.parameter is not None else control.best
    else:
        control = control_refusals(cases, family, at_most=request.share, seed=request.seed)
        guess = control.parameter
    possible = feasible(cases, request.share)
    if guess is None:
        return Calibrated(feasible=possible, control=control, certificate=None, warnings=data.faults)
    policy = family(guess)
    return Calibrated(
        feasible=possible,
        control=control,
        certificate=_certificate(data, request, control, guess, possible),
        warnings=(*data.faults, *degeneracy(policy, [case.recorded for case in cases])),
    )


def stop_scores(cases: tuple[Case, ...], policy: StopPolicy, *, seed: int) -> tuple[float, ...]:
    """Scores at the stop of one search of each group, for a `ScoreMonitor`: answered and refused ones, as long as
    the score is valid.
    """
    ends = [case.recorded.play(policy) for case in one_of_each(list(by_group(cases).values()), seed)]
    scores = [end.state.score for end in ends if isinstance(end, Stop)]
    return tuple(score for score in scores if score is not None)


def _certificate(
    data: CalibrationData,
    request: CalibrateRequest,
    control: RiskControl | RefusalControl,
    answer_at: float,
    possible: Feasible,
) -> Certificate:
    cases = data.cases
    scorer = data.search.get("scorer")
    outcomes = play_all(cases, request.family(scorer), [answer_at])
    risk = isinstance(control, RiskControl)
    kind: Literal["certified", "conformal", "uncertified"] = "certified" if risk else "conformal"
    return Certificate(
        kind=kind if control.parameter is not None else "uncertified",
        policy=request.spec(answer_at, scorer),
        alpha=request.share,
        delta=request.delta if risk else None,
        search=dict(data.search),
        data=DataRecord(
            files=dict(data.files),
            datasets=dict(sorted(Counter(search.dataset for search in data.searches).items())),
            groups=len(by_group(cases)),
            searches=len(cases),
            learned=control.learned if isinstance(control, RiskControl) else 0,
            tested=control.tested if isinstance(control, RiskControl) else control.groups,
            seed=request.seed,
        ),
        achieved=Achieved(
            coverage=float(outcomes.coverage()[0]),
            risk=outcomes.risk(0),
            refused=control.refused if isinstance(control, RefusalControl) else None,
            p_value=control.p_value if isinstance(control, RiskControl) else None,
        ),
        mu=possible.mu,
        coverage_at_most=possible.coverage if risk else None,
        calibration=fit_platt(cases),
        hazard=hazards(cases),
        stop_scores=stop_scores(cases, request.family(scorer)(answer_at), seed=request.seed)[:MAX_SCORES],
    )
