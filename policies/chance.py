"""Random stops: what a policy must beat at its own mean number of calls."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import ClassVar

from .decision import AnswerNow, Decision, Reason, SearchOn
from .endings import unchecked_at_end
from .parameters import require_share, require_whole
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomStop:
    """After each turn that left evidence, answers with probability `stop_rate`; unchecked, also where the search
    ends. The baseline for policies that look: choose the rate that gives the same mean number of calls.

    Pure all the same: the draw after a turn is a hash of the seed and of what the search has shown so far (scores
    and new passages, turn by turn). It is the same whenever the same state is seen, as good as independent from
    turn to turn, and differs between searches as soon as one of their scores differs in any digit.

    Raises:
        PolicyParameterError: `stop_rate` outside [0, 1], `seed` negative or not whole.
    """

    stop_rate: float
    """In [0, 1]. 1 = after the first turn with evidence, 0 = only where the search ends."""
    seed: int = 0
    name: ClassVar[str] = "random"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_share("RandomStop", "stop_rate", self.stop_rate)
        require_whole("RandomStop", "seed", self.seed, at_least=0)

    def decide(self, state: SearchState) -> Decision:
        """Draw."""
        draw = self._draw(state)
        values = {"draw": draw, "stop_rate": self.stop_rate}
        if state.passages and state.turn > 0 and draw < self.stop_rate:
            return AnswerNow(reason=Reason(code="chance", by=self.name, values=values))
        return unchecked_at_end(SearchOn(reason=Reason(code="chance_pending", by=self.name, values=values)), state)

    def _draw(self, state: SearchState) -> float:
        """In [0, 1)."""
        scores = state.earlier_scores + state.tier_scores
        seen = repr((self.seed, state.turn, scores, state.new_passages)).encode()
        return int.from_bytes(blake2b(seen, digest_size=6).digest(), "big") / 2**48
