"""Parameters that make no sense are refused when a policy is built (cases L07, E05)."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from policies import Budget, PolicyError, build_policy
from policies.combine import FirstOf, MinTurns
from policies.errors import PolicyParameterError
from policies.fixed import FixedK
from policies.stagnation import NoGain, Stagnation
from policies.threshold import Band, ScoreThreshold
from retrieval import Spend

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: ScoreThreshold(answer_at=math.nan), "answer_at must be a finite number, it is nan"),
    (lambda: ScoreThreshold(answer_at=-math.inf), "answer_at must be a finite number, it is -inf"),
    (lambda: ScoreThreshold(answer_at=math.inf), "answer_at must be a finite number, it is inf"),
    (lambda: ScoreThreshold(answer_at=1.0, min_turns=0), "min_turns must be a whole number of at least 1"),
    (lambda: Band(answer_at=math.nan, abstain_below=0.0), "answer_at must be a finite number"),
    (lambda: Band(answer_at=1.0, abstain_below=-math.inf), "abstain_below must be a finite number, it is -inf"),
    (lambda: Band(answer_at=1.0, abstain_below=1.1), r"at most answer_at \(1.0\), it is 1.1"),
    (lambda: Band(answer_at=1.0, abstain_below=0.0, min_turns=-1), "min_turns must be a whole number"),
    (lambda: Band(answer_at=1.0, abstain_below=0.0, patience=0), "patience must be a whole number of at least 1"),
    (lambda: Stagnation(0), "patience must be a whole number of at least 1, it is 0. Pass patience=1 or more"),
    (lambda: Stagnation(1.5), "it is 1.5"),  # type: ignore[arg-type]
    (lambda: NoGain(min_gain=-0.1), "min_gain must be a finite number of at least 0, it is -0.1"),
    (lambda: NoGain(min_gain=math.nan), "min_gain must be a finite number"),
    (lambda: NoGain(patience=0), "patience must be a whole number"),
    (lambda: FixedK(0), "k must be a whole number of at least 1, it is 0"),
    (lambda: FixedK(math.nan), "k must be a whole number"),  # type: ignore[arg-type]
    (lambda: MinTurns(FixedK(1), 0), "turns must be a whole number of at least 1"),
    (FirstOf, "at least 1 policy must be given"),
    (lambda: Budget(max_calls=-1), "of at least 0, it is -1. Pass None for unlimited"),
    (lambda: Budget(max_turns=0.5), "max_turns must be a whole number"),  # type: ignore[arg-type]
    (lambda: Budget(max_seconds=math.nan), "max_seconds must be a finite number of at least 0, it is nan"),
    (lambda: Budget(max_price=math.inf), "max_price must be a finite number of at least 0, it is inf"),
    (lambda: build_policy("fixed-0", answer_at=1.0, abstain_below=0.0), "k must be a whole number"),
    (lambda: build_policy("band", answer_at=0.0, abstain_below=1.0), "abstain_below must be at most"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_degenerate_parameters_are_refused_with_value_and_remedy(
    build: Callable[[], object], message: str
) -> None:
    """L07, E05: not at the first decision, but at construction."""
    with pytest.raises(PolicyParameterError, match=message) as caught:
        build()
    assert isinstance(caught.value, PolicyError)
    assert isinstance(caught.value, ValueError)


def test_zero_is_a_budget_and_none_is_none() -> None:
    """0 = nothing, None = unlimited: both are meant, neither is refused."""
    nothing = Budget(max_turns=0, max_calls=0, max_seconds=0, max_tokens=0, max_price=0)
    unlimited = Budget(max_turns=None, max_calls=None, max_seconds=None, max_tokens=None, max_price=None)
    assert nothing.left(Spend(), turns=0).exhausted == "turns"
    assert unlimited.left(Spend(calls=10**6), turns=10**6).exhausted is None


def test_an_empty_band_is_allowed() -> None:
    """Equal thresholds leave low and high only."""
    assert Band(answer_at=1.0, abstain_below=1.0).patience == 2
