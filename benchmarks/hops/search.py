"""What each system returns for each question: searched in processes of their own, and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..environment import code_digest
from ..lanes import Lanes, Lost
from ..progress import counted
from ..store import KeyedStore
from .collector import collector
from .filler import FillerEncoder

if TYPE_CHECKING:
    from agent import SearchResult
    from retrieval import Hit
    from retrieval.index import LocalIndex, TransformerEncoder

SYSTEMS = ("bm25", "dense", "rrf", "hop")
"""Words, vectors, both joined by reciprocal rank fusion, and a search of several turns."""
SINGLE_SHOT = 20
"""Passages that the one call of the first three asks for."""
SECONDS = 300.0
"""Deadline of one question."""
_WARM_UP = "Which town lies on the river?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question for one system."""

    question: str
    system: str
    turns: int
    """Most turns of `hop`."""
    k: int
    """Passages that one call of `hop` asks for."""
    scorer: str
    """Whose gaps `hop` follows, see `collector`."""
    without: str | None = None
    """A family of datasets that the weights of `hop` must not have seen."""

    def key(self, index: str) -> str:
        """Identifies the job and all that its result depends on, our own code included.

        Args:
            index: Identifies what is searched, see `contrasts.searches.corpus_key`.
        """
        hops = self.system == "hop"
        packages = ("agent", "policies", "retrieval", "rinse") if hops else ("retrieval",)
        asked = (self.turns, self.k, self.scorer, self.without) if hops else (SINGLE_SHOT,)
        data = [self.question, self.system, asked, index, code_digest(*packages)]
        return hashlib.sha256(json.dumps(data).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a system returned for a question."""

    ids: tuple[str, ...]
    """Passages, best first: one call's, or the final ranking of all that a search found."""
    calls: int
    ms: float
    """Wall clock of one thread, the encoding of the queries included."""
    rankings: tuple[tuple[str, ...], ...] = ()
    """What each call of `hop` returned, best first, in the order of the calls; those without a hit left out."""


Search: TypeAlias = Callable[[Job], Found]
Ask: TypeAlias = Callable[[str], Found]


def search_all(
    jobs: Sequence[Job], folder: Path, *, index: str, store: KeyedStore, processes: int
) -> tuple[dict[Job, Found], dict[Job, Lost]]:
    """Do all jobs; results that are kept are not searched for again. Progress goes to stderr.

    Args:
        jobs: Distinct.
        folder: The index.
        index: Identifies its content.
        store: Where results are kept. Those that failed are not.
        processes: Searches at once. It changes times, never what is found.

    Returns:
        What was found, and the jobs that failed.

    Raises:
        BenchmarkError: no process could begin.
    """
    keys = {job: job.key(index) for job in jobs}
    missing = [job for job in jobs if keys[job] not in store]
    lost: dict[Job, Lost] = {}
    if missing:
        with counted("searches", total=len(jobs), done=len(jobs) - len(missing)) as advance:

            def on_done(job: Job, result: Found | Lost) -> None:
                if isinstance(result, Lost):
                    lost[job] = result
                else:
                    store.put(keys[job], asdict(result))
                advance()

            lanes: Lanes[Job, Found] = Lanes(
                partial(open_searcher, folder), processes=processes, seconds=SECONDS, what="searches"
            )
            lanes.run(([job] for job in missing), on_done)
    return {job: _kept(store, keys[job]) for job in jobs if job not in lost}, lost


def open_searcher(folder: Path) -> Search:
    """In a process of its own: each system on its own index object, so that none profits from another's cache."""
    indexes: dict[str, LocalIndex[TransformerEncoder]] = {}
    ready: dict[Job, Ask] = {}

    def search(job: Job) -> Found:
        which = replace(job, question="")
        if which not in ready:
            if job.system not in indexes:
                indexes[job.system] = open_mixed(folder)
            ready[which] = _ask(job, indexes[job.system])
            ready[which](_WARM_UP)  # whatever is loaded on first use is no question's time
        begun = time.perf_counter()
        found = ready[which](job.question)
        return replace(found, ms=(time.perf_counter() - begun) * 1000)

    return search


def call_rankings(result: SearchResult) -> tuple[tuple[str, ...], ...]:
    """What each call of a search returned, best first, in the order of the calls; those without a hit left out."""
    calls: dict[tuple[int, str], list[Hit]] = defaultdict(list)
    for turn in result.turns:
        for hit in turn.hits:
            calls[turn.number, hit.query].append(hit)
    return tuple(
        tuple(hit.passage.id for hit in sorted(hits, key=lambda hit: hit.rank)) for hits in calls.values()
    )


def open_mixed(folder: Path) -> LocalIndex[TransformerEncoder]:
    """The index in a folder, with the encoder that knows the vectors of filler if there is some."""
    from retrieval.backbones import find_backbone
    from retrieval.index import LocalIndex, index_info

    encoder: TransformerEncoder = FillerEncoder(find_backbone(index_info(folder).manifest.encoder.name))
    index = LocalIndex.open(folder, encoder)
    index.warm()
    return index


def _ask(job: Job, index: LocalIndex[TransformerEncoder]) -> Ask:
    """A function from a question to what is found, its time aside."""
    if job.system == "hop":
        agent = collector(index, scorer=job.scorer, turns=job.turns, k=job.k, without=job.without)

        def hop(question: str) -> Found:
            result = asyncio.run(agent.run(question))
            return Found(ids=result.ranking.ids, calls=result.spend.calls, ms=0.0, rankings=call_rankings(result))

        return hop
    if job.system == "rrf":
        return lambda question: _single(hit.passage.id for hit in index.search(question, SINGLE_SHOT).hits)
    half = index.by_words if job.system == "bm25" else index.by_vectors
    return lambda question: _single(key for key, _ in half(question, SINGLE_SHOT)[:SINGLE_SHOT])


def _single(ids: Iterable[str]) -> Found:
    return Found(ids=tuple(ids), calls=1, ms=0.0)


def _kept(store: KeyedStore, key: str) -> Found:
    kept = store[key]
    return Found(
        ids=tuple(kept["ids"]),
        calls=kept["calls"],
        ms=kept["ms"],
        rankings=tuple(map(tuple, kept.get("rankings", ()))),
    )
