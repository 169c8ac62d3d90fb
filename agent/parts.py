"""What a search is made of."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from policies import StopPolicy
from rinse import SufficiencyScorer

from .errors import ConfigError, MissingObserverError
from .ranking import ChainRanker
from .seams import Answerer, Observer, QueryPlanner, Ranker, Verifier

if TYPE_CHECKING:
    from .watch import ScoreWatch


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings:
    """How the loop behaves, apart from its parts.

    Raises:
        ConfigError: a number out of range.
    """

    queries_per_turn: int = 2
    """The most queries that one turn asks, 1 or 2."""
    exclude_known: bool = True
    """Ask tiers to leave out what the evidence holds already, so that they dig deeper instead."""
    plan_seconds: float = 30.0
    """Longest time for one plan."""
    observe_seconds: float = 60.0
    """Longest time for one observation."""
    answer_seconds: float = 60.0
    """Longest time for the answer, and for its verification; granted even when the search's budget is used up."""
    max_reviews: int = 1
    """How often a verifier may send the loop back to search."""
    grace_seconds: float = 2.0
    """How long a cancelled search waits for its parts to let go."""
    credit_seconds: float = 2.0
    """The longest that a search that asked a cache takes, at its end, to tell it what its passages were worth. See
    `agent.credit`."""
    max_age: float | None = None
    """Oldest content of use in seconds, for searches that name none; None = any age."""
    tenant: str | None = None
    """On whose behalf a search runs that names nobody; None = the nameless tenant."""

    def __post_init__(self) -> None:
        if self.queries_per_turn not in {1, 2}:
            raise ConfigError(f"queries_per_turn must be 1 or 2, it is {self.queries_per_turn}.")
        for name in ("plan_seconds", "observe_seconds", "answer_seconds", "grace_seconds", "credit_seconds"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} must be a positive number of seconds, it is {getattr(self, name)}.")
        if self.max_reviews < 0:
            raise ConfigError(f"max_reviews must be at least 0, it is {self.max_reviews}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts that all searches of one agent share. None of them keeps the state of a search.

    Raises:
        MissingObserverError: the policy requires an observer that is not among `observers`.
    """

    scorer: SufficiencyScorer
    policy: StopPolicy
    planner: QueryPlanner
    answerer: Answerer | None
    """None: searches end with evidence but without an answer's text, as a shared cache wants it."""
    observers: Mapping[str, Observer] = field(default_factory=dict)
    verifier: Verifier | None = None
    ranker: Ranker = field(default_factory=ChainRanker)
    settings: LoopSettings = field(default_factory=LoopSettings)
    watch: ScoreWatch | None = None
    """Warns when the scores of searches are no longer those that the policy was certified on."""
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What thresholds found on these searches belong to, see `search_identity`; for traces. Empty = not known."""
    clock: Callable[[], float] = time.monotonic
    """Measures durations; injected in tests."""
    now: Callable[[], float] = time.time
    """Seconds since the epoch, for traces."""

    def __post_init__(self) -> None:
        missing = sorted(self.policy.requires - set(self.observers))
        if missing:
            raise MissingObserverError(
                f"Policy {self.policy.name!r} requires the observers {missing}, the agent has "
                f"{sorted(self.observers)}. Pass them as SearchAgent(observers=[...]) or choose another policy."
            )
