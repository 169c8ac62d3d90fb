"""What comes with the product for a scorer: the default policy's bars, thresholds, a calibration.

Written by `python -m benchmarks stop-fit` into `shipped.json`. Chosen on training searches, not certified: no risk
is promised.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .bars import Bars
from .calibrated import Calibration
from .coverage_bars import CoverageBars
from .errors import PolicyParameterError
from .named import DEFAULT_POLICY, build_policy
from .policy import StopPolicy
from .probed import ProbeWeights
from .utility import Utility

FILE = Path(__file__).with_name("shipped.json")
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WebBars:
    """Bars ahead of a tier that fetches and on it, see `CoverageBars`."""

    ahead: Bars
    fetching: Bars
    partial_from: float | None
    found_on: str
    """Questions, prices and rule, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """Where the scores of one scorer mean "enough" and "hopeless"."""

    scorer: str
    """Fingerprint of the scorer; on another scorer's scores they mean nothing."""
    bars: Bars
    """The default policy."""
    answer_at: float
    """Of `band` and `threshold`, as are the next two."""
    abstain_below: float
    min_turns: int
    calibration: Calibration
    hazard: tuple[float, ...]
    """See `policies.calibration.hazards`."""
    utility: Utility
    """The declared prices that all of this was chosen at."""
    probe: ProbeWeights
    """Of `probed`."""
    probed_at: float
    """Its threshold, on the scale of `ProbeWeights.evidence`."""
    found_on: str
    """Questions, corpus and rule, for people."""
    web: WebBars | None = None
    """What `coverage`, the default where a tier fetches, has beside `bars`; None = `coverage` cannot be built."""

    @property
    def coverage(self) -> CoverageBars | None:
        """The default policy where a tier fetches."""
        if self.web is None:
            return None
        own = self.web
        return CoverageBars(
            ahead=own.ahead, fetching=own.fetching, otherwise=self.bars, partial_from=own.partial_from
        )

    def build(
        self,
        name: str = DEFAULT_POLICY,
        *,
        answer_at: float | None = None,
        abstain_below: float | None = None,
        min_turns: int | None = None,
        patience: int = 2,
    ) -> StopPolicy:
        """A policy by name, see `build_policy`, with what was shipped in the place of what is not given.

        The shipped `abstain_below` gives way to a lower `answer_at`.

        Raises:
            PolicyParameterError: an unknown name, or parameters that the policy refuses.
        """
        usual = self.probed_at if name == "probed" else self.answer_at
        upper = usual if answer_at is None else answer_at
        return build_policy(
            name,
            answer_at=upper,
            abstain_below=min(self.abstain_below, upper) if abstain_below is None else abstain_below,
            min_turns=min_turns or self.min_turns,
            patience=patience,
            calibration=self.calibration,
            hazard=self.hazard,
            utility=self.utility,
            bars=self.bars,
            coverage=self.coverage,
            probe=self.probe,
        )


def shipped_scorers() -> tuple[str, ...]:
    """Fingerprints of the scorers that something was shipped for.

    Raises:
        PolicyParameterError: as `shipped`.
    """
    return tuple(_read())


def shipped(scorer: str) -> Shipped | None:
    """What was found with the scorer of this fingerprint, or None.

    Raises:
        PolicyParameterError: `shipped.json` is damaged or of another format; install the package again.
    """
    return _read().get(scorer)


def shipped_json(found: Shipped) -> dict[str, Any]:
    """As it stands in `shipped.json`."""
    return {
        "scorer": found.scorer,
        "bars": _bars_json(found.bars),
        "band": {
            "answer_at": found.answer_at,
            "abstain_below": found.abstain_below,
            "min_turns": found.min_turns,
        },
        "calibration": {
            "slope": found.calibration.slope,
            "intercept": found.calibration.intercept,
            "offsets": list(found.calibration.offsets),
        },
        "hazard": list(found.hazard),
        "utility": {
            "right": found.utility.right,
            "wrong": found.utility.wrong,
            "call_price": found.utility.call_price,
        },
        "probe": {**asdict(found.probe), "answer_at": found.probed_at},
        "found_on": found.found_on,
        **({} if found.web is None else {"web": _web_json(found.web)}),
    }


def read_shipped(data: Mapping[str, Any]) -> Shipped:
    """The way back of `shipped_json`.

    Raises:
        KeyError, TypeError, PolicyParameterError: it is something else.
    """
    band, fit = data["band"], data["calibration"]
    probe = dict(data["probe"])
    probed_at = probe.pop("answer_at")
    return Shipped(
        scorer=data["scorer"],
        bars=_bars(data["bars"]),
        answer_at=band["answer_at"],
        abstain_below=band["abstain_below"],
        min_turns=band["min_turns"],
        calibration=Calibration(
            kind="platt", slope=fit["slope"], intercept=fit["intercept"], offsets=tuple(fit["offsets"])
        ),
        hazard=tuple(data["hazard"]),
        utility=Utility(**data["utility"]),
        probe=ProbeWeights(**probe),
        probed_at=probed_at,
        found_on=data["found_on"],
        web=_web(data["web"]) if "web" in data else None,
    )


def _bars_json(bars: Bars) -> dict[str, Any]:
    return {"answer_at": list(bars.answer_at), "abstain_below": list(bars.abstain_below)}


def _bars(data: Mapping[str, Any]) -> Bars:
    return Bars(answer_at=tuple(data["answer_at"]), abstain_below=tuple(data["abstain_below"]))


def _web_json(web: WebBars) -> dict[str, Any]:
    return {
        "ahead": _bars_json(web.ahead),
        "fetching": _bars_json(web.fetching),
        "partial_from": web.partial_from,
        "found_on": web.found_on,
    }


def _web(data: Mapping[str, Any]) -> WebBars:
    return WebBars(
        ahead=_bars(data["ahead"]),
        fetching=_bars(data["fetching"]),
        partial_from=data["partial_from"],
        found_on=data["found_on"],
    )


@cache
def _read() -> Mapping[str, Shipped]:
    try:
        data = json.loads(FILE.read_text(encoding="utf-8"))
        found = [read_shipped(one) for one in data["shipped"]] if data["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PolicyParameterError(
            f"{FILE.name} of the package policies cannot be used: {type(error).__name__}: {error}. Install "
            "sufficit again."
        ) from error
    if found is None:
        raise PolicyParameterError(f"{FILE.name} of the package policies has another format than {FORMAT}.")
    return {one.scorer: one for one in found}
