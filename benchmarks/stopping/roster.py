"""The policies that are compared, by name: as shipped, or with parameters chosen on training searches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from policies import StopPolicy
from policies.calibration import control_refusals, control_risk
from policies.combine import AnswerAtEnd
from policies.dry import UntilDry
from policies.fixed import FixedK
from policies.gated import Gated
from policies.guaranteed import ConformalThreshold, LttThreshold
from policies.never import Never
from policies.novelty import NoveltyRate
from policies.oracle import OracleSupport, OracleUtility
from policies.ragflow import RagflowLadder
from policies.shipped import Shipped, shipped
from policies.stability import AnswerStability
from policies.stagnation import NoGain
from policies.threshold import Band, ScoreThreshold
from policies.utility import Utility

from ..errors import SettingsError
from .climbing import climb
from .runs import Search
from .sheet import RANDOM
from .tuning import FAMILIES, Tuner, cases

DEFAULT = "default"
"""What `sufficit ask` does when nothing is said."""
DELTA = 0.05
"""Allowed probability that a certificate of `ltt-*` is wrong."""
ELSEWHERE = {
    "llm-stop": "asks a language model after each turn: needs searches recorded with the observer llm_stop",
    "llm-sufficient": "asks a language model after each turn: needs searches recorded with llm_sufficient",
}
"""Policies that recorded searches without a language model say nothing about."""
_NUMBERED = re.compile(r"(fixed|gated)-([1-9][0-9]{0,3})|(ltt|conformal)-(0\.[0-9]{1,4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name of the roster."""

    name: str
    policy: StopPolicy | None
    """None: not compared, or (`random`) computed without being played."""
    note: str = ""
    """Why it is not compared, or where its parameters come from."""


def names(horizon: int) -> tuple[str, ...]:
    """What is compared when nothing else is asked for, in the order of tables."""
    return (
        DEFAULT, "never", "single", *(f"fixed-{calls}" for calls in range(2, horizon + 1)), "until-dry", RANDOM,
        "threshold", "threshold-at-end", "band", "bars", "decaying",
        "no-gain", "gated-no-gain", "novelty", "stability",
        "tasr", "probed", "utility", "ltt-0.10", "ltt-0.20", "conformal-0.10", "ragflow", f"gated-{horizon}",
        "oracle-support", "oracle-utility", *ELSEWHERE,
    )  # fmt: skip


