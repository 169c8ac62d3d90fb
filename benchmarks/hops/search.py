"""What each system returns for each question: searched in processes of their own, and kept."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
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

    def key(self, index: str) -> str:
        """Identifies the job and all that its result depends on, our own code included.

        Args:
            index: Identifies what is searched, see `contrasts.searches.corpus_key`.
        """
        hops = self.system == "hop"
        packages = ("agent", "policies", "retrieval", "rinse") if hops else ("retrieval",)
        asked = (self.turns, self.k, self.scorer) if hops else (SINGLE_SHOT,)
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


Search: TypeAlias = Callable[[Job], Found]


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
    ready: dict[tuple[str, int, int, str], Callable[[str], tuple[Sequence[str], int]]] = {}

    def search(job: Job) -> Found:
        which = (job.system, job.turns, job.k, job.scorer)
        if which not in ready:
            ready[which] = _ask(job, open_mixed(folder))
            ready[which](_WARM_UP)  # whatever is loaded on first use is no question's time
        begun = time.perf_counter()
        ids, calls = ready[which](job.question)
        return Found(ids=tuple(ids), calls=calls, ms=(time.perf_counter() - begun) * 1000)

    return search


def open_mixed(folder: Path) -> LocalIndex[TransformerEncoder]:
    """The index in a folder, with the encoder that knows the vectors of filler if there is some."""
    from retrieval.backbones import find_backbone
    from retrieval.index import LocalIndex, index_info

    encoder: TransformerEncoder = FillerEncoder(find_backbone(index_info(folder).manifest.encoder.name))
    index = LocalIndex.open(folder, encoder)
    index.warm()
    return index


def _ask(job: Job, index: LocalIndex[TransformerEncoder]) -> Callable[[str], tuple[Sequence[str], int]]:
    """A function from a question to ids, best first, and the number of calls."""
    if job.system == "hop":
        agent = collector(index, scorer=job.scorer, turns=job.turns, k=job.k)

        def hop(question: str) -> tuple[Sequence[str], int]:
            result = asyncio.run(agent.run(question))
            return result.ranking.ids, result.spend.calls

        return hop
    if job.system == "rrf":
        return lambda question: ([hit.passage.id for hit in index.search(question, SINGLE_SHOT).hits], 1)
    half = index.by_words if job.system == "bm25" else index.by_vectors
    return lambda question: ([key for key, _ in half(question, SINGLE_SHOT)[:SINGLE_SHOT]], 1)


def _kept(store: KeyedStore, key: str) -> Found:
    kept = store[key]
    return Found(ids=tuple(kept["ids"]), calls=kept["calls"], ms=kept["ms"])
