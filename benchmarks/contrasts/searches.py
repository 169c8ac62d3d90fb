"""What the retrievers return for each question: searched once, in several processes, and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval import Passage

from ..environment import code_digest
from ..errors import BenchmarkError
from ..lanes import Lanes, Lost
from ..progress import counted
from ..store import KeyedStore
from .retrieval import DEPTH, Found

if TYPE_CHECKING:
    from agent import SearchAgent
    from retrieval.index import LocalIndex, TransformerEncoder

CALLS = 5
"""Of a `hop` search: one in its first turn, two in each of the next two."""
NEAR_DEPTH = 100
"""Candidates for a near miss. The best hundred of nearly every question hold one."""
SECONDS = 120.0
"""Deadline of one question."""

Searched: TypeAlias = dict[str, Any]
"""`near`: ids by fused rank; `sets`: ids by retriever; `top`: best cosine by retriever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question to search for."""

    question: str
    systems: tuple[str, ...]
    """Whose sets are wanted; none: near misses only."""

    def key(self, corpus: str) -> str:
        """Identifies question, retrievers and all that the result depends on, our own code included."""
        packages = ("agent", "policies", "retrieval", "rinse") if "hop" in self.systems else ("retrieval",)
        data = [self.question, self.systems, corpus, CALLS, DEPTH, NEAR_DEPTH, code_digest(*packages)]
        return hashlib.sha256(json.dumps(data).encode()).hexdigest()


class Searches:
    """Searches an index for questions; results are kept in a file and taken from there the next time.

    Args:
        index: The index.
        store: Where results are kept.
        processes: Searches at once.
    """

    def __init__(self, index: LocalIndex[TransformerEncoder], store: KeyedStore, *, processes: int) -> None:
        self._index, self._store, self._processes = index, store, processes
        self._corpus = corpus_key(index)

    def run(self, jobs: Iterable[Job]) -> None:
        """Search for those questions whose results are not known yet; progress goes to stderr.

        Raises:
            BenchmarkError: a search failed: a table without its questions would not be the table.
        """
        wanted = {job.key(self._corpus): job for job in jobs}
        missing = [job for key, job in wanted.items() if key not in self._store]
        if not missing:
            return
        with counted("searches", total=len(wanted), done=len(wanted) - len(missing)) as advance:

            def on_done(job: Job, result: Searched | Lost) -> None:
                if isinstance(result, Lost):
                    raise BenchmarkError(f"The search for {job.question!r} failed. {result.detail}")
                self._store.put(job.key(self._corpus), result)
                advance()

            make = partial(open_searcher, self._index.info.folder)
            lanes: Lanes[Job, Searched] = Lanes(make, processes=self._processes, seconds=SECONDS)
            lanes.run(([job] for job in missing), on_done)

    def near(self, question: str) -> list[Passage]:
        """The best-ranked passages for a question whose search was run."""
        return self._index.passages(self._result(question, ())["near"])

    def found(self, question: str, systems: Sequence[str]) -> Mapping[str, Found]:
        """What each retriever returned for a question whose search was run."""
        result = self._result(question, tuple(systems))
        return {
            system: Found(passages=tuple(self._index.passages(ids)), top_score=result["top"][system])
            for system, ids in result["sets"].items()
            if ids
        }

    def _result(self, question: str, systems: tuple[str, ...]) -> Mapping[str, Any]:
        return self._store[Job(question=question, systems=systems).key(self._corpus)]


def corpus_key(index: LocalIndex[TransformerEncoder]) -> str:
    """Identifies what is searched by content: corpus, chunks, encoder, and whether it was changed since."""
    info = index.info
    manifest = info.manifest
    parts: tuple[object, ...] = (
        manifest.corpus.model_dump(),
        manifest.settings.model_dump(),
        manifest.encoder.model_dump(),
    )
    if info.changes:
        parts += (info.changes, info.updated)
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def open_searcher(folder: Path) -> Callable[[Job], Searched]:
    """In a process of its own: the index, the scorer and the planner of a search."""
    from retrieval.index import LocalIndex

    index = LocalIndex.open(folder)
    index.warm()
    agent = _hop_agent(index)

    def search(job: Job) -> Searched:
        near = index.search(job.question, NEAR_DEPTH)
        words = index.by_words(job.question, DEPTH)
        vectors = index.by_vectors(job.question, DEPTH)
        sets: dict[str, list[str]] = {}
        if "bm25" in job.systems:
            sets["bm25"] = [key for key, _ in words[:DEPTH]]
        if "dense" in job.systems:
            sets["dense"] = [key for key, _ in vectors[:DEPTH]]
        if "rrf" in job.systems:
            sets["rrf"] = [hit.passage.id for hit in near.hits[:DEPTH]]
        if "hop" in job.systems:
            result = asyncio.run(agent.run(job.question))
            sets["hop"] = [passage.id for passage in result.ranking.top(result.evidence, DEPTH)]
        cosines = dict(vectors)
        floor = min(cosines.values(), default=0.0)
        top = {system: max((cosines.get(key, floor) for key in ids), default=0.0) for system, ids in sets.items()}
        return {"near": [] if job.systems else [hit.passage.id for hit in near.hits], "sets": sets, "top": top}

    return search


def _hop_agent(index: LocalIndex[TransformerEncoder]) -> SearchAgent:
    """Searches with the gap planner until its calls are spent, and answers nothing."""
    from agent import SearchAgent
    from agent.query import GapPlanner
    from policies import Budget
    from policies.fixed import FixedK
    from retrieval import Tier
    from retrieval.index import LocalTier
    from rinse import RinseScorer

    return SearchAgent(
        tiers=[Tier(name="local", retriever=LocalTier(index), k=DEPTH)],
        scorer=RinseScorer.small(encoder=index.encoder),
        policy=FixedK(CALLS),
        planner=GapPlanner(),
        budget=Budget(max_calls=CALLS, max_turns=None, max_seconds=None),
    )
