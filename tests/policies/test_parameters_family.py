"""The whole family refuses parameters that make no sense when it is built (cases L07, E05)."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from policies.calibrated import Calibration
from policies.chance import RandomStop
from policies.decaying import DecayingBar
from policies.dry import UntilDry
from policies.errors import PolicyParameterError
from policies.expected import ExpectedUtility
from policies.fixed import FixedK
from policies.gated import Gated
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.novelty import NoveltyRate
from policies.opinion import SufficiencyPrompt
from policies.ragflow import RagflowLadder
from policies.stability import AnswerStability, Tasr
from policies.utility import Utility

PLATT = Calibration(kind="platt", slope=1.0)
NAN, INF = math.nan, math.inf


def isotonic(scores: tuple[float, ...], probabilities: tuple[float, ...]) -> Calibration:
    """Knots only."""
    return Calibration(kind="isotonic", scores=scores, probabilities=probabilities)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: UntilDry(0), "patience must be a whole number of at least 1"),
    (lambda: RandomStop(stop_rate=NAN), r"stop_rate must be in \[0, 1\], it is nan"),
    (lambda: RandomStop(stop_rate=-0.1), "it is -0.1. It is a share"),
    (lambda: RandomStop(stop_rate=0.1, seed=-1), "seed must be a whole number of at least 0"),
    (lambda: DecayingBar(start=NAN, end=0.0), "start must be a finite number"),
    (lambda: DecayingBar(start=1.0, end=-INF), "end must be a finite number"),
    (lambda: DecayingBar(start=0.5, end=0.6), r"end must be at most start \(0.5\), it is 0.6"),
    (lambda: DecayingBar(start=1.0, end=0.5, turns=1), "turns must be a whole number of at least 2"),
    (lambda: NoveltyRate(at_least=0.0), "at_least must be above 0"),
    (lambda: NoveltyRate(at_least=1.1), "at_least must be in"),
    (lambda: NoveltyRate(patience=0), "patience must be a whole number"),
    (lambda: Gated(FixedK(1), NAN), "answer_at must be a finite number, it is nan. Pass answer_at=None"),
    (lambda: AnswerStability(turns=1), "turns must be a whole number of at least 2"),
    (lambda: Tasr(margin=-0.1), "margin must be a finite number of at least 0"),
    (lambda: Tasr(margin=0.1, turns=1), "turns must be a whole number of at least 2"),
    (lambda: SufficiencyPrompt(at_least=NAN), "at_least must be in"),
    (lambda: Utility(wrong=-1.0), "wrong must be a finite number of at least 0"),
    (lambda: Utility(right=INF), "right must be a finite number"),
    (lambda: Utility(call_price=NAN), "call_price must be a finite number"),
    (lambda: LttThreshold(part=FixedK(1), alpha=0.0, delta=0.05), "alpha must be between 0 and 1"),
    (lambda: LttThreshold(part=FixedK(1), alpha=0.1, delta=1.0), "delta must be between 0 and 1"),
    (lambda: ConformalThreshold(part=FixedK(1), alpha=NAN), "alpha must be between 0 and 1"),
    (
        lambda: RagflowLadder(calibration=PLATT, rungs=()),
        r"rungs must be at least 1 and never rise, they are \(\)",
    ),
    (lambda: RagflowLadder(calibration=PLATT, rungs=(0.5, 0.6)), "never rise"),
    (lambda: RagflowLadder(calibration=PLATT, rungs=(85.0,)), "rungs must be in"),
    (lambda: RagflowLadder(calibration=PLATT, min_gain=NAN), "min_gain must be in"),
    (lambda: RagflowLadder(calibration=PLATT, patience=0), "patience must be a whole number"),
    (
        lambda: ExpectedUtility(calibration=PLATT, hazard=()),
        "hazard must hold at least 1 probability, it is empty",
    ),
    (lambda: ExpectedUtility(calibration=PLATT, hazard=(0.5, NAN)), "hazard must be in"),
    (lambda: ExpectedUtility(calibration=PLATT, hazard=(0.5,), informed=2.0), "informed must be in"),
    (lambda: ExpectedUtility(calibration=PLATT, hazard=(0.5,), look_ahead=0), "look_ahead must be a whole number"),
    (lambda: Calibration(kind="beta"), "kind must be 'platt' or 'isotonic', it is 'beta'"),  # type: ignore[arg-type]
    (
        lambda: Calibration(kind="platt", slope=-1.0),
        "slope must be a finite number of at least 0, it is -1.0. A hig",
    ),
    (lambda: Calibration(kind="platt", intercept=NAN), "intercept and offsets must be a finite number"),
    (lambda: Calibration(kind="platt", offsets=(INF,)), "intercept and offsets must be a finite number"),
    (lambda: Calibration(kind="platt", scores=(1.0,)), "a platt calibration has no knots"),
    (lambda: Calibration(kind="isotonic", slope=1.0), "an isotonic calibration has only knots"),
    (lambda: Calibration(kind="isotonic"), "equally many and at least 1, they are 0 and 0"),
    (lambda: isotonic((1.0, 2.0), (0.5,)), "they are 2 and 1"),
    (lambda: isotonic((NAN,), (0.5,)), "scores must be a finite number"),
    (lambda: isotonic((1.0,), (1.5,)), "probabilities must be in"),
    (lambda: isotonic((2.0, 1.0), (0.1, 0.5)), "scores must rise strictly"),
    (lambda: isotonic((1.0, 1.0), (0.1, 0.5)), "scores must rise strictly"),
    (lambda: isotonic((1.0, 2.0), (0.5, 0.1)), "probabilities never fall"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_nonsense_is_refused_at_construction(build: Callable[[], object], message: str) -> None:
    """L07, E05: with the value, what was expected and a remedy."""
    with pytest.raises(PolicyParameterError, match=message):
        build()
