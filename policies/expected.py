"""Expected utility: answer, go on, widen or abstain by what each is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .budget import can_go_on, enforce
from .calibrated import Calibration
from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .endings import nothing_to_judge
from .errors import PolicyParameterError
from .parameters import require_share, require_whole
from .state import SearchState
from .utility import Utility


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedUtility:
    """Weighs answering now, abstaining and going on at declared prices, and does what is worth most.

    With probability p of complete support an answer is worth p * right - (1 - p) * wrong, an abstention 0. Going
    on for n calls lifts p to p_n = 1 - (1 - p) * (1 - hazard) * ... and is worth the better of abstaining then and
    of p_n * right - (1 - informed) * (1 - p_n) * wrong, minus n calls; the best n up to `look_ahead` counts. With
    the defaults this is the one-step look-ahead of optimal stopping (Chow, Robbins and Siegmund 1971, "Great
    expectations"; Ferguson, "Optimal stopping and applications", ch. 5); `look_ahead` and `informed` are ours.
    Where two are worth the same, an answer goes before going on, and that before an abstention.

    Widening is part of it: where the tier cannot be searched on or is not worth it, and an answer is worth less
    than nothing, the search goes to the tier that is worth most at its own price, the first of equal ones, if that
    is worth anything; a tier not tried is taken to be as hopeful as the first one was, `hazard[0]`. Prices of
    tiers are in the unit of the utility and come on top of `call_price`.

    Monotone: with a higher score of the present evidence the decision moves from abstaining over going on (here or
    in another tier) to answering, never back.

    Raises:
        PolicyParameterError: no hazard, one outside [0, 1], `informed` outside [0, 1], `look_ahead` below 1.
    """

    calibration: Calibration
    hazard: tuple[float, ...]
    """`hazard[t]`: probability that a search that is incomplete after t turns on a tier becomes complete with one
    call more. The last one goes for all later turns."""
    utility: Utility = field(default_factory=Utility)
    look_ahead: int = 1
    """Calls, at least 1. With 1, a search whose support takes two calls more looks hopeless."""
    informed: float = 0.0
    """In [0, 1]: which share of the wrong answers the scores to come are counted on to prevent. 0 = one answers
    blindly after going on, 1 = one will know whether the support is complete."""
    name: ClassVar[str] = "utility"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if not self.hazard:
            raise PolicyParameterError(
                "ExpectedUtility: hazard must hold at least 1 probability, it is empty. Fit it with: "
                "sufficit calibrate --help"
            )
        for hazard in self.hazard:
            require_share("ExpectedUtility", "hazard", hazard)
        require_share("ExpectedUtility", "informed", self.informed)
        require_whole("ExpectedUtility", "look_ahead", self.look_ahead, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Weigh."""
        score = state.score
        if score is None:
            return nothing_to_judge(self.name, state)
        probability = self.calibration.probability(score, state.turn)
        answer = self.utility.of_answer(probability)
        values = {"score": score, "probability": probability, "answer_worth": answer}
        here = self._worth_here(probability, state)
        if here is not None:
            values["search_worth"] = here
        if answer >= max(here or 0.0, 0.0):
            return AnswerNow(reason=Reason(code="worth_answering", by=self.name, values=values))
        if here is not None and here >= 0:
            return SearchOn(reason=Reason(code="worth_searching", by=self.name, values=values))
        return self._elsewhere(probability, state, values)

    def _worth_here(self, probability: float, state: SearchState) -> float | None:
        """Of going on in this tier; None where that is not possible."""
        wish = SearchOn(reason=Reason(code="worth_searching", by=self.name))
        if not isinstance(enforce(wish, state), SearchOn):
            return None
        hazards = self.hazard[min(state.tier_turns, len(self.hazard) - 1) :]
        return self._worth(probability, hazards, state.tier_price, state.calls_left)

    def _elsewhere(self, probability: float, state: SearchState, values: dict[str, float]) -> Widen | Abstain:
        """To the tier that is worth most, or nowhere."""
        reachable = state.tiers_within_reach if can_go_on(state) else ()
        worth = {
            tier.name: self._worth(
                probability, self.hazard, tier.price, state.left.calls_at(tier.price, fetches=tier.fetches)
            )
            for tier in reachable
        }
        best = max(worth, key=lambda name: worth[name], default=None)
        if best is None or worth[best] < 0:
            return Abstain(reason=Reason(code="not_worth_it", by=self.name, values=values))
        values["widen_worth"] = worth[best]
        return Widen(reason=Reason(code="worth_searching", by=self.name, values=values), tier=best)

    def _worth(self, probability: float, hazards: Sequence[float], price: float, calls: int | None) -> float:
        """Of the best number of calls from now on, at least one."""
        blind = (1 - self.informed) * self.utility.wrong
        incomplete = 1 - probability
        worth = []
        for call in range(1, (self.look_ahead if calls is None else min(self.look_ahead, calls)) + 1):
            incomplete *= 1 - hazards[min(call, len(hazards)) - 1]
            answer = (1 - incomplete) * self.utility.right - incomplete * blind
            worth.append(max(answer, 0.0) - call * (self.utility.call_price + price))
        return max(worth, default=-self.utility.call_price - price)
