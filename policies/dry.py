"""Until dry: the baseline that reads all that there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .decision import Decision
from .endings import unchecked_at_end
from .parameters import require_whole
from .stagnation import give_up_after, turns_without_news
from .state import SearchState


@dataclass(frozen=True, slots=True)
class UntilDry:
    """Searches until `patience` turns in a row bring no new passage, then answers: unchecked by design.

    The same as `AnswerAtEnd(Stagnation(patience))`: a dry tier is left for the next one, and the answer comes
    where the search really ends, also because nothing is left to ask or the budget is used up. Without any passage
    it abstains. This is how agents without a stop rule behave: they search while the search engine has something
    to give.

    Raises:
        PolicyParameterError: `patience` below 1.
    """

    patience: int = 1
    """Turns."""
    name: ClassVar[str] = "until_dry"
    requires: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        require_whole("UntilDry", "patience", self.patience, at_least=1)

    def decide(self, state: SearchState) -> Decision:
        """Count the latest turns without new passages."""
        dry = turns_without_news(state)
        decision = give_up_after(self.patience, dry, state, code="stagnation", by=self.name)
        return unchecked_at_end(decision, state)
