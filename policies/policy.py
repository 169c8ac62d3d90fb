"""The seam that every stop policy serves."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .decision import Decision
from .state import SearchState


@runtime_checkable
class StopPolicy(Protocol):
    """Turns the state of a search into a decision.

    Contract: pure and immediate; the same state gives the same decision; it keeps no state of its own, so one
    policy serves many searches; NaN never decides (`state.score` is None then). It is asked after every turn,
    as turn 0 about evidence that was given, and again with `state.nothing_to_ask` when it wants to go on and no
    query is left. What it wishes is done only as far as `enforce` allows. Its `repr` shows its parameters.
    """

    @property
    def name(self) -> str:
        """For traces and tables."""
        ...

    @property
    def requires(self) -> frozenset[str]:
        """Names of the observers that must run before it is asked; empty for most."""
        ...

    def decide(self, state: SearchState) -> Decision:
        """Decide what to do after this turn."""
        ...
