"""Do the scores at which searches stop still look like those of the calibration? Watched one by one, for ever."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

import numpy as np

from ..errors import CalibrationDataError, PolicyParameterError

_RECENT = 50
"""Scores that a warning describes."""
_FEWEST = 20
"""Reference scores without which nothing can be told from chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The scores have changed; what was certified on the old ones is not certified any more."""

    seen: int
    """Valid scores since the monitor began."""
    evidence: float
    """Value of the martingale at the alarm, at least 1 / level."""
    direction: Literal["lower", "higher", "spread"]
    """How the latest scores differ: as a rule lower or higher, or in another way."""
    shift: float
    """Median of the latest scores minus that of the reference, on the scorer's own scale."""
    below: float
    """Share of the reference scores below the median of the latest ones; 0.5 = none has moved."""
    message: str
    """For people."""


class ScoreMonitor:
    """An anytime-valid test that stop scores are exchangeable with those of the calibration set.

    Each new score gets a conformal p-value among the reference and all scores before it; a martingale, the
    simple jumper, bets against their uniformity (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a
    Random World", sec. 7.1). If nothing changed, the probability of ever raising an alarm is at most `level`,
    however long the monitor runs and whenever it is looked at (Ville's inequality). Both parts are MAPIE's; its
    `update` is not used, for it wants labels, and live searches have none.

    It compares with the mix of searches of the calibration: where that holds a twin without support for each
    question and the users' searches do not, an alarm is right. Not for use by several threads at once.

    Args:
        reference: Stop scores of independent searches, one of each group; at least 20 valid ones.
        level: Bound on the probability of a false alarm, in (0, 1).
        seed: Of the random breaking of ties.

    Raises:
        CalibrationDataError: fewer than 20 valid reference scores.
        PolicyParameterError: a level outside (0, 1).
    """

    def __init__(self, reference: Sequence[float | None], *, level: float = 0.01, seed: int = 0) -> None:
        valid = [score for score in reference if score is not None and math.isfinite(score)]
        if len(valid) < _FEWEST:
            raise CalibrationDataError(
                f"A monitor needs at least {_FEWEST} valid reference scores, it got {len(valid)}. Calibrate on "
                "more questions."
            )
        if not 0 < level < 1:
            raise PolicyParameterError(
                f"ScoreMonitor: level must be between 0 and 1, it is {level}. It bounds the share of false alarms."
            )
        from mapie.exchangeability_testing import OnlineMartingaleTest

        self._reference = np.array(valid)
        self._history = np.array(valid)
        self._test = OnlineMartingaleTest(test_level=level, warn=False, random_state=seed)
        self._alarm = 1 / level
        self._highest = 1.0
        self._recent: deque[tuple[float, float]] = deque(maxlen=_RECENT)
        self.seen = 0
        """Valid scores so far."""
        self.invalid = 0
        """Scores that were missing, NaN or infinite; they are counted and nothing else (case S04)."""

    def add(self, score: float | None) -> Drift | None:
        """Take the score of a search that has stopped; from an alarm on, each valid one gets a drift."""
        if score is None or not math.isfinite(score):
            self.invalid += 1
            return None
        p_value = self._test.compute_p_value(score, self._history)
        if self._highest < self._alarm:  # afterwards it would only grow beyond what a float holds
            self._highest = max(self._highest, self._test.update_simple_jumper_martingale(p_value))
        self._history = np.append(self._history, score)
        self._recent.append((score, p_value))
        self.seen += 1
        return self._drift() if self._highest >= self._alarm else None

    def _drift(self) -> Drift:
        latest = median(score for score, _ in self._recent)
        reference = float(np.median(self._reference))
        below = float((self._reference < latest).mean())
        direction = _direction(fmean(p_value for _, p_value in self._recent), len(self._recent))
        return Drift(
            seen=self.seen,
            evidence=self._highest,
            direction=direction,
            shift=latest - reference,
            below=below,
            message=(
                f"Scores at the stop have drifted from the calibration set: {_WORDS[direction]}. Median of the "
                f"latest {len(self._recent)}: {latest:.3g}; of the {len(self._reference)} of the calibration: "
                f"{reference:.3g} ({below:.0%} of these lie below the new median). {self.seen} searches seen; "
                f"without a change, such an alarm has a probability of at most {1 / self._alarm:.3g}. What was "
                "certified does not hold any more: calibrate again on searches like the present ones."
            ),
        )


_WORDS = {
    "lower": "they are lower",
    "higher": "they are higher",
    "spread": "their middle is much the same, their spread or order is not",
}


def _direction(mean_p: float, scores: int) -> Literal["lower", "higher", "spread"]:
    """A p-value is the share of earlier scores that are higher; uniform without a change."""
    two_errors = 2 * math.sqrt(1 / 12 / scores)
    if abs(mean_p - 0.5) <= two_errors:
        return "spread"
    return "lower" if mean_p > 0.5 else "higher"
