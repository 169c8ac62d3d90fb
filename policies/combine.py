"""Policies made of policies. Each keeps the reason of the part that spoke."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from .decision import Decision, Reason, SearchOn, Widen
from .endings import not_before, unchecked_at_end
from .errors import PolicyParameterError
from .parameters import require_whole
from .policy import StopPolicy
from .state import SearchState


@dataclass(frozen=True, slots=True, init=False, repr=False)
class FirstOf:
    """The first part that says anything but `SearchOn` decides; put what may answer before what gives up.

    If all search on, the first reason that says more than `progress` is kept.

    Raises:
        PolicyParameterError: no parts.
    """

    parts: tuple[StopPolicy, ...]
    name: ClassVar[str] = "first_of"

    def __init__(self, *parts: StopPolicy) -> None:
        if not parts:
            raise PolicyParameterError(
                "FirstOf: at least 1 policy must be given, there are 0. Pass FirstOf(Band(...), ...)."
            )
        object.__setattr__(self, "parts", parts)

    def __repr__(self) -> str:
        return f"FirstOf({', '.join(map(repr, self.parts))})"

    @property
    def requires(self) -> frozenset[str]:
        """What any part requires."""
        return frozenset[str]().union(*(part.requires for part in self.parts))

    def decide(self, state: SearchState) -> Decision:
        """Ask the parts in order."""
        going_on: list[SearchOn] = []
        for part in self.parts:
            decision = part.decide(state)
            if not isinstance(decision, SearchOn):
                return said_by(self.name, decision)
            going_on.append(decision)
        telling = (decision for decision in going_on if decision.reason.code != "progress")
        return said_by(self.name, next(telling, going_on[0]))


@dataclass(frozen=True, slots=True)
class MinTurns:
    """Neither answers nor abstains before `turns` turns, as long as another turn is possible (case L07).

    Once the budget is used up or nothing is left to ask, the part's own decision on the evidence at hand stands
    (case L02). The part may leave a tier at any time.

    Raises:
        PolicyParameterError: `turns` below 1.
    """

    part: StopPolicy
    turns: int
    name: ClassVar[str] = "min_turns"

    def __post_init__(self) -> None:
        require_whole("MinTurns", "turns", self.turns, at_least=1)

    @property
    def requires(self) -> frozenset[str]:
        """What the part requires."""
        return self.part.requires

    def decide(self, state: SearchState) -> Decision:
        """Turn an early stop into going on."""
        return not_before(self.turns, said_by(self.name, self.part.decide(state)), state)


@dataclass(frozen=True, slots=True)
class AnswerAtEnd:
    """Answers unchecked where the part's search would end without an answer but with evidence.

    This is how a user allows what case L06 otherwise forbids; only the outermost place in a composition makes
    sense. The answer's reason is `unchecked_answer`; `overruled` says why the search ended.
    """

    part: StopPolicy
    name: ClassVar[str] = "answer_at_end"

    @property
    def requires(self) -> frozenset[str]:
        """What the part requires."""
        return self.part.requires

    def decide(self, state: SearchState) -> Decision:
        """Turn a real end without an answer into an unchecked answer."""
        return unchecked_at_end(said_by(self.name, self.part.decide(state)), state)


def said_by(name: str, decision: Decision) -> Decision:
    """The same decision, with `name` in front of who gave its reason."""
    said = decision.reason
    reason = Reason(code=said.code, by=f"{name}/{said.by}", values=said.values, overruled=said.overruled)
    return replace(decision, reason=reason) if isinstance(decision, Widen) else type(decision)(reason=reason)
