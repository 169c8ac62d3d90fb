"""`benchmarks retrieval` end to end: the command, real models, a small corpus of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks import corpus as corpora
from benchmarks.cli import app
from benchmarks.hops import command, search, variants
from benchmarks.hops.collector import collector
from benchmarks.hops.search import SYSTEMS
from retrieval.index import LocalIndex, index_info
from tests.benchmarks.records_world import world, write_corpus, write_records
from tests.towns import need_model

pytestmark = pytest.mark.usefixtures("quick_lanes")
RUNNER = CliRunner()
WORLD = world(3, distractors=4)
FILLER = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three questions of two hops over a dozen passages, and a slip in the file."""
    need_model()
    made = tmp_path_factory.mktemp("hops")
    file = write_records(made / "data.jsonl", WORLD.records)
    file.write_text(file.read_text() + "a slip\n")
    write_corpus(made / "corpus.jsonl", WORLD.corpus)
    return made


def _command(folder: Path, *more: str) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (corpora, command, variants):
            patch.setattr(module, "cache_folder", lambda: folder / "cache")
        arguments = ["--questions", str(folder / "data.jsonl"), "--corpus", str(folder / "corpus.jsonl"), "--json"]
        done = RUNNER.invoke(app, ["retrieval", *arguments, *more])
    assert done.exit_code == 0, done.output
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def report(folder: Path) -> dict[str, Any]:
    """Titles removed, and then filler mixed in."""
    return _command(folder, "--without-titles", "--filler", str(FILLER), "--turns", "2", "--k", "3")


def test_every_system_has_a_row_with_and_without_filler(report: dict[str, Any]) -> None:
    """Same questions everywhere; one call each but for hop, which goes on from what it found."""
    rows = {(row["system"], row["filler"]): row for row in report["rows"]}
    assert set(rows) == {("oracle-titles", 0), *((system, size) for system in SYSTEMS for size in (0, FILLER))}
    for (system, _), row in rows.items():
        assert (row["dataset"], row["split"], row["subset"], row["n"]) == ("musique", "dev", "all", 3)
        assert row["titles"] is (system == "oracle-titles")
        if system == "oracle-titles":
            continue
        assert row["lacking"] == 0
        assert ("lost_recall@5" in row) is (row["filler"] > 0)
        assert (row["calls_per_question"] > 1) is (system == "hop")
        assert row.get("held_out") is (True if system == "hop" else None)
        assert row["ms_per_question"] > 0
        assert 0 <= row["recall@5_lo"] <= row["recall@5_hi"] <= 1
        assert row["all_support@5"] <= row["all_support@10"] <= row["all_support@20"] <= row["all_support"]
    assert rows["oracle-titles", 0]["title_reach"] == 0  # no title stands in a question as a whole
    assert [failure["kind"] for failure in report["failures"]] == ["not_json"]
    settings = report["settings"]
    assert (settings["turns"], settings["k"], settings["single_shot_k"], settings["filler"]) == (2, 3, 20, FILLER)
    assert "question-related passages only" in settings["note"]


@pytest.mark.usefixtures("report")
def test_copies_hold_the_same_passages_under_the_same_ids(folder: Path) -> None:
    """Without titles only the heading is gone; filler adds and takes nothing away."""
    cache = folder / "cache" / "benchmarks"
    (base,), (untitled,), (mixed,) = (list(cache.glob(f"{kind}-*")) for kind in ("corpus", "untitled", "filler"))
    kept = {one.id: one for one in WORLD.corpus}
    with LocalIndex.open(base) as index:
        assert {one.id for one in index} == kept.keys()
    with LocalIndex.open(untitled) as index:
        assert {one.id: one.text for one in index} == {key: one.text for key, one in kept.items()}
        assert not any(one.title or one.section for one in index)
    with search.open_mixed(mixed) as index:
        assert len(index) == len(kept) + FILLER
        assert {one.id for one in index} > kept.keys()
    assert index_info(mixed).manifest.encoder == index_info(base).manifest.encoder


def test_nothing_is_searched_twice(folder: Path, report: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same command takes all from what was kept; other turns would not."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(search, "Lanes", forbidden)
    again = _command(folder, "--without-titles", "--filler", str(FILLER), "--turns", "2", "--k", "3")
    assert again["rows"] == report["rows"]
    with pytest.raises(AssertionError, match="searched again"):
        _command(folder, "--without-titles", "--system", "hop", "--turns", "1")


def test_a_repeated_question_of_a_resumed_run_counts_once(folder: Path) -> None:
    """R11: a run of some questions, then of all with one repeated: every item once, the repeat reported."""
    first = _command(folder, "--system", "bm25", "--limit", "2")
    again = write_records(folder / "repeated.jsonl", [*WORLD.records, WORLD.records[0]])
    whole = _command(folder, "--system", "bm25", "--questions", str(again))
    assert [row["n"] for report in (first, whole) for row in report["rows"] if row["system"] == "bm25"] == [2, 3]
    assert {failure["kind"] for failure in whole["failures"]} == {"not_json", "repeated_id"}


@pytest.mark.anyio
async def test_the_collector_goes_on_to_its_last_turn_without_a_score(town_index: Path) -> None:
    """It never answers early, and its ranking orders all that was found."""
    with LocalIndex.open(town_index) as index:
        agent = collector(index, scorer="none", turns=3, k=2)
        result = await agent.run("Which river flows through the town where the glass painter Orla Venn was born?")
    assert len(result.turns) == 3
    assert result.gaps == ()
    assert set(result.ranking.ids) == set(result.evidence.ids)
    assert result.answer is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--questions", "DATA"], "--corpus FILE"),
        (["--corpus", "absent.jsonl"], "--questions FILE"),
        (["--questions", "DATA", "--corpus", "absent.jsonl"], "absent.jsonl"),
        (["--questions", "DATA", "--corpus", "a", "--index", "b"], "one of them"),
        (["--system", "invented"], "bm25, dense, rrf, hop"),
        (["--turns", "0"], "at least 1 turn"),
        (["--filler", "-1"], "no negative filler"),
    ],
)
def test_what_cannot_be_measured_is_one_message_with_a_remedy(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    """No traceback and nothing on stdout."""
    data = write_records(tmp_path / "data.jsonl", WORLD.records)
    filled = [str(data) if one == "DATA" else one for one in arguments]
    done = RUNNER.invoke(app, ["retrieval", *filled, "--json"])
    assert done.exit_code in {1, 2}
    assert said in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
