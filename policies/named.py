"""The policies that a command line or a configuration names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from .bars import Bars
from .calibrated import Calibration
from .chance import RandomStop
from .combine import AnswerAtEnd, FirstOf
from .coverage_bars import CoverageBars
from .decaying import DecayingBar
from .dry import UntilDry
from .errors import PolicyParameterError
from .expected import ExpectedUtility
from .fixed import FixedK
from .gated import Gated
from .never import Never
from .novelty import NoveltyRate
from .opinion import LlmSaysStop, SufficiencyPrompt
from .policy import StopPolicy
from .probed import Probed, ProbeWeights
from .ragflow import RagflowLadder
from .stability import AnswerStability, Tasr
from .stagnation import NoGain, Stagnation
from .threshold import Band, ScoreThreshold
from .utility import Utility

DEFAULT_POLICY = "bars"
"""What `sufficit ask` uses."""
DEFAULT_WITH_WEB = "coverage"
"""What it uses where a tier fetches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parameters:
    """What `build_policy` was given."""

    answer_at: float
    abstain_below: float
    min_turns: int
    patience: int
    calibration: Calibration | None
    hazard: tuple[float, ...]
    utility: Utility
    bars: Bars | None
    coverage: CoverageBars | None
    probe: ProbeWeights | None

    def calibrated(self, spec: str) -> Calibration:
        if self.calibration is None:
            raise PolicyParameterError(
                f"Policy {spec!r} needs a calibration: scores must become probabilities. Pass "
                "calibration=, fitted with: sufficit calibrate --help"
            )
        return self.calibration


_Maker = Callable[[_Parameters], StopPolicy]


def _band(given: _Parameters) -> StopPolicy:
    band = Band(
        answer_at=given.answer_at,
        abstain_below=given.abstain_below,
        min_turns=given.min_turns,
        patience=given.patience,
    )
    return FirstOf(band, Stagnation(given.patience))


def _bars(given: _Parameters) -> StopPolicy:
    if given.bars is None:
        raise PolicyParameterError(
            "Policy 'bars' needs a bar for each turn. Pass bars=Bars(...), chosen with: python -m benchmarks "
            "stop-fit --help; or use 'band', which takes answer_at and abstain_below."
        )
    return FirstOf(given.bars, Stagnation(given.patience))


def _coverage(given: _Parameters) -> StopPolicy:
    if given.coverage is None:
        raise PolicyParameterError(
            "Policy 'coverage' needs bars for the cache and for the web. Pass coverage=CoverageBars(...), chosen "
            "with: python -m benchmarks coverage-fit --help"
        )
    return FirstOf(given.coverage, Stagnation(given.patience))


def _probed(given: _Parameters) -> StopPolicy:
    if given.probe is None:
        raise PolicyParameterError(
            "Policy 'probed' needs the weights of a probed answer. Pass probe=ProbeWeights(...), fitted with: "
            "python -m benchmarks stop-fit --help"
        )
    probed = Probed(weights=given.probe, answer_at=given.answer_at, min_turns=given.min_turns)
    return FirstOf(probed, Stagnation(given.patience))


def _threshold(given: _Parameters) -> StopPolicy:
    bar = ScoreThreshold(answer_at=given.answer_at, min_turns=given.min_turns)
    return FirstOf(bar, Stagnation(given.patience))


def _decaying(given: _Parameters) -> StopPolicy:
    return FirstOf(DecayingBar(start=given.answer_at, end=given.abstain_below), Stagnation(given.patience))


def _utility(given: _Parameters) -> StopPolicy:
    calibration = given.calibrated("utility")
    return ExpectedUtility(calibration=calibration, hazard=given.hazard, utility=given.utility)


