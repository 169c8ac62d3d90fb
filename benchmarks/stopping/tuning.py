"""Families of policies with parameters, and how these are chosen on training searches, never on those compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np

from policies import StopPolicy
from policies.calibrated import Calibration
from policies.calibration import Case, fit_isotonic, fit_platt, fit_probe_weights, hazards
from policies.calibration.probing import LEVELS
from policies.combine import AnswerAtEnd
from policies.decaying import DecayingBar
from policies.errors import CalibrationDataError
from policies.expected import ExpectedUtility
from policies.gated import Gated
from policies.novelty import NoveltyRate
from policies.probed import Probed, ProbeWeights
from policies.stability import AnswerStability, Tasr
from policies.stagnation import NoGain
from policies.threshold import Band, ScoreThreshold
from policies.utility import Utility

from .board import Board, Numbers, Played, make_board, play
from .figures import worths
from .runs import Search

Merit: TypeAlias = tuple[float, float]
"""Mean utility, refusals priced in; minus mean calls."""
FINE, COARSE = 20, 8
"""Levels of a score that families with one threshold and with two are tried at."""
_SHARES = (0.0, 0.97)
"""Of the scores seen: between these quantiles the levels lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What training searches say that candidates are made of."""

    fine: tuple[float, ...]
    """Quantiles of all scores seen, rising, at most `FINE`."""
    coarse: tuple[float, ...]
    """At most `COARSE`."""
    gains: tuple[float, ...]
    """Gains of the score between looks, at least 0."""
    margins: tuple[float, ...]
    """Margins of probed answers; empty where there were no probes."""
    horizon: int
    """Calls of the longest search."""
    utility: Utility
    calibrations: tuple[Calibration, ...]
    """Platt's, then isotonic."""
    hazard: tuple[float, ...]
    probe: ProbeWeights | None
    """None where no answers were probed."""


def cases(searches: Iterable[Search]) -> list[Case]:
    """The searches as calibration sees them."""
    return [Case(group=one.group, recorded=one.recorded, complete=one.complete) for one in searches]


def grounds(searches: Sequence[Search], utility: Utility) -> Grounds:
    """Look at training searches.

    Raises:
        CalibrationDataError: none has a valid score.
    """
    known = cases(searches)
    calibrations = (fit_platt(known), fit_isotonic(known))
    scores = [score for case in known for score in case.scores]
    steps = np.concatenate([np.diff(case.scores) for case in known])
    seen = [state.observations.get("probe.margin") for one in searches for state in one.states]
    return Grounds(
        fine=_levels(scores, FINE),
        coarse=_levels(scores, COARSE),
        gains=(0.0, *_levels(steps[steps > 0], 3)),
        margins=_levels([margin for margin in seen if margin is not None], COARSE),
        horizon=max(one.states[-1].spend.calls for one in searches),
        utility=utility,
        calibrations=calibrations,
        hazard=hazards(known),
        probe=_probe(known),
    )


def _probe(known: Sequence[Case]) -> ProbeWeights | None:
    try:
        return fit_probe_weights(known)
    except CalibrationDataError:
        return None


def _levels(values: Iterable[float], most: int) -> tuple[float, ...]:
    found = np.asarray(list(values), dtype=np.float64)
    if not len(found):
        return ()
    return tuple(float(one) for one in np.unique(np.quantile(found, np.linspace(*_SHARES, most)).round(6)))


def _bands(on: Grounds) -> list[StopPolicy]:
    return [
        Band(answer_at=high, abstain_below=low, min_turns=turns, patience=patience)
        for high, low in product(on.coarse, repeat=2)
        if low <= high
        for turns, patience in product((1, 2, 3), (1, 2))
    ]


def _utilities(on: Grounds) -> list[StopPolicy]:
    return [
        ExpectedUtility(
            calibration=calibration, hazard=on.hazard, utility=on.utility, look_ahead=ahead, informed=informed
        )
        for calibration, ahead, informed in product(on.calibrations, (1, 2, 4), (0.0, 0.5, 1.0))
    ]


def _decaying(on: Grounds) -> list[StopPolicy]:
    return [
        DecayingBar(start=start, end=end, turns=turns)
        for start, end in product(on.coarse, repeat=2)
        if end <= start
        for turns in sorted({min(3, on.horizon), on.horizon})
    ]