class Roster:
    """Builds policies by name.

    Args:
        scorer: Fingerprint of the scorer of the searches that are compared.
        training: Searches to choose parameters on; empty: shipped parameters, for those that have some.
        utility: Declared prices.
        seed: Of the splits of `ltt-*` and `conformal-*`.

    Raises:
        CalibrationDataError: no training search has a valid score.
        SettingsError: the training searches have scores of another scorer.
    """

    def __init__(self, *, scorer: str, training: Sequence[Search], utility: Utility, seed: int) -> None:
        other = {search.scorer for search in training} - {scorer}
        if other:
            raise SettingsError(
                f"The searches to tune on have scores of {sorted(other)[0][:12]}, those to replay of "
                f"{scorer[:12]}: thresholds of one mean nothing to the other. Record both with one scorer."
            )
        self._training, self._seed = training, seed
        self._tuner = Tuner(training, utility) if training else None
        self._shipped = shipped(scorer)
        self._makers: Mapping[str, Callable[[], Entry]] = {
            **{name: partial(Entry, name=name, policy=None, note=note) for name, note in _UNPLAYED.items()},
            **{name: partial(self._plain, name) for name in _PLAIN},
            **{name: partial(self._tuned, name) for name in FAMILIES},
            "oracle-utility": lambda: Entry(name="oracle-utility", policy=OracleUtility(utility)),
            DEFAULT: self._default,
            "bars": self._bars,
            "ragflow": self._ragflow,
        }

    def entry(self, name: str) -> Entry:
        """One policy.

        Raises:
            SettingsError: no such name.
        """
        maker = self._makers.get(name)
        if maker is not None:
            return maker()
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None:
            raise SettingsError(f"Unknown policy {name!r}. Known: {', '.join(names(6))}.")
        kind, number = numbered[1] or numbered[3], numbered[2] or numbered[4]
        return self._numbered(name, kind, float(number))

    def _numbered(self, name: str, kind: str, number: float) -> Entry:
        if kind == "fixed":
            return Entry(name=name, policy=FixedK(int(number)))
        if kind == "gated":
            return self._gated(name, int(number))
        return self._ltt(name, number) if kind == "ltt" else self._conformal(name, number)

    def _plain(self, name: str) -> Entry:
        return Entry(name=name, policy=_PLAIN[name]())

    def _default(self) -> Entry:
        found = self._shipped
        if found is None:
            return Entry(name=DEFAULT, policy=None, note=_NOT_SHIPPED)
        return Entry(name=DEFAULT, policy=found.build(), note="as shipped")

    def _tuned(self, family: str) -> Entry:
        if self._tuner is not None:
            policy = self._tuner.best(family)
            note = "chosen on training searches" if policy else "no candidate stays on the record"
            return Entry(name=family, policy=policy, note=note)
        if family in _UNTUNED:
            return Entry(name=family, policy=_UNTUNED[family](), note="parameters of its class")
        if family in _SHIPPED and self._shipped is not None:
            return Entry(name=family, policy=_SHIPPED[family](self._shipped), note="shipped thresholds")
        return Entry(name=family, policy=None, note=_NO_TUNE if family not in _SHIPPED else _NOT_SHIPPED)

    def _gated(self, name: str, calls: int) -> Entry:
        if self._tuner is not None:
            candidates = [Gated(FixedK(calls), at) for at in self._tuner.on.fine]
            return Entry(name=name, policy=self._tuner.choose(candidates), note="chosen on training searches")
        if self._shipped is None:
            return Entry(name=name, policy=None, note=_NOT_SHIPPED)
        return Entry(name=name, policy=Gated(FixedK(calls), self._shipped.answer_at), note="shipped thresholds")

    def _bars(self) -> Entry:
        if self._tuner is not None:
            return Entry(name="bars", policy=climb(self._tuner), note="chosen on training searches")
        if self._shipped is None:
            return Entry(name="bars", policy=None, note=_NOT_SHIPPED)
        return Entry(name="bars", policy=self._shipped.bars, note="as shipped")

    def _ragflow(self) -> Entry:
        if self._tuner is None:
            return Entry(name="ragflow", policy=None, note=_NO_TUNE)
        policy = RagflowLadder(calibration=self._tuner.on.calibrations[0])
        return Entry(name="ragflow", policy=policy, note="calibrated on training searches")

    def _ltt(self, name: str, alpha: float) -> Entry:
        if self._tuner is None:
            return Entry(name=name, policy=None, note=_NO_TUNE)
        found = control_risk(cases(self._training), _threshold, alpha=alpha, delta=DELTA, seed=self._seed)
        if found.parameter is None:
            needed = (
                "no number of groups" if found.groups_needed is None else f"about {found.groups_needed} groups"
            )
            note = f"not certified on {found.groups} training groups; {needed} like these would do"
            return Entry(name=name, policy=None, note=note)
        policy = LttThreshold(part=_threshold(found.parameter), alpha=alpha, delta=DELTA)
        return Entry(name=name, policy=policy, note="certified on training searches")

    def _conformal(self, name: str, alpha: float) -> Entry:
        if self._tuner is None:
            return Entry(name=name, policy=None, note=_NO_TUNE)
        found = control_refusals(cases(self._training), _threshold, at_most=alpha, seed=self._seed)
        if found.parameter is None:
            note = f"{found.groups} training groups with sufficient searches support no such threshold"
            return Entry(name=name, policy=None, note=note)
        policy = ConformalThreshold(part=_threshold(found.parameter), alpha=alpha)
        return Entry(name=name, policy=policy, note="conformal on training searches")


def _threshold(answer_at: float) -> StopPolicy:
    return ScoreThreshold(answer_at=answer_at)


_NO_TUNE = "left out: its parameters are chosen on training searches, see --tune"
_NOT_SHIPPED = "left out: no thresholds were shipped for this scorer"
_UNPLAYED: Mapping[str, str] = {
    **{name: f"not run here: {why}" for name, why in ELSEWHERE.items()},
    RANDOM: f"exact expectation over all searches, matched to the calls of {DEFAULT}",
}
_PLAIN: Mapping[str, Callable[[], StopPolicy]] = {
    "never": Never,
    "single": lambda: FixedK(1),
    "until-dry": UntilDry,
    "oracle-support": OracleSupport,
}
_UNTUNED: Mapping[str, Callable[[], StopPolicy]] = {
    "no-gain": lambda: Gated(NoGain(), None),
    "novelty": lambda: Gated(NoveltyRate(), None),
    "stability": lambda: AnswerAtEnd(AnswerStability()),
}
_SHIPPED: Mapping[str, Callable[[Shipped], StopPolicy]] = {
    "threshold": lambda at: ScoreThreshold(answer_at=at.answer_at, min_turns=at.min_turns),
    "threshold-at-end": lambda at: AnswerAtEnd(ScoreThreshold(answer_at=at.answer_at, min_turns=at.min_turns)),
    "band": lambda at: Band(answer_at=at.answer_at, abstain_below=at.abstain_below, min_turns=at.min_turns),
    "gated-no-gain": lambda at: Gated(NoGain(), at.answer_at),
}
