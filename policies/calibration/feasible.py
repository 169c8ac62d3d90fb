"""What no policy can do on these searches, whatever its scores: said before anything is certified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from ..errors import CalibrationDataError
from .cases import Case, by_group


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasible:
    """The most that can be answered at a risk.

    Of the searches that are answered, a share 1 - alpha at least must have complete evidence, and only a share 1
    - mu of all ever has. So coverage * (1 - alpha) <= 1 - mu.

    >>> Feasible(mu=0.55, alpha=0.1).coverage
    0.5
    """

    mu: float
    """Share of searches whose evidence is never complete, each group counting once."""
    alpha: float
    """The risk, in (0, 1)."""

    @property
    def coverage(self) -> float:
        """Largest share of searches that can be answered, min(1, (1 - mu) / (1 - alpha))."""
        return min(1.0, (1 - self.mu) / (1 - self.alpha))

    @property
    def abstention(self) -> float:
        """Smallest share that must be refused, max(0, (mu - alpha) / (1 - alpha))."""
        return max(0.0, (self.mu - self.alpha) / (1 - self.alpha))


def feasible(cases: Iterable[Case], alpha: float) -> Feasible:
    """Count the searches that no policy can answer with support.

    Raises:
        CalibrationDataError: no search.
    """
    groups = by_group(cases).values()
    if not groups:
        raise CalibrationDataError("There is no recorded search to calibrate on. Record some, with labels.")
    mu = fmean(fmean(not case.supportable for case in members) for members in groups)
    return Feasible(mu=mu, alpha=alpha)
