"""What a search returns: turns while it runs, a result at its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from policies import Decision, Reason, SearchState
from retrieval import Event, EvidenceSet, Hit, Passage, Ranking, Spend
from rinse import Gap, Sufficiency

from .coverage import Coverage
from .seams import Answer, Citation, Verdict

HARMLESS = frozenset({"tokens_estimated", "hits_dropped", "credit_failed", "scores_drifted"})
"""Kinds of events that tell something and take nothing from the search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a search: one plan, its calls, one score, one decision."""

    number: int
    """1, 2, 3 and so on; 0 = a look at the evidence that was given, before any call."""
    tier: str
    """The tier that was asked; empty for turn 0."""
    queries: tuple[str, ...]
    """The queries that were asked."""
    plan_reason: str
    """What the planner was after."""
    hits: tuple[Hit, ...]
    """All hits of all calls, known passages included."""
    new: tuple[Passage, ...]
    """Passages that were not in the evidence before."""
    sufficiency: Sufficiency | None
    """None if there was nothing to score or the scorer failed."""
    scored: bool
    """True if the scorer ran in this turn; unchanged evidence is not scored twice."""
    state: SearchState
    """What the policy saw."""
    wish: Decision
    """What the policy said."""
    decision: Decision
    """What was done: the wish, unless a budget, a failed tier or a lack of queries overruled it."""
    duplicates: int
    """Queries that were planned since the last turn and dropped because they had been asked already (case L04)."""
    events: tuple[Event, ...]
    seconds: float
    """Wall clock of this turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The outcome of a search. Complete whichever way it ended (case L05)."""

    question: str
    action: Literal["answer", "abstain"]
    reason: Reason
    answer: Answer | None
    """None if it abstained."""
    verdict: Verdict | None
    """The verifier's, if one looked at the answer."""
    evidence: EvidenceSet
    ranking: Ranking
    """The order for a reader with room for k."""
    sufficiency: Sufficiency | None
    """The latest score."""
    turns: tuple[Turn, ...]
    spend: Spend
    degraded: bool
    """True if some part failed on the way; the events of the turns say which."""
    tiers_not_tried: tuple[str, ...]
    """Names of the tiers that no query was sent to, in order."""
    coverage: Coverage | None = None
    """What the cache was worth; None if no cache was asked."""
    events: tuple[Event, ...] = ()
    """What happened outside the turns: while answering, verifying, crediting, tracing."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The parts of the question that the evidence leaves uncovered."""
        return self.sufficiency.gaps if self.sufficiency else ()

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The answer's citations; empty if it abstained."""
        return self.answer.citations if self.answer else ()
