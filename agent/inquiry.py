"""What one search was asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from policies import Budget
from retrieval import Passage, Tier

from .errors import ConfigError


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """A question and the terms on which it is searched.

    Raises:
        ConfigError: the question is empty, two tiers share a name, or an age is no number of at least 0.
    """

    question: str
    given: tuple[Passage, ...] = ()
    """Evidence to begin with."""
    tiers: tuple[Tier, ...]
    """In the order in which they are tried; names differ."""
    budget: Budget
    max_age: float | None = None
    """Oldest content of use, in seconds; None = any age."""
    tenant: str | None = None
    """On whose behalf; None = the nameless tenant."""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ConfigError("The question is empty. Ask one, e.g. agent.run('Who wrote Emma?').")
        distinct(self.tiers)
        if self.max_age is not None and not (math.isfinite(self.max_age) and self.max_age >= 0):
            raise ConfigError(f"max_age must be seconds, at least 0, it is {self.max_age}. Pass None for any age.")


def distinct(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    """The tiers, if their names differ.

    Raises:
        ConfigError: two share a name.
    """
    names = [tier.name for tier in tiers]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(
            f"Tiers need names of their own; more than one is called {', '.join(map(repr, repeated))}."
        )
    return tuple(tiers)
