"""Runs a search for every question, a few at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from agent.result import SearchResult

from .datasets import Question
from .outcome import Failure, Outcome, judge

SearchFunction: TypeAlias = Callable[[str], Awaitable[SearchResult]]
"""A question to the result of one search, e.g. `agent.run`."""


async def search_all(
    questions: Sequence[Question],
    searches: Mapping[str, SearchFunction],
    *,
    concurrency: int,
    on_record: Callable[[Outcome | Failure], None],
    skip: Callable[[str, Question], bool] = lambda _policy, _question: False,
) -> None:
    """Search for every question with every policy.

    A search that raises becomes a `Failure` and the others go on. Cancelling stops all of them.

    Args:
        questions: Distinct by dataset and id.
        searches: How to search, by the policy's name.
        concurrency: Searches that run at once, at least 1. It changes times, never outcomes.
        on_record: Called on the event loop as each search ends, in order of completion.
        skip: Whether the outcome of this policy and question is known already.
    """
    work = (
        (policy, search, question)
        for policy, search in searches.items()
        for question in questions
        if not skip(policy, question)
    )

    async def worker(work: Iterator[tuple[str, SearchFunction, Question]]) -> None:
        for policy, search, question in work:
            on_record(await _search_one(policy, search, question))

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(worker(work))


async def _search_one(policy: str, search: SearchFunction, question: Question) -> Outcome | Failure:
    try:
        return judge(question, await search(question.question), policy=policy)
    except Exception as error:  # noqa: BLE001  # one broken search must not end a run of hundreds; it is counted
        return Failure(
            policy=policy,
            dataset=question.dataset,
            split=question.split,
            id=question.id,
            error=f"{type(error).__name__}: {error}",
        )
