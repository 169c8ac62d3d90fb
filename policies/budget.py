"""Budgets, and the one place where they overrule a policy."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval import Allowance, Spend

from .decision import Abstain, AnswerNow, Decision, Reason, SearchOn, Widen
from .parameters import require_amount, require_whole
from .state import SearchState

_UNLIMITED = "Pass None for unlimited."


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that one search may use. `None` = unlimited; 0 = nothing.

    Budgets are global to a search: widening to another tier never resets them (case L09). An exhausted budget
    is a decision with a reason, not an exception.

    Raises:
        PolicyParameterError: an amount that is negative, NaN or infinite, or a count that is not whole.
    """

    max_turns: int | None = 8
    """Checked before a turn."""
    max_calls: int | None = 16
    """Checked before each call; a turn asks fewer queries when fewer calls are left."""
    max_seconds: float | None = 120.0
    """Wall clock; checked before a turn, and each await in it is cut at it. Answering has its own time-out."""
    max_tokens: int | None = None
    """Tokens of language models; checked before a turn."""
    max_price: float | None = None
    """In the unit of the tiers' prices; checked before each call. Tiers that cost nothing may always be asked."""
    max_fetches: int | None = None
    """Requests to origins on the web; checked before each call, and the queries of a turn share what is left.
    Tiers that fetch nothing may always be asked."""

    def __post_init__(self) -> None:
        for name in ("max_turns", "max_calls", "max_tokens", "max_fetches"):
            count = getattr(self, name)
            if count is not None:
                require_whole("Budget", name, count, at_least=0, remedy=_UNLIMITED)
        for name in ("max_seconds", "max_price"):
            amount = getattr(self, name)
            if amount is not None:
                require_amount("Budget", name, amount, remedy=_UNLIMITED)

    def left(self, spend: Spend, *, turns: int) -> Allowance:
        """What is left after `spend` and `turns` finished turns."""
        return Allowance(
            turns=None if self.max_turns is None else self.max_turns - turns,
            calls=None if self.max_calls is None else self.max_calls - spend.calls,
            seconds=None if self.max_seconds is None else self.max_seconds - spend.seconds,
            tokens=None if self.max_tokens is None else self.max_tokens - spend.tokens,
            price=None if self.max_price is None else self.max_price - spend.price,
            fetches=None if self.max_fetches is None else self.max_fetches - spend.fetches,
        )


def enforce(decision: Decision, state: SearchState) -> Decision:
    """What can really be done about a policy's wish.

    An abstention stands, and so does an answer that has evidence to rest on (case E06). Going on needs a budget,
    and in this tier also a query to ask and a tier that works; where only the latter are missing, the search
    widens. What cannot go on abstains: no wish to search on ever turns into an answer here (case L06).
    """
    if isinstance(decision, Abstain):
        return decision
    if isinstance(decision, AnswerNow):
        if state.passages:
            return decision
        return Abstain(reason=decision.reason.replaced("no_evidence", by="enforce"))
    if state.left.exhausted is not None:
        return Abstain(reason=_end(decision, state, f"budget_{state.left.exhausted}"))
    if isinstance(decision, Widen):
        return _widened(decision, state)
    blocked = _blocked(state)
    return decision if blocked is None else _elsewhere(decision, state, blocked)


def can_go_on(state: SearchState) -> bool:
    """Whether another turn is possible, in this tier or another. If not, `enforce` lets no wish to go on pass."""
    return state.left.exhausted is None and (bool(state.tiers_within_reach) or _blocked(state) is None)


def _blocked(state: SearchState) -> str | None:
    """Why this tier cannot be searched further, or None."""
    if state.failed_turns and (state.tiers_within_reach or state.failed_turns > 1):
        return "tier_failed"  # the only tier left gets one more try
    if state.passages == 0 and state.tier_turns > 0 and not state.failed_turns:
        return "no_evidence"
    if state.nothing_to_ask:
        return "nothing_to_ask"
    if state.calls_left == 0:
        return _used_up(state.left, state.tier_price)
    return None


def _used_up(left: Allowance, *prices: float) -> str:
    """What forbids a call that nothing else forbids: the price, where no price pays one, else the fetches."""
    return "budget_price" if all(left.calls_at(price) == 0 for price in prices) else "budget_fetches"


def _widened(wish: Widen, state: SearchState) -> Widen | Abstain:
    """To the tier that was asked for, else to the first one that what is left can pay."""
    names = [tier.name for tier in state.tiers_within_reach]
    if not names:
        if not state.tiers_left:
            return Abstain(reason=wish.reason)
        code = _used_up(state.left, *(tier.price for tier in state.tiers_left))
        return Abstain(reason=_end(wish, state, code))
    return wish if wish.tier in names else Widen(reason=wish.reason, tier=names[0])


def _elsewhere(wish: SearchOn, state: SearchState, blocked: str) -> Widen | Abstain:
    if state.tiers_within_reach:
        return _widened(Widen(reason=wish.reason.replaced(blocked, by="enforce")), state)
    return Abstain(reason=_end(wish, state, blocked))


def _end(wish: SearchOn | Widen, state: SearchState, code: str) -> Reason:
    """The reason to stop: `code`, unless one that says more outranks it; both stay known.

    An empty search outranks all. So does a score that could not be used, except the clock: scoring that was
    cut by it is no fault of the scorer.
    """
    reason = wish.reason.replaced(code, by="enforce")
    if state.passages == 0 and not state.failed_turns and state.turn > 0:
        return reason if code == "no_evidence" else reason.replaced("no_evidence")
    if state.score_invalid and code != "budget_seconds":
        return reason.replaced("score_invalid")
    return reason
