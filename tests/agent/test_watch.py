"""Scores that drift from the calibration: told in the result and the log, and nothing is decided by it."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path

import numpy as np
import pytest

from agent.calibration_data import trace_identity
from agent.watch import FEWEST, ScoreWatch, watch_of
from policies import Budget
from retrieval import Passage
from tests.fakes import ScriptedScorer, agent, tier

REFERENCE = tuple(float(score) for score in np.random.default_rng(0).normal(size=200))


def test_a_shift_is_told_in_each_search_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Scores like those of the calibration say nothing; lower ones raise an alarm, in words."""
    watch = ScoreWatch(REFERENCE)

    async def looked(scores: list[float | None]) -> list[str]:
        return [event.kind for score in scores for event in await watch.look(score)]

    usual = [float(score) for score in np.random.default_rng(1).normal(size=60)]
    assert asyncio.run(looked([*usual, None])) == []
    with caplog.at_level(logging.WARNING):
        kinds = asyncio.run(looked([score - 3.0 for score in usual]))
    assert set(kinds) == {"scores_drifted"}
    assert len(kinds) < len(usual), "the first few of them could have come by chance"
    [record] = caplog.records
    assert "lower" in record.message


def test_a_search_carries_the_alarm_and_its_trace_the_identity(tmp_path: Path) -> None:
    """The event is harmless: the search is not degraded. A trace says what a threshold found on it belongs to."""
    identity = {"scorer": "known", "planner": "gap", "tiers": [], "budget": {}}
    searching = agent(
        tier("local", [Passage(text="One.")], k=7),
        scorer=ScriptedScorer(lambda _: -9.0),
        watch=ScoreWatch(REFERENCE, level=0.5),
        identity=identity,
        budget=Budget(max_calls=1, max_turns=1),
    )
    kinds: list[str] = []
    for number in range(20):
        result = searching.run_sync(f"Question {number}?", trace=tmp_path / f"{number}.jsonl")
        kinds += [event.kind for event in result.events]
        assert not result.degraded
    assert set(kinds) == {"scores_drifted"}
    header = json.loads((tmp_path / "0.jsonl").read_text().splitlines()[0])
    assert header["search"] == {
        **identity,
        "tiers": [{"name": "local", "k": 7}],
        "budget": {"max_turns": 1, "max_calls": 1},
    }
    assert trace_identity(header) == header["search"]


def test_too_few_scores_are_no_watch() -> None:
    """Without a certificate, or with one of few questions, nothing is watched."""
    assert watch_of(None) is None
    assert FEWEST == 20
