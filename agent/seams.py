"""The seams of the loop beside tiers, scorer and policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from retrieval import Event, EvidenceSet, Ranking, Spend
from rinse import Sufficiency


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to ask next."""

    queries: tuple[str, ...] = ()
    """At most two are asked in one turn; none: there is nothing left to ask."""
    seeds: tuple[str, ...] = ()
    """Ids of passages from whose links a tier may go on, the most promising first; they are dealt out among the
    queries in turn."""
    reason: str = ""
    """For the trace: what these queries are after."""
    spend: Spend = Spend()
    fallback: bool = False
    """True if a better planner failed and this is the plan of a simpler one."""
    events: tuple[Event, ...] = ()
    """What went wrong or is worth knowing; recorded with the turn."""


@runtime_checkable
class QueryPlanner(Protocol):
    """Decides what to ask next.

    Contract: never returns a query whose normalised form is in `tried` (the loop drops and counts it if it
    does); deterministic for the local planners; `sufficiency` is None before the first score; never blocks.
    """

    async def plan(
        self,
        question: str,
        evidence: EvidenceSet,
        sufficiency: Sufficiency | None,
        tried: tuple[str, ...],
    ) -> Plan:
        """Plan the next turn. `tried`: queries of this search on the present tier, oldest first.

        Raises:
            PlanError: it cannot plan; the loop then asks the question itself, once.
        """
        ...


@runtime_checkable
class Ranker(Protocol):
    """Orders the evidence of a search for a reader with room for few passages.

    Contract: deterministic; thread-safe; blocking, therefore called from a worker thread.
    """

    def rank(self, question: str, evidence: EvidenceSet, rankings: Sequence[Sequence[str]]) -> Ranking:
        """Order `evidence`.

        Args:
            question: The user's question.
            evidence: What to order.
            rankings: Ids, best first: of the given evidence if there was any, then one list a call; together they
                hold every id of the evidence. Others are left out of the ranking, and so are ids that are not in
                the evidence.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an observer saw."""

    values: Mapping[str, float] = field(default_factory=dict)
    """Finite numbers; a policy sees them as `observer.value`."""
    spend: Spend = Spend()
    events: tuple[Event, ...] = ()
    """What went wrong or is worth knowing; recorded with the turn."""


@runtime_checkable
class Observer(Protocol):
    """Looks at the evidence for policies that need more than the score.

    Contract: runs only if the policy requires its name; its cost counts; an answer that it probes is never
    returned to the user.
    """

    @property
    def name(self) -> str:
        """What policies require it by."""
        ...

    async def observe(self, question: str, evidence: EvidenceSet, turn: int) -> Observation:
        """Look at the evidence after turn `turn`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """Where a statement of the answer stands."""

    passage_id: str
    start: int
    """First character in the passage's text."""
    end: int
    """One past the last character."""
    quote: str
    """The text between the two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer from the evidence."""

    text: str
    """The short answer."""
    citations: tuple[Citation, ...] = ()
    """In order of importance, at least one unless the text is empty."""
    spend: Spend = Spend()
    fallback: bool = False
    """True if a better answerer failed and this is the answer of a simpler one."""
    events: tuple[Event, ...] = ()
    """What went wrong or is worth knowing; recorded with the result."""


@runtime_checkable
class Answerer(Protocol):
    """Answers from the evidence, when the decision says so.

    Contract: cites passages of the evidence only; is never called without evidence (case E06); never blocks.
    """

    async def answer(self, question: str, evidence: EvidenceSet, ranking: Ranking) -> Answer:
        """Answer `question` from `evidence`; `ranking` is the order for a reader with room for few passages.

        Raises:
            AnswerError: it cannot answer; the search then abstains with reason `answer_failed`.
        """
        ...


@runtime_checkable
class TakesCredit(Protocol):
    """A tier's retriever that is a cache: it nominates, and learns afterwards what its passages were worth."""

    async def credit(
        self, question: str, contributions: Mapping[str, float], *, tenant: str | None = None
    ) -> None:
        """Note what a question's score would have lost without some passages, by id; unknown ids are ignored.

        Called once a search, at its end, within `LoopSettings.credit_seconds`; whatever it raises is an event.
        """
        ...


class Connected(Protocol):
    """A part that holds connections."""

    async def aclose(self) -> None:
        """Close those of the running event loop; a later use opens new ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a verifier thinks of an answer."""

    label: Literal["supported", "refuted", "insufficient"]
    claim: str = ""
    """The claim that is refuted or lacks support."""
    spend: Spend = Spend()


@runtime_checkable
class Verifier(Protocol):
    """Looks at an answer after it was produced.

    Contract: an answer that is not `supported` is not returned; the loop searches on if the budget allows it,
    otherwise it abstains with reason `not_verified`.
    """

    async def verify(self, question: str, answer: Answer, evidence: EvidenceSet) -> Verdict:
        """Judge whether `evidence` supports `answer`."""
        ...