FAMILIES: Mapping[str, Callable[[Grounds], list[StopPolicy]]] = {
    "threshold": lambda on: [
        ScoreThreshold(answer_at=at, min_turns=turns) for at, turns in product(on.fine, (1, 2, 3))
    ],
    "threshold-at-end": lambda on: [
        AnswerAtEnd(ScoreThreshold(answer_at=at, min_turns=turns)) for at, turns in product(on.fine, (1, 2, 3))
    ],
    "band": _bands,
    "decaying": _decaying,
    "no-gain": lambda on: [
        Gated(NoGain(min_gain=gain, patience=patience), None) for gain, patience in product(on.gains, (1, 2, 3))
    ],
    "gated-no-gain": lambda on: [
        Gated(NoGain(min_gain=gain, patience=patience), at)
        for gain, patience, at in product(on.gains, (1, 2), on.coarse)
    ],
    "novelty": lambda on: [
        Gated(NoveltyRate(at_least=share, patience=patience), None)
        for share, patience in product((0.2, 0.4, 0.6, 0.8, 1.0), (1, 2))
        if on.horizon > 1
    ],
    "stability": lambda on: [AnswerAtEnd(AnswerStability(turns=turns)) for turns in (2, 3, 4) if on.margins],
    "tasr": lambda on: [
        AnswerAtEnd(Tasr(margin=margin, turns=turns)) for margin, turns in product(on.margins, (2, 3))
    ],
    "probed": lambda on: [
        Probed(weights=on.probe, answer_at=at, min_turns=turns)
        for at, turns in product(LEVELS, (2, 3))
        if on.probe is not None
    ],
    "utility": _utilities,
}
"""What is tried for each family with parameters, by the name of its policy."""


@dataclass(slots=True)
class Tuner:
    """Chooses parameters on training searches.

    The highest mean utility counts, as a mean over datasets of means over searches; equals go to the fewer calls,
    then to the first. Candidates that leave the record of any search are out.

    Args:
        searches: At least one.
        utility: Declared prices.

    Raises:
        CalibrationDataError: no search has a valid score.
    """

    searches: Sequence[Search]
    utility: Utility
    on: Grounds = field(init=False)
    _board: Board = field(init=False)
    _weight: Numbers = field(init=False)

    def __post_init__(self) -> None:
        self.on = grounds(self.searches, self.utility)
        self._board = make_board(self.searches)
        names = np.array([one.dataset for one in self.searches])
        _, dataset, sizes = np.unique(names, return_inverse=True, return_counts=True)
        self._weight = 1 / (sizes[dataset] * len(sizes))

    def best(self, family: str) -> StopPolicy | None:
        """The best policy of a family; None where it has no candidate that stays on the record."""
        return self.choose(FAMILIES[family](self.on))

    def choose(self, candidates: Iterable[StopPolicy]) -> StopPolicy | None:
        """The best of some policies."""
        best: Merit | None = None
        chosen = None
        for candidate in candidates:
            merit = self.merit(candidate)
            if merit is not None and (best is None or merit > best):
                best, chosen = merit, candidate
        return chosen

    def merit(self, policy: StopPolicy, *, refusal_price: float = 0.0) -> Merit | None:
        """What policies are compared by, larger is better; None for one that leaves the record.

        Args:
            policy: The candidate.
            refusal_price: What refusing all searches with support costs beside the utility that is lost.
        """
        played = play(policy, self.searches)
        if played.off.any():
            return None
        worth = float(self._weight @ worths(self._board, played.look, played.answered, self.utility))
        calls = float(self._weight @ self._board.at(self._board.calls, played.look))
        return round(worth - refusal_price * self._refused(played), 9), -round(calls, 9)

    def refused(self, policy: StopPolicy) -> float:
        """Share of the searches with complete support at the horizon that go without an answer; datasets weigh the
        same. 0 where no search has it.
        """
        return self._refused(play(policy, self.searches))

    def _refused(self, played: Played) -> float:
        supported = self._weight * self._board.complete[:, -1]
        return float(supported @ ~played.answered / max(supported.sum(), 1e-12))
