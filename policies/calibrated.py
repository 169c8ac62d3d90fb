"""From a score to the probability that the support is complete. Applied here, fitted in `policies.calibration`."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from .errors import PolicyContractError, PolicyParameterError
from .parameters import require_amount, require_share, require_threshold

_OWNER = "Calibration"
_Kind: TypeAlias = Literal["platt", "isotonic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A fitted map from (score, turn) to a probability; never falls as the score rises. Plain numbers, no model.

    `platt`: 1 / (1 + exp(-(slope * score + intercept + offset of the turn))) (Platt 1999, "Probabilistic outputs
    for support vector machines", with an offset for each turn, which is ours).
    `isotonic`: piecewise linear through the knots, constant beyond them; looks at no turn (Zadrozny and Elkan
    2002, "Transforming classifier scores into accurate multiclass probability estimates").

    Raises:
        PolicyParameterError: the numbers of the other kind, none at all, NaN, a negative slope, or knots that are
            not in order.

    >>> Calibration(kind="isotonic", scores=(0.0, 1.0), probabilities=(0.2, 0.6)).probability(0.5, turn=1)
    0.4
    """

    kind: _Kind
    slope: float = 0.0
    """At least 0."""
    intercept: float = 0.0
    offsets: tuple[float, ...] = ()
    """Added after turn 1, 2 and so on; the last one goes for all later turns, the first one for given evidence."""
    scores: tuple[float, ...] = ()
    """The knots, rising strictly; on the scorer's own scale."""
    probabilities: tuple[float, ...] = ()
    """One for each knot, in [0, 1], never falling."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(_Kind):
            raise PolicyParameterError(
                f"{_OWNER}: kind must be 'platt' or 'isotonic', it is {self.kind!r}. Fit one with: "
                "sufficit calibrate --help"
            )
        if self.kind == "platt":
            self._check_platt()
        else:
            self._check_isotonic()

    def probability(self, score: float, turn: int) -> float:
        """Probability, in [0, 1], that the evidence with this score after this turn holds all support.

        Raises:
            PolicyContractError: the score is NaN or infinite (case S04).
        """
        if not math.isfinite(score):
            raise PolicyContractError(
                f"{_OWNER}: the score must be a finite number, it is {score}. Search on where "
                "SearchState.score is None."
            )
        if self.kind == "platt":
            return _sigmoid(self.slope * score + self.intercept + self._offset(turn))
        return self._between(score)

    def _offset(self, turn: int) -> float:
        return self.offsets[min(max(turn - 1, 0), len(self.offsets) - 1)] if self.offsets else 0.0

    def _between(self, score: float) -> float:
        place = bisect_right(self.scores, score)
        if place in {0, len(self.scores)}:
            return self.probabilities[min(place, len(self.scores) - 1)]
        left, right = self.scores[place - 1], self.scores[place]
        low, high = self.probabilities[place - 1], self.probabilities[place]
        return min(low + (score - left) / (right - left) * (high - low), high)

    def _check_platt(self) -> None:
        if self.scores or self.probabilities:
            raise PolicyParameterError(
                f"{_OWNER}: a platt calibration has no knots. Pass kind='isotonic' for them."
            )
        require_amount(_OWNER, "slope", self.slope, remedy="A higher score must not mean less.")
        for offset in (self.intercept, *self.offsets):
            require_threshold(_OWNER, "intercept and offsets", offset, remedy="Fit it anew.")

    def _check_isotonic(self) -> None:
        if self.slope or self.intercept or self.offsets:
            raise PolicyParameterError(
                f"{_OWNER}: an isotonic calibration has only knots. Pass kind='platt' else."
            )
        if not self.scores or len(self.scores) != len(self.probabilities):
            raise PolicyParameterError(
                f"{_OWNER}: scores and probabilities must be equally many and at least 1, they are "
                f"{len(self.scores)} and {len(self.probabilities)}. Pass one probability for each knot."
            )
        for score, probability in zip(self.scores, self.probabilities, strict=True):
            require_threshold(_OWNER, "scores", score, remedy="Leave such knots out.")
            require_share(_OWNER, "probabilities", probability)
        rises = all(low < high for low, high in pairwise(self.scores))
        falls = any(low > high for low, high in pairwise(self.probabilities))
        if not rises or falls or not math.isfinite(self.scores[-1] - self.scores[0]):
            raise PolicyParameterError(
                f"{_OWNER}: scores must rise strictly and probabilities never fall, they are {self.scores} and "
                f"{self.probabilities}. Sort the knots and join equal ones."
            )


def _sigmoid(logit: float) -> float:
    """Without overflow on either side."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    return math.exp(logit) / (1 + math.exp(logit))
