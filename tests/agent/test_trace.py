"""The trace: complete enough to show, rescore and replay; readable after a crash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent import SearchAgent
from agent.errors import TraceError
from agent.seams import Plan
from agent.trace import load_trace
from agent.wire import read_state, result_json
from policies import Budget
from policies.threshold import ScoreThreshold
from retrieval import EvidenceSet, Passage
from rinse import Sufficiency
from tests.fakes import QuoteAnswerer, ScriptedPlanner, ScriptedScorer, passages, tier


def agent(policy: ScoreThreshold | None = None) -> SearchAgent:
    return SearchAgent(
        tiers=[tier("local", passages("a", "b"), passages("b", "c"))],
        scorer=ScriptedScorer(),
        policy=policy or ScoreThreshold(answer_at=3.0),
        planner=ScriptedPlanner(),
        answerer=QuoteAnswerer(),
        budget=Budget(max_turns=5),
    )


def test_a_trace_rescores_to_the_same_scores_and_replays_to_the_same_decisions(tmp_path: Path) -> None:
    """The texts and the states are in the file: scorer and policy give again what they gave."""
    file = tmp_path / "trace.jsonl"
    policy = ScoreThreshold(answer_at=3.0)
    result = agent(policy).run_sync("question", trace=file)
    recorded = load_trace(file)
    assert recorded.question == "question"
    assert recorded.problems == ()
    for turn, original in zip(recorded.turns, result.turns, strict=True):
        again = ScriptedScorer().score("question", recorded.evidence_after(turn["number"]))
        assert again.score == turn["sufficiency"]["score"]
        state = read_state(turn["state"])
        assert state == original.state
        assert policy.decide(state) == original.wish
    assert recorded.result is not None
    assert recorded.result["answer"] == result_json(result)["answer"]


def test_given_evidence_is_in_the_trace(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    given = Passage(text="Given text.", title="Given", url="https://example.org/given")
    agent().run_sync("question", evidence=[given], trace=file)
    recorded = load_trace(file)
    assert recorded.evidence_after(0).passages == (given,)
    assert recorded.turns[0]["number"] == 0


def test_a_trace_cut_in_the_middle_of_a_line_keeps_what_was_whole(tmp_path: Path) -> None:
    """A killed process may leave half a line; every turn before it is readable."""
    file = tmp_path / "trace.jsonl"
    agent().run_sync("question", trace=file)
    whole = file.read_bytes()
    last_turn = whole.rindex(b'{"type": "turn"')
    file.write_bytes(whole[: last_turn + 40])
    recorded = load_trace(file)
    assert (len(recorded.turns), recorded.result, len(recorded.problems)) == (1, None, 1)


def test_a_trace_is_never_overwritten_and_a_folder_gets_one_file_a_search(tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    agent().run_sync("question", trace=file)
    before = file.read_bytes()
    with pytest.raises(TraceError, match="never overwritten"):
        agent().run_sync("question", trace=file)
    assert file.read_bytes() == before
    folder = tmp_path / "traces"
    folder.mkdir()
    agent().run_sync("question", trace=folder)
    agent().run_sync("question", trace=folder)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize("content", ["", "{}\n", "no json\n", '{"type": "search", "format": 99}\n', "[1]\n"])
def test_what_is_no_trace_is_refused_with_a_remedy(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text(content)
    with pytest.raises(TraceError, match="Write one with"):
        load_trace(file)
    with pytest.raises(TraceError, match="Cannot read"):
        load_trace(tmp_path / "missing.jsonl")


def test_a_disk_that_fails_degrades_the_search_and_does_not_end_it(tmp_path: Path) -> None:
    """The folder vanishes while the search runs."""
    folder = tmp_path / "gone"
    folder.mkdir()
    file = folder / "trace.jsonl"

    class Vandal(ScriptedPlanner):
        async def plan(
            self, question: str, evidence: EvidenceSet, sufficiency: Sufficiency | None, tried: tuple[str, ...]
        ) -> Plan:
            file.unlink(missing_ok=True)
            if folder.exists():
                folder.rmdir()
            return await super().plan(question, evidence, sufficiency, tried)

    vandalised = SearchAgent(
        tiers=[tier("local", passages("a"))],
        scorer=ScriptedScorer(),
        policy=ScoreThreshold(answer_at=1.0),
        planner=Vandal(),
        answerer=QuoteAnswerer(),
    )
    result = vandalised.run_sync("question", trace=file)
    assert (result.action, result.degraded) == ("answer", True)
    assert result.events[0].kind == "trace_failed"


def test_result_json_is_strict_json() -> None:
    """No NaN, no object that json does not know."""
    data = result_json(agent().run_sync("question"))
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert " ".join(sorted(data)) == (
        "action answer citations coverage degraded events evidence gaps question ranking reason spend sufficiency "
        "tiers_not_tried turns verdict"
    )
