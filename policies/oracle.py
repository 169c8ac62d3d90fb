"""Oracles: the best that any policy could do on a recorded search. For benchmarks only, they see the annotation.

Their observer `gold` exists in `benchmarks`, never in the product. `gold.complete` is 1 when the evidence holds
all annotated support, else 0; `gold.first_complete` is the number of calls after which the recorded search holds
it, and is missing where it never does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn
from .endings import not_observed
from .state import SearchState
from .utility import Utility


@dataclass(frozen=True, slots=True)
class OracleSupport:
    """Answers as soon as the support is complete, else searches to the end and abstains. Always correct, at the
    price of the calls of searches in vain.
    """

    name: ClassVar[str] = "oracle_support"
    requires: ClassVar[frozenset[str]] = frozenset({"gold"})

    def decide(self, state: SearchState) -> Decision:
        """Look at the annotation."""
        complete = state.observed("gold.complete")
        if complete is None or not state.passages:
            return not_observed(self.name, state)
        if complete >= 1:
            return AnswerNow(reason=Reason(code="oracle", by=self.name, values={"complete": complete}))
        return SearchOn(reason=Reason(code="oracle_pending", by=self.name, values={"complete": complete}))


@dataclass(frozen=True, slots=True)
class OracleUtility:
    """Ends each search where its utility is highest: at once when support is complete, or when it never will be,
    or only at a price that the answer is not worth. Between two equal ends it prefers the answer.

    No policy over the same recorded searches has a higher mean utility, see `Utility`.
    """

    utility: Utility = field(default_factory=Utility)
    name: ClassVar[str] = "oracle_utility"
    requires: ClassVar[frozenset[str]] = frozenset({"gold"})

    def decide(self, state: SearchState) -> Decision:
        """Look into the future of the record."""
        complete, first = state.observed("gold.complete"), state.observed("gold.first_complete")
        if complete is None:
            return not_observed(self.name, state)
        values = {"complete": complete}
        if complete >= 1 and state.passages:
            return AnswerNow(reason=Reason(code="oracle", by=self.name, values=values))
        if first is not None:
            price = (first - state.spend.calls) * self.utility.call_price
            values |= {"first_complete": first, "price": price}
            if self.utility.right >= price:
                return SearchOn(reason=Reason(code="oracle_pending", by=self.name, values=values))
        return Abstain(reason=Reason(code="oracle_hopeless", by=self.name, values=values))
