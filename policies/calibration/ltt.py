"""Thresholds for a demanded risk: Learn then Test (Angelopoulos, Bates, Candes, Jordan and Lei 2021) on stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import CalibrationDataError, PolicyParameterError
from .betting import best_bets, cautious_growth, groups_for, losses, p_values
from .cases import Case, by_group, divided, thresholds_seen
from .outcomes import Family, Outcomes, play_all

LEARNED = 1 / 3
"""Share of the groups that the order of candidates and the bets are learned on: the test needs groups more than
the order does. Of 300 simulated samples of 100 pairs at alpha 0.2 a half certified 49 %, a third 78 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskControl:
    """What Learn then Test made of the data."""

    alpha: float
    """The demanded risk: share of answered searches whose evidence is not complete."""
    delta: float
    """Allowed probability, over the draw of calibration groups, that the risk is higher all the same."""
    parameter: float | None
    """Certified; None = nothing can be certified."""
    best: float | None
    """The candidate that came nearest to a certificate, or is it; None if no candidate answers anything."""
    groups: int
    learned: int
    """Groups that the order was learned on."""
    tested: int
    candidates: int
    certified: int
    """How many candidates passed the test; `parameter` is the one of these that answers most."""
    p_value: float | None
    """Of `best`, on the tested groups."""
    risk: float | None
    """Observed for `best` on all groups; None if it answers nothing (case E02)."""
    coverage: float
    """Share of searches that `best` answers, on all groups."""
    off_record: float
    """Share of searches that left the record under `best` and were counted as wrong."""
    groups_needed: int | None
    """Without a certificate: about how many groups like these one needs; None: no number suffices."""


def control_risk(
    cases: Sequence[Case],
    family: Family,
    *,
    alpha: float,
    delta: float,
    seed: int = 0,
    candidates: Sequence[float] | None = None,
) -> RiskControl:
    """The policy of the family that answers most at a risk of at most `alpha`, with confidence 1 - `delta`.

    The risk is that of a search drawn as the calibration's were: first a group, then one of its searches.

    Args:
        cases: The recorded searches.
        family: From a parameter to a policy.
        alpha: The demanded risk, in (0, 1).
        delta: In (0, 1).
        seed: Of the division of the groups.
        candidates: Parameters to try, chosen without these searches; for families whose parameter is no score.
            None = scores of the groups that the order is learned on: the tested ones decide nothing but the test.

    Raises:
        CalibrationDataError: no search.
        PolicyParameterError: alpha or delta outside (0, 1).
    """
    check_levels(alpha, delta)
    groups = list(by_group(cases).values())
    if not groups:
        raise CalibrationDataError("There is no recorded search to calibrate on. Record some, with labels.")
    learn, test = divided(len(groups), LEARNED, seed)
    if candidates is None:
        candidates = thresholds_seen(case for place in learn for case in groups[place])
    outcomes = play_all(cases, family, candidates)
    return learn_then_test(outcomes, learn, test, alpha=alpha, delta=delta)


def learn_then_test(
    outcomes: Outcomes, learn: NDArray[np.intp], test: NDArray[np.intp], *, alpha: float, delta: float
) -> RiskControl:
    """Order the candidates on some groups, test them in this order on others until one fails.

    Args:
        outcomes: Of all groups.
        learn: Places of groups that the order and the bets come from.
        test: Places of the others, in an order that does not depend on them.
        alpha: The demanded risk, in (0, 1).
        delta: Level of the whole sequence of tests, in (0, 1).
    """
    bets, growths = best_bets(_loss(outcomes.rows(learn), alpha), alpha)
    order = _order(growths, outcomes.rows(learn).coverage())
    p = p_values(_loss(outcomes.rows(test), alpha), bets)
    passed = order[_passed(p[order], delta)]
    coverage = outcomes.coverage()
    best, needed = None, None
    if len(passed):
        best = int(passed[np.argmax(coverage[passed])])
    elif len(order):
        loss = _loss(outcomes, alpha)[:, order]
        best = int(order[np.argmax(cautious_growth(loss, alpha))])
        needed = groups_for(_loss(outcomes, alpha)[:, best], alpha, delta)
    return RiskControl(
        alpha=alpha,
        delta=delta,
        parameter=float(outcomes.candidates[best]) if len(passed) and best is not None else None,
        best=None if best is None else float(outcomes.candidates[best]),
        groups=len(outcomes),
        learned=len(learn),
        tested=len(test),
        candidates=len(outcomes.candidates),
        certified=len(passed),
        p_value=None if best is None else float(p[best]),
        risk=None if best is None else outcomes.risk(best),
        coverage=0.0 if best is None else float(coverage[best]),
        off_record=0.0 if best is None else float(outcomes.off_record[:, best].mean()),
        groups_needed=None if needed is None else int(np.ceil(needed / (1 - LEARNED))),
    )


def check_levels(alpha: float, delta: float) -> None:
    """Refuse levels that mean nothing.

    Raises:
        PolicyParameterError: one is not between 0 and 1.
    """
    for name, value in (("risk", alpha), ("delta (1 - confidence)", delta)):
        if not 0 < value < 1:
            raise PolicyParameterError(
                f"Calibration: {name} must be between 0 and 1, it is {value}. It is a share: 0.1 means one in ten."
            )


def _loss(outcomes: Outcomes, alpha: float) -> NDArray[np.float64]:
    return losses(outcomes.answered, outcomes.wrong, alpha)


def _order(growths: NDArray[np.float64], coverage: NDArray[np.float64]) -> NDArray[np.intp]:
    """Surest first, of those that answer anything. What answers less than the surest gains nothing: left out."""
    order = np.argsort(-growths, kind="stable")
    order = order[coverage[order] > 0]
    return order[coverage[order] >= coverage[order[0]]] if len(order) else order


def _passed(p: NDArray[np.float64], delta: float) -> NDArray[np.intp]:
    """Places of the rejected hypotheses of a fixed sequence."""
    from mapie.risk_control import control_fwer

    if not len(p):
        return np.array([], dtype=np.intp)
    return np.asarray(control_fwer(p, delta, "fixed_sequence"), dtype=np.intp)
