"""`SearchAgent`: many searches, each decided turn by turn, on one set of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from policies import Budget, StopPolicy
from retrieval import Passage, Tier
from rinse import SufficiencyScorer

from .blocking import run_blocking
from .inquiry import Inquiry, distinct
from .parts import LoopSettings, Parts
from .ranking import ChainRanker
from .result import SearchResult
from .seams import Answerer, Connected, Observer, QueryPlanner, Ranker, Verifier
from .stream import TurnStream

if TYPE_CHECKING:
    from .watch import ScoreWatch


class SearchAgent:
    """Searches until the evidence suffices, then answers, or abstains and says what is missing.

    An agent holds parts and no state of any search: one agent serves many searches at once.

    Args:
        tiers: Where to search, in order; names must differ. May be empty if every search brings its own.
        scorer: Says whether the evidence suffices.
        policy: Turns scores into decisions.
        planner: Says what to ask next.
        answerer: Answers from the evidence; None for searches that only collect evidence.
        observers: For policies that require more than the score.
        verifier: Looks at an answer before it is returned.
        ranker: Orders the evidence for the answerer and the result; None = `ChainRanker()`.
        budget: The default budget of a search.
        settings: How the loop behaves.
        watch: Warns when scores drift from those that the policy was certified on.
        identity: What thresholds found on its searches belong to, see `search_identity`; goes into traces.
        connections: Closed by `aclose`, or at the end of `async with agent:`; `run_sync` closes them itself.

    Raises:
        ConfigError: two tiers share a name.
        MissingObserverError: the policy requires an observer that is not given.
    """

    def __init__(
        self,
        *,
        tiers: Sequence[Tier] = (),
        scorer: SufficiencyScorer,
        policy: StopPolicy,
        planner: QueryPlanner,
        answerer: Answerer | None = None,
        observers: Iterable[Observer] = (),
        verifier: Verifier | None = None,
        ranker: Ranker | None = None,
        budget: Budget | None = None,
        settings: LoopSettings | None = None,
        watch: ScoreWatch | None = None,
        identity: Mapping[str, Any] | None = None,
        connections: Iterable[Connected] = (),
    ) -> None:
        self._connections = tuple(connections)
        self._tiers = distinct(tiers)
        self._budget = budget or Budget()
        self._parts = Parts(
            scorer=scorer,
            policy=policy,
            planner=planner,
            answerer=answerer,
            observers={observer.name: observer for observer in observers},
            verifier=verifier,
            ranker=ranker or ChainRanker(),
            settings=settings or LoopSettings(),
            watch=watch,
            identity=identity or {},
        )

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Where it searches, in order."""
        return self._tiers

    @property
    def parts(self) -> Parts:
        """What all its searches share."""
        return self._parts

    async def run(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        max_age: float | None = None,
        tenant: str | None = None,
        trace: Path | None = None,
    ) -> SearchResult:
        """Search and return the outcome.

        Args:
            question: What to find evidence for.
            evidence: Passages to begin with; they are scored before any call.
            tiers: Search these instead of the agent's own.
            budget: Instead of the agent's own.
            max_age: Oldest content of use from caches and the web, in seconds; None = as `LoopSettings` says.
            tenant: Whose part of a cache may be read and filled; None = as `LoopSettings` says.
            trace: A file to record the search in, or a folder for one.

        Raises:
            ConfigError: the question is empty, two tiers share a name, or `max_age` is no number of at least 0.
            TraceError: the trace cannot be made; what fails later on is an event of the result.
            asyncio.CancelledError: the caller was cancelled; the trace holds the finished turns.
        """
        async with self.stream(
            question, evidence=evidence, tiers=tiers, budget=budget, max_age=max_age, tenant=tenant, trace=trace
        ) as turns:
            return await turns.result()

    def run_sync(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        max_age: float | None = None,
        tenant: str | None = None,
        trace: Path | None = None,
    ) -> SearchResult:
        """`run` for scripts and notebooks: works whether or not an event loop is running in this thread."""

        async def alone() -> SearchResult:
            async with self:
                return await self.run(
                    question,
                    evidence=evidence,
                    tiers=tiers,
                    budget=budget,
                    max_age=max_age,
                    tenant=tenant,
                    trace=trace,
                )

        return run_blocking(alone())

    async def aclose(self) -> None:
        """Close the connections that searches of this event loop have opened. The agent stays usable."""
        for connection in self._connections:
            await connection.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def stream(
        self,
        question: str,
        *,
        evidence: Iterable[Passage] = (),
        tiers: Sequence[Tier] | None = None,
        budget: Budget | None = None,
        max_age: float | None = None,
        tenant: str | None = None,
        trace: Path | None = None,
    ) -> TurnStream:
        """The turns of a search as they complete. Arguments and errors as for `run`.

        >>> async with agent.stream(question) as turns:  # doctest: +SKIP
        ...     async for turn in turns:
        ...         print(turn.number, turn.decision)
        ...     result = await turns.result()

        Leaving the block early cancels the search. A consumer that is slow slows the search down, its wall-clock
        budget included.
        """
        settings = self._parts.settings
        inquiry = Inquiry(
            question=question,
            given=tuple(evidence),
            tiers=self._tiers if tiers is None else tuple(tiers),
            budget=budget or self._budget,
            max_age=settings.max_age if max_age is None else max_age,
            tenant=settings.tenant if tenant is None else tenant,
        )
        return TurnStream(self._parts, inquiry, trace)
