"""Thresholds with a promise: ordinary policies under the name of the promise, which their reasons carry.

The promise is found by `policies.calibration` and holds for searches like those that it was found on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .combine import said_by
from .decision import Decision
from .parameters import require_open_share
from .policy import StopPolicy
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class LttThreshold:
    """Decides as `part`, whose threshold was found by Learn-then-Test (Angelopoulos et al. 2021, "Learn then Test:
    Calibrating predictive algorithms to achieve risk control", arXiv 2110.01052).

    The promise: of the searches that it answers, at most a share `alpha` lacks support; a calibration that
    promises this is wrong with probability at most `delta`. Monotone where `part` is.

    Raises:
        PolicyParameterError: `alpha` or `delta` outside (0, 1).
    """

    part: StopPolicy
    alpha: float
    """Share of the answered searches, in (0, 1)."""
    delta: float
    """Probability over calibration sets, in (0, 1)."""

    def __post_init__(self) -> None:
        require_open_share("LttThreshold", "alpha", self.alpha)
        require_open_share("LttThreshold", "delta", self.delta)

    @property
    def name(self) -> str:
        """E.g. `ltt-0.10`."""
        return f"ltt-{self.alpha:.2f}"

    @property
    def requires(self) -> frozenset[str]:
        """What the part requires."""
        return self.part.requires

    def decide(self, state: SearchState) -> Decision:
        """Ask the part."""
        return _promising(self.part.decide(state), self.name, {"alpha": self.alpha, "delta": self.delta})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformalThreshold:
    """Decides as `part`, whose threshold was found by split conformal prediction (Vovk et al. 2005, "Algorithmic
    learning in a random world").

    The promise: of the searches that hold all support, at most a share `alpha` is refused, on average over
    calibration sets. Monotone where `part` is.

    Raises:
        PolicyParameterError: `alpha` outside (0, 1).
    """

    part: StopPolicy
    alpha: float
    """Share of the sufficient searches, in (0, 1)."""

    def __post_init__(self) -> None:
        require_open_share("ConformalThreshold", "alpha", self.alpha)

    @property
    def name(self) -> str:
        """E.g. `conformal-0.10`."""
        return f"conformal-{self.alpha:.2f}"

    @property
    def requires(self) -> frozenset[str]:
        """What the part requires."""
        return self.part.requires

    def decide(self, state: SearchState) -> Decision:
        """Ask the part."""
        return _promising(self.part.decide(state), self.name, {"alpha": self.alpha})


def _promising(decision: Decision, by: str, promise: dict[str, float]) -> Decision:
    said = said_by(by, decision)
    return replace(said, reason=replace(said.reason, values={**said.reason.values, **promise}))
