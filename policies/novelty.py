"""A policy that gives a tier up when most of what it yields is known already."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from typing import ClassVar

from .decision import Decision
from .errors import PolicyParameterError
from .parameters import require_share, require_whole
from .stagnation import give_up_after
from .state import SearchState


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyRate:
    """Gives a tier up after `patience` turns in a row whose novelty rate was below `at_least`. It never answers.

    The novelty rate of a turn is its number of new passages divided by the most that any turn on this tier
    brought. A policy is not told how many passages a turn returned in all; where every turn asks for the same
    number, and one turn brought only new ones, this is the share of new ones. Stopping when new material becomes
    rare is saturation (Glaser and Strauss 1967, "The discovery of grounded theory"); the rule in this form is
    ours.

    Raises:
        PolicyParameterError: `at_least` outside (0, 1], `patience` below 1.
    """

    at_least: float = 0.5
    """In (0, 1]."""
    patience: int = 1
    """Turns."""
    name: ClassVar[str] = "novelty"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_share("NoveltyRate", "at_least", self.at_least)
        if not self.at_least:
            raise PolicyParameterError(
                "NoveltyRate: at_least must be above 0, it is 0: no rate is below it. Leave the policy out."
            )
        require_whole("NoveltyRate", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Count the latest turns with few new passages."""
        new = state.tier_new_passages
        needed = self.at_least * max(new, default=0)
        poor = len(list(takewhile(lambda each: each < needed or each == 0, reversed(new))))
        return give_up_after(self.patience, poor, state, code="low_novelty", by=self.name)
