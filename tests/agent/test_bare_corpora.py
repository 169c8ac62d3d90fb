"""The product's own planner and index over corpora with next to nothing in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.query import GapPlanner
from retrieval import Tier
from retrieval.index import LocalIndex, LocalTier, build_index
from tests.fakes import agent
from tests.retrieval.indexes import Hashing, jsonl


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["the the"]])
@pytest.mark.parametrize("question", ["Who built the old bridge of Velmora?", "?!", "誰が橋を作ったか"])
def test_a_search_of_next_to_nothing_ends_in_order(tmp_path: Path, texts: list[str], question: str) -> None:
    """R01, the whole way: no exception and nothing degraded; without a hit it abstains for want of evidence."""
    records = [{"id": str(number), "title": "", "text": text} for number, text in enumerate(texts)]
    build_index(jsonl(tmp_path / "c.jsonl", records), tmp_path / "index", encoder=Hashing())
    with LocalIndex.open(tmp_path / "index", Hashing()) as index:
        local = Tier(name="local", retriever=LocalTier(index))
        result = agent(local, planner=GapPlanner()).run_sync(question)
    assert (result.action, result.degraded) == ("abstain", False)
    assert [passage.text for passage in result.evidence] in ([], ["the the"])
    if not len(result.evidence):
        assert result.reason.code == "no_evidence"
        assert result.ranking.ids == ()
