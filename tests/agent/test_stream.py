"""Streaming and cancellation (case L13)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent import SearchAgent
from agent.trace import load_trace
from policies import Budget
from retrieval import Passage, Request, Retrieved, Tier
from tests.fakes import (
    QuoteAnswerer,
    ScriptedPlanner,
    ScriptedRetriever,
    ScriptedScorer,
    always_search,
    answer_at,
    passages,
    tier,
)


def agent(*tiers: object, **parts: object) -> SearchAgent:
    defaults = {
        "scorer": ScriptedScorer(),
        "policy": always_search(),
        "planner": ScriptedPlanner(),
        "answerer": QuoteAnswerer(),
        "budget": Budget(max_turns=50, max_calls=50, max_seconds=60),
    }
    return SearchAgent(tiers=tiers, **(defaults | parts))  # type: ignore[arg-type]


async def test_turns_arrive_as_they_complete_and_the_result_follows() -> None:
    search = agent(tier("local", passages("a"), passages("b"), passages("c")), policy=answer_at(3.0))
    async with search.stream("question") as turns:
        numbers = [turn.number async for turn in turns]
        result = await turns.result()
    assert numbers == [1, 2, 3]
    assert result.turns[-1].number == 3


def orphans() -> set[str]:
    """Names of unfinished tasks that a search started."""
    return {task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("sufficit")}


async def test_leaving_the_block_early_cancels_the_search_and_its_calls() -> None:
    slow = tier("local", passages("a"), passages("b"), delay=0.01)
    async with agent(slow).stream("question") as turns:
        async for _ in turns:
            break
    await asyncio.sleep(0)
    assert orphans() == set()


class SleepsLater(ScriptedRetriever):
    """Answers at once, then tells that it was called again and sleeps 10 s."""

    def __init__(self, *script: tuple[Passage, ...]) -> None:
        super().__init__(script=script)
        self.again = asyncio.Event()

    async def retrieve(self, request: Request) -> Retrieved:
        if self.requests:
            self.delay = 10.0
            self.again.set()
        return await super().retrieve(request)


async def test_l13_cancelling_propagates_leaves_no_orphan_and_keeps_the_trace(tmp_path: Path) -> None:
    """L13: cancel at turn 2 while a fetch sleeps 10 s."""
    sleeper = SleepsLater(passages("a"))
    file = tmp_path / "trace.jsonl"
    slow = Tier(name="local", retriever=sleeper)
    task = asyncio.create_task(agent(slow).run("question", trace=file))
    await sleeper.again.wait()
    started = asyncio.get_running_loop().time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.get_running_loop().time() - started < 2.0
    assert orphans() == set()
    assert sleeper.cancelled == 1
    partial = load_trace(file)
    assert (len(partial.turns), partial.result) == (1, None)


async def test_a_slow_consumer_gets_every_turn() -> None:
    """The channel is bounded; nothing is dropped."""
    script = [passages(f"p{n}") for n in range(40)]
    async with agent(tier("local", *script), budget=Budget(max_turns=40, max_calls=None)).stream(
        "question"
    ) as turns:
        seen = []
        async for turn in turns:
            await asyncio.sleep(0.001)
            seen.append(turn.number)
    assert seen == list(range(1, 41))


async def test_a_fault_of_a_policy_reaches_the_caller() -> None:
    """A policy that raises is a programming error: it is not hidden."""
    from tests.fakes import PolicyFrom

    def broken(_: object) -> object:
        raise ZeroDivisionError("policy")

    with pytest.raises(ZeroDivisionError):
        await agent(tier("local", passages("a")), policy=PolicyFrom(broken)).run("question")  # type: ignore[arg-type]


async def test_a_stream_is_entered_once() -> None:
    stream = agent(tier("local", ())).stream("question")
    with pytest.raises(RuntimeError, match="Enter the stream first"):
        await anext(stream)
    async with stream as turns:
        await turns.result()
    with pytest.raises(RuntimeError, match="entered once"):
        await stream.__aenter__()
