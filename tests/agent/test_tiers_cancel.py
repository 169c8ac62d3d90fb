"""Case L13: a search is cancelled while a fetch sleeps."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.trace import load_trace
from retrieval.index import TransformerEncoder
from tests.agent.town_web import MARROWBY, ORLA, PELL, QUESTION, town_page, town_web
from tests.fakes import ScriptedScorer
from tests.retrieval.web.server import late
from tests.towns import CORPUS

pytestmark = pytest.mark.anyio


async def test_cancelled_while_a_fetch_sleeps(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """It returns within the grace, nothing of it runs on, the trace holds the finished turn, and the page can be
    had afterwards: no turn at the host and no flight is left behind.
    """
    slow = [late(10.0, town_page(*CORPUS[1])), town_page(*CORPUS[1])]
    scorer = ScriptedScorer(lambda _: 0.0)
    changed = {MARROWBY: slow}
    async with town_web(tmp_path / "cache", scorer, tiny_encoder, changed=changed, paths=(MARROWBY,)) as towns:
        await towns.warm(ORLA, PELL)
        before = asyncio.all_tasks()
        search = asyncio.create_task(towns.agent().run(QUESTION, trace=tmp_path / "trace.jsonl"))
        while MARROWBY not in towns.site.paths:
            assert not search.done()
            await asyncio.sleep(0.01)
        async with asyncio.timeout(8.0):
            search.cancel()
            with pytest.raises(asyncio.CancelledError):
                await search
            ours = {task for task in asyncio.all_tasks() - before if not _serves(task)}
            assert ours == set()
            await towns.warm(MARROWBY)
    recorded = load_trace(tmp_path / "trace.jsonl")
    assert [turn["tier"] for turn in recorded.turns] == ["cache"] * len(recorded.turns)
    assert len(recorded.turns) >= 1
    assert recorded.result is None


def _serves(task: asyncio.Task[object]) -> bool:
    """Whether it is a connection of the test's own server."""
    return "connected" in repr(task.get_coro())
