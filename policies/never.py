"""Never: the baseline that is never wrong and never of use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import Abstain, Reason
from .state import SearchState


@dataclass(frozen=True, slots=True)
class Never:
    """Abstains as soon as it is asked, whatever tiers are left. The floor that any other policy must beat.

    The loop asks after the first turn, so a search of its own costs that turn.
    """

    name: ClassVar[str] = "never"
    requires: ClassVar[frozenset[str]] = frozenset()

    def decide(self, state: SearchState) -> Abstain:
        """Abstain."""
        return Abstain(reason=Reason(code="never", by=self.name, values={"turn": state.turn}))
