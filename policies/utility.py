"""What an answer, an error and a call are worth."""

from __future__ import annotations

from dataclasses import dataclass

from .parameters import require_amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """Declared prices of the ends of a search. An abstention is worth 0.

    Only the proportions matter; with `right` at 1, a `wrong` of w means that answering pays from a probability of
    w / (1 + w) on, which is Chow's rule (Chow 1970, "On optimum recognition error and reject tradeoff").

    Raises:
        PolicyParameterError: a price that is negative, NaN or infinite.

    >>> Utility().of(answered=True, complete=True, calls=2)
    0.9
    """

    right: float = 1.0
    """Worth of an answer on complete support."""
    wrong: float = 0.5
    """Cost of an answer on incomplete support. At a half, answering pays where support is complete in one case of
    three; docs/decisions/011-stop-policy.md says why."""
    call_price: float = 0.05
    """Cost of one call, in the same unit."""

    def __post_init__(self) -> None:
        for name in ("right", "wrong", "call_price"):
            require_amount("Utility", name, getattr(self, name))

    def of(self, answered: bool, complete: bool, calls: int) -> float:
        """What a search was worth that ended after `calls` calls."""
        worth = (self.right if complete else -self.wrong) if answered else 0.0
        return worth - self.call_price * calls

    def of_answer(self, probability: float) -> float:
        """What an answer is worth on average if the support is complete with this probability; calls aside."""
        return probability * self.right - (1 - probability) * self.wrong