_MAKERS: Final[Mapping[str, _Maker]] = {
    "bars": _bars,
    "coverage": _coverage,
    "band": _band,
    "threshold": _threshold,
    "probed": _probed,
    "never": lambda _: Never(),
    "single": lambda _: FixedK(1),
    "until-dry": lambda given: UntilDry(given.patience),
    "decaying": _decaying,
    "no-gain": lambda given: Gated(NoGain(patience=given.patience), None),
    "gated-no-gain": lambda given: Gated(NoGain(patience=given.patience), given.answer_at),
    "novelty": lambda given: Gated(NoveltyRate(patience=given.patience), None),
    "stability": lambda _: AnswerAtEnd(AnswerStability()),
    "llm-stop": lambda _: AnswerAtEnd(LlmSaysStop()),
    "llm-sufficient": lambda given: FirstOf(SufficiencyPrompt(), Stagnation(given.patience)),
    "utility": _utility,
    "ragflow": lambda given: RagflowLadder(calibration=given.calibrated("ragflow")),
}
KNOWN_POLICIES = (*sorted((*_MAKERS, "fixed-K", "gated-K", "random-RATE", "tasr-MARGIN")),)
"""Names that `build_policy` understands; K is a number of calls, as in `fixed-6`, RATE a share, as in
`random-0.3`, MARGIN the lead of an answer on the answerer's scale."""
_USING_SCORES: Final = frozenset({"band", "threshold", "decaying", "gated-no-gain", "gated", "probed"})


def needs_thresholds(spec: str) -> bool:
    """Whether the policy of this name holds scores against `answer_at` or `abstain_below`.

    >>> needs_thresholds("gated-6"), needs_thresholds("fixed-6")
    (True, False)
    """
    return re.sub(r"-[0-9.]+$", "", spec) in _USING_SCORES


def build_policy(
    spec: str = "band",
    *,
    answer_at: float,
    abstain_below: float,
    min_turns: int = 1,
    patience: int = 2,
    unchecked: bool = False,
    calibration: Calibration | None = None,
    hazard: tuple[float, ...] = (),
    utility: Utility | None = None,
    bars: Bars | None = None,
    coverage: CoverageBars | None = None,
    probe: ProbeWeights | None = None,
) -> StopPolicy:
    """Build a policy from its name; docs/policies.md says what each does.

    Args:
        spec: One of `KNOWN_POLICIES`. `fixed-K`, `single`, `never`, `random-RATE` and those with an observer use
            none of the other parameters.
        answer_at: Answer from this score up; the bar of `decaying` starts here.
        abstain_below: `band` gives a tier up below this score; the bar of `decaying` ends here.
        min_turns: `band` and `threshold` neither answer nor abstain for a score before so many turns.
        patience: Low scores, or turns without new passages or gain, in a row that give a tier up.
        unchecked: Answer from whatever evidence there is where the search would otherwise abstain.
        calibration: Needed by `utility` and `ragflow`.
        hazard: Needed by `utility`.
        utility: For `utility`; None = the declared prices of `Utility`.
        bars: Needed by `bars`.
        coverage: Needed by `coverage`.
        probe: Needed by `probed`, whose `answer_at` is on the scale of `ProbeWeights.evidence`.

    Raises:
        PolicyParameterError: an unknown name, a calibration that is missing, or parameters that the policy
        refuses.

    >>> build_policy("fixed-6", answer_at=0.0, abstain_below=0.0)
    FixedK(k=6)
    """
    given = _Parameters(
        answer_at=answer_at,
        abstain_below=abstain_below,
        min_turns=min_turns,
        patience=patience,
        calibration=calibration,
        hazard=hazard,
        utility=utility or Utility(),
        bars=bars,
        coverage=coverage,
        probe=probe,
    )
    policy = _MAKERS[spec](given) if spec in _MAKERS else _numbered(spec, given)
    return AnswerAtEnd(policy) if unchecked else policy


def _numbered(spec: str, given: _Parameters) -> StopPolicy:
    """A name that ends in a number."""
    calls = re.fullmatch(r"(fixed|gated)-([0-9]{1,6})", spec)
    if calls:
        fixed = FixedK(int(calls[2]))
        return fixed if calls[1] == "fixed" else Gated(fixed, given.answer_at)
    amount = re.fullmatch(r"(random|tasr)-([0-9]{1,6}(?:\.[0-9]{1,9})?)", spec)
    if amount:
        number = float(amount[2])
        return RandomStop(stop_rate=number) if amount[1] == "random" else AnswerAtEnd(Tasr(margin=number))
    raise PolicyParameterError(
        f"Unknown policy {spec!r}. Known: {', '.join(KNOWN_POLICIES)} (K = calls, e.g. fixed-6; RATE = share "
        "of the turns that stop, e.g. random-0.3; MARGIN: on the answerer's scale)."
    )
