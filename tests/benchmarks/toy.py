"""Scripted searches of a toy question, for tests of benchmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agent import SearchAgent, SearchResult
from benchmarks.datasets import Gold, GoldPassage, Question
from benchmarks.outcome import Failure, Outcome, judge
from benchmarks.runner import SearchFunction, search_all
from policies import Budget
from retrieval import Passage
from tests.fakes import QuoteAnswerer, ScriptedPlanner, ScriptedScorer, answer_at, tier

LAKE = Passage(text="The lake is fed by the Mirna. It is deep.", title="Lake")
FERRY = Passage(text="The ferry crosses the lake.", title="Ferry")
HILL = Passage(text="The hill is bare.", title="Hill")


def question(name: str = "q1", *, support: Sequence[Gold] | None = None, **changes: Any) -> Question:
    gold = [GoldPassage(passage_id=passage.id) for passage in (LAKE, FERRY)]
    full: dict[str, Any] = {
        "id": name,
        "dataset": "toy",
        "split": "dev",
        "question": "Which river feeds the lake that the ferry crosses?",
        "answers": (LAKE.text,),
        "answerable": True,
        "support": tuple(gold if support is None else support),
        "group": name,
    }
    return Question(**(full | changes))


def agent(*script: Sequence[Passage], score: float = 2.0) -> SearchAgent:
    """Finds these passages, turn by turn, and answers once there are `score` of them."""
    return SearchAgent(
        tiers=[tier("local", *script)],
        scorer=ScriptedScorer(),
        policy=answer_at(score),
        planner=ScriptedPlanner(),
        answerer=QuoteAnswerer(),
        budget=Budget(max_turns=3, max_seconds=None),
    )


def outcome_of(asked: Question, *script: Sequence[Passage], score: float = 2.0) -> Outcome:
    result = agent(*script, score=score).run_sync(asked.question)
    return judge(asked, result, policy="threshold")


def searching(*script: Sequence[Passage], score: float = 2.0) -> SearchFunction:
    async def search(asked: str) -> SearchResult:
        return await agent(*script, score=score).run(asked)

    return search


def run(
    questions: Sequence[Question],
    searches: dict[str, SearchFunction],
    *,
    concurrency: int = 1,
    **options: Any,
) -> list[Outcome | Failure]:
    records: list[Outcome | Failure] = []
    asyncio.run(search_all(questions, searches, concurrency=concurrency, on_record=records.append, **options))
    return records
