"""One search to its end, with everything that a replay needs. Runs in a process of its own."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from agent.config import Settings, load_settings
from agent.episodes import Episode, Probe
from agent.errors import AnswerError
from retrieval import EvidenceSet, Passage, Ranking

from ..datasets import Question
from ..support import support_ranks
from .twins import MaskedTier

if TYPE_CHECKING:
    from agent import SearchResult
    from agent.answer import ExtractiveAnswerer
    from agent.ranking import ChainRanker

NEVER = {"policy": "threshold", "answer_at": 1e9, "abstain_below": -1e9, "patience": 1_000}
"""Settings of a search that no score and no dry turn ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One question to search for, with or without its support."""

    question: Question
    twin: bool
    masked: tuple[str, ...] = ()
    """Ids of passages that the search must not see; sorted."""
    gold: tuple[Passage, ...] = ()
    """The annotated passages, all of them; empty where support is marked in other ways or is missing."""


Record: TypeAlias = Callable[[Job], dict[str, Any]]


def horizon_settings(*, calls: int, k: int) -> Settings:
    """The user's settings for searches of exactly `calls` calls, one a turn, that nothing but a lack of queries
    ends earlier; no limit on time, since a slow machine must not change what is recorded.

    Raises:
        ConfigError: a number out of range.
    """
    flags = {**NEVER, "max_calls": calls, "max_turns": calls, "queries_per_turn": 1, "k": k}
    return load_settings(flags).model_copy(update={"max_seconds": None})


def open_recorder(folder: Path, settings: Settings) -> Record:
    """Open what a search needs, and return a function that records one; its result is an `Episode` as JSON."""
    from agent.answer import ExtractiveAnswerer
    from agent.build import open_agent
    from agent.ranking import ChainRanker
    from retrieval.index import LocalIndex

    agent = open_agent(folder, settings=settings)
    index = LocalIndex.open(folder)
    reader = Reader(ExtractiveAnswerer(index.encoder), ChainRanker())

    def record(job: Job) -> dict[str, Any]:
        tiers = [
            replace(tier, retriever=MaskedTier(tier.retriever, frozenset(job.masked))) for tier in agent.tiers
        ]
        with tempfile.TemporaryDirectory() as place:
            file = Path(place, "trace.jsonl")
            result = asyncio.run(agent.run(job.question.question, tiers=tiers, trace=file))
            trace = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        kept = episode(job, result, trace, reader=reader, scorer=agent.parts.scorer.fingerprint)
        return kept.model_dump(mode="json")

    return record


class Reader:
    """Answers from evidence as a search would, without being one."""

    def __init__(self, answerer: ExtractiveAnswerer, ranker: ChainRanker) -> None:
        self._answerer, self._ranker = answerer, ranker

    def probes(self, result: SearchResult) -> tuple[Probe | None, ...]:
        """What would have been answered after each look; None where there was no evidence."""
        found: list[Probe | None] = []
        evidence, rankings = EvidenceSet(), []
        for turn in result.turns:
            evidence = evidence.add(turn.new)
            rankings.append(tuple(hit.passage.id for hit in turn.hits) or tuple(p.id for p in turn.new))
            found.append(self.probe(result.question, evidence, rankings))
        return tuple(found)

    def probe(self, question: str, evidence: EvidenceSet, rankings: Sequence[Sequence[str]]) -> Probe | None:
        """What would be answered from this evidence; None if there is none that can be read."""
        if not len(evidence):
            return None
        ranking: Ranking = self._ranker.rank(question, evidence, rankings)
        try:
            return self._answerer.probe(question, evidence, ranking)
        except AnswerError:
            return None


def episode(
    job: Job, result: SearchResult, trace: Sequence[dict[str, Any]], *, reader: Reader, scorer: str
) -> Episode:
    """What is kept of one search."""
    asked = job.question
    evidence, found = EvidenceSet(), []
    for turn in result.turns:
        evidence = evidence.add(turn.new)
        found.append(sum(rank is not None for rank in support_ranks(asked.support, evidence)))
    gold = None if job.twin else reader.probe(asked.question, EvidenceSet.of(job.gold), [[p.id for p in job.gold]])
    return Episode(
        dataset=asked.dataset,
        split=asked.split,
        id=asked.id,
        group=asked.group,
        twin=job.twin,
        question=asked.question,
        answers=asked.answers,
        answerable=asked.answerable,
        support=len(asked.support),
        found=tuple(found),
        probes=reader.probes(result),
        gold_answer=None if gold is None else gold.text,
        masked=job.masked,
        scorer=scorer,
        trace=tuple(trace),
    )
