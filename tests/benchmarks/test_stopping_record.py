"""Recorded searches: complete, resumable, and a replay decides on them as a live search does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.build import open_agent
from agent.config import load_settings
from agent.episodes import Episode
from benchmarks.errors import RunFileError
from benchmarks.stopping.record import EpisodeFile, RecordOptions, run_record
from policies.replay import Stop
from retrieval.index import TransformerEncoder, build_index
from retrieval.passage import passage_id
from tests.towns import CORPUS, need_model, write_corpus

pytestmark = pytest.mark.usefixtures("quick_lanes")
TEXTS = dict(CORPUS)
QUESTIONS = [
    ("In which hills does the river at Orla Venn's birthplace rise?", ["Orla Venn", "Marrowby", "Tessel"], "Aven"),
    ("Who was a clock maker?", ["Pell Harrow"], "Pell Harrow"),
]
POLICIES: list[dict[str, object]] = [
    {"policy": "band", "answer_at": 0.5, "abstain_below": -0.5, "min_turns": 1},
    {"policy": "band", "answer_at": 9.0, "abstain_below": 9.0, "min_turns": 2},
    {"policy": "threshold", "answer_at": 0.0, "abstain_below": 0.0, "min_turns": 1},
    {"policy": "fixed-3"},
]


def write_questions(file: Path) -> Path:
    rows = [
        {
            "id": f"q{number}",
            "dataset": "towns",
            "split": "train",
            "question": asked,
            "answers": [answer],
            "answerable": True,
            "group": f"g{number}",
            "passages": [{"title": title, "text": TEXTS[title], "is_support": True} for title in support],
        }
        for number, (asked, support, answer) in enumerate(QUESTIONS)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, list[Episode]]:
    """The folder of the index, the run file and its episodes."""
    need_model()
    folder = tmp_path_factory.mktemp("record")
    index = folder / "towns.index"
    build_index(write_corpus(folder / "towns.jsonl"), index, encoder=TransformerEncoder.named())
    out = folder / "run.jsonl"
    options = RecordOptions(
        out=out, questions=(write_questions(folder / "q.train.jsonl"),), index=index, calls=4, k=2
    )
    report = run_record(options)
    assert [(row["subset"], row["n"]) for row in report.rows] == [("original", 2), ("twin", 2)]
    assert not report.failures
    before = out.read_bytes()
    run_record(options)
    assert out.read_bytes() == before, "what is recorded is not searched for again"
    lines = before.splitlines()
    assert json.loads(lines[0])["type"] == "run"
    return index, out, [Episode.model_validate_json(line) for line in lines[1:]]


def test_an_episode_holds_what_labels_and_replays_need(recorded: tuple[Path, Path, list[Episode]]) -> None:
    """Labels grow with the evidence, a twin never sees its support, every look has its probe."""
    _, _, episodes = recorded
    for episode in episodes:
        looks = len(episode.states())
        assert len(episode.found) == len(episode.probes) == len(episode.sufficient) == looks
        assert list(episode.found) == sorted(episode.found)
        texts = {line["id"] for line in episode.trace if line["type"] == "passage"}
        assert all(set(turn["new"]) <= texts for turn in episode.turns())
        if episode.twin:
            assert set(episode.found) == {0}
            assert not texts & set(episode.masked)
            assert {passage_id(TEXTS[title]) for title in QUESTIONS[int(episode.id[1])][1]} <= set(episode.masked)
        else:
            assert episode.sufficient[-1]
            assert episode.gold_answer


def test_a_replay_decides_as_the_live_search_does(recorded: tuple[Path, Path, list[Episode]]) -> None:
    """What is compared offline is what `sufficit ask` would do: action, reason, calls and score at the stop."""
    index, _, episodes = recorded
    for flags in POLICIES:
        settings = load_settings({**flags, "max_calls": 4, "max_turns": 4, "k": 2})
        agent = open_agent(index, settings=settings)
        for episode in (one for one in episodes if not one.twin):
            live = agent.run_sync(episode.question)
            played = episode.recorded().play(agent.parts.policy)
            assert isinstance(played, Stop)
            assert played.decision.action == live.action
            assert (played.decision.reason.code, played.decision.reason.overruled) == (
                live.reason.code,
                live.reason.overruled,
            )
            assert played.state.spend.calls == live.spend.calls
            assert played.state.score == pytest.approx(live.turns[-1].state.score, abs=1e-4)  # batches differ


def test_a_run_file_of_other_settings_is_refused(
    recorded: tuple[Path, Path, list[Episode]], tmp_path: Path
) -> None:
    """Searches of two budgets are not mixed, and a repeated line counts once (case R11)."""
    _, out, episodes = recorded
    copy = tmp_path / "run.jsonl"
    content = out.read_bytes()
    copy.write_bytes(content + content.splitlines(keepends=True)[1])
    depends_on = json.loads(content.splitlines()[0])["depends_on"]
    file = EpisodeFile(copy, depends_on)
    assert file.known == {episode.key for episode in episodes}
    assert [fault.kind for fault in file.faults] == ["repeated_id"]
    with pytest.raises(RunFileError, match="budget"):
        EpisodeFile(copy, {**depends_on, "budget": {"max_calls": 9}})
