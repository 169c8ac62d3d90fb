"""Contrasts that need a search, end to end: the command, real models, a small corpus of our own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmarks import corpus as corpora
from benchmarks.cli import app
from benchmarks.contrasts import build, searches
from benchmarks.contrasts.file import stream_contrasts
from benchmarks.contrasts.model import CONSTRUCTIONS, Contrast
from benchmarks.datasets.reading import load_records
from benchmarks.datasets.records import Record
from benchmarks.errors import BenchmarkError
from benchmarks.lanes import Lost
from benchmarks.store import KeyedStore
from retrieval.index import LocalIndex
from tests.benchmarks.records_world import changed, paragraphs, world, write_corpus, write_records
from tests.towns import need_model

pytestmark = pytest.mark.usefixtures("quick_lanes")
RUNNER = CliRunner()
WORLD = world(3, distractors=4)


@dataclass(frozen=True, kw_only=True)
class Ran:
    folder: Path
    report: dict[str, Any]
    out: Path

    @property
    def contrasts(self) -> list[Contrast]:
        return [one for one in stream_contrasts(self.out) if isinstance(one, Contrast)]

    @property
    def index(self) -> Path:
        (found,) = (self.folder / "indexes" / "benchmarks").glob("corpus-*")
        return found


def _command(folder: Path, out: str, *more: str, store: str) -> Ran:
    """Run `contrasts` with an index that all share and a store of searches of this name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpora, "cache_folder", lambda: folder / "indexes")
        patch.setattr(build, "cache_folder", lambda: folder / store)
        arguments = [
            "contrasts",
            "--data",
            str(folder / "data.jsonl"),
            "--out",
            str(folder / out),
            "--json",
            *more,
        ]
        done = RUNNER.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return Ran(folder=folder, report=json.loads(done.stdout), out=folder / out)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """With two processes: three two-hop questions, two paragraphs of one article, a slip in the file."""
    need_model()
    folder = tmp_path_factory.mktemp("searched")
    squad = paragraphs(2)
    data = write_records(folder / "data.jsonl", [*map(_asking_by_town, WORLD.records), *squad])
    data.write_text(data.read_text() + "a slip\n")
    corpus = folder / "corpus.jsonl"
    write_corpus(corpus, [*WORLD.corpus, *(held.passage for one in squad for held in one.passages)])
    return _command(folder, "a.jsonl.gz", "--corpus", str(corpus), "--processes", "2", store="two")


def _asking_by_town(one: Record) -> Record:
    """A question by which some retrievers find both passages, and some do not."""
    town = one.support[1].passage.title.split()[0]
    return changed(one, question=f"Which river is at {town}, and who was the glazier?")


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever starts a process to search fails."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("searched again")

    monkeypatch.setattr(searches, "Lanes", forbidden)


def test_the_report_counts_every_eligible_record(ran: Ran) -> None:
    """Kept and dropped by reason add up in every row; slips in the file are named."""
    rows = {(row["dataset"], row["construction"]): row for row in ran.report["rows"]}
    assert {key: row["eligible"] for key, row in rows.items()} == {
        ("musique", "deletion"): 3,
        ("musique", "hard-substitution"): 3,
        ("musique", "retrieval"): 3,
        ("musique", "substitution"): 3,
        ("squad2", "question-swap"): 2,
        ("squad2", "retrieval"): 2,
        ("squad2", "unrelated-swap"): 2,
    }
    for row in rows.values():
        dropped = sum(count for name, count in row.items() if name.startswith("dropped_"))
        assert row["kept"] + dropped == row["eligible"]
    assert rows["musique", "retrieval"]["kept"] > 0
    assert rows["squad2", "unrelated-swap"]["dropped_no_unrelated_question"] == 2
    assert sum(row["kept"] for row in rows.values()) == len(ran.contrasts)
    assert sum(row["pairs"] for row in rows.values()) == sum(len(list(one.pairs())) for one in ran.contrasts)
    assert [failure["kind"] for failure in ran.report["failures"]] == ["not_json"]
    settings = ran.report["settings"]
    assert (settings["corpus"], settings["data"], settings["seed"]) == ("corpus.jsonl", ["data.jsonl"], 17)
    assert len(settings["searched"]) == 64


class _HereLanes:
    """Does all jobs in this process, which has the models already."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]], **_: object) -> None:
        self._make = make

    def run(self, batches: Iterable[Sequence[Any]], on_done: Callable[[Any, Any], None]) -> None:
        work = self._make()
        for batch in batches:
            for job in batch:
                on_done(job, work(job))


def test_one_process_finds_the_same_as_two(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the last digit of a cosine: equal bytes, from a store of its own. The one process is this one."""
    monkeypatch.setattr(searches, "Lanes", _HereLanes)
    corpus = str(ran.folder / "corpus.jsonl")
    alone = _command(ran.folder, "b.jsonl.gz", "--corpus", corpus, "--processes", "1", store="one")
    assert alone.out.read_bytes() == ran.out.read_bytes()
    assert alone.report["rows"] == ran.report["rows"]
    assert alone.report["settings"]["sha256"] == ran.report["settings"]["sha256"]


@pytest.mark.usefixtures("no_search")
def test_nothing_is_searched_twice(ran: Ran) -> None:
    """The same command, a part of it, and the same index by its name take all from the store."""
    corpus = ("--corpus", str(ran.folder / "corpus.jsonl"))
    again = _command(ran.folder, "c.jsonl.gz", *corpus, store="two")
    assert again.out.read_bytes() == ran.out.read_bytes()
    index = _command(ran.folder, "d.jsonl.gz", "--index", str(ran.index), store="two")
    assert index.out.read_bytes() == ran.out.read_bytes()
    limited = ("--limit", "2", "--construction", "retrieval", "--construction", "hard-substitution")
    part = _command(ran.folder, "e.jsonl", *corpus, *limited, store="two")
    assert {one.key for one in part.contrasts} < {one.key for one in ran.contrasts}


def test_sides_are_what_the_index_returns(ran: Ran) -> None:
    """Retrieval sets, their best cosine and the ranks of near misses, asked of the index directly."""
    with LocalIndex.open(ran.index) as index:
        for one in ran.contrasts:
            for side in one.sides:
                if one.construction == "retrieval":
                    vectors = dict(index.by_vectors(side.question, 5))
                    sets = {
                        "bm25": [key for key, _ in index.by_words(side.question, 5)[:5]],
                        "dense": list(vectors)[:5],
                        "rrf": [hit.passage.id for hit in index.search(side.question, 5).hits],
                    }
                    for system in set(side.made.systems) - {"hop"}:
                        assert set(side.passages) == set(sets[system])
                    best = max(vectors.get(key, 0.0) for key in side.passages)
                    assert side.made.top_score == pytest.approx(best, abs=1e-5)
                elif side.made.how == "replaced-near-miss":
                    ranked = [hit.passage.id for hit in index.search(side.question, searches.NEAR_DEPTH).hits]
                    assert side.made.rank is not None
                    assert ranked[side.made.rank - 1] == side.made.inserted


def test_retrieval_labels_say_whether_all_support_is_held(ran: Ran) -> None:
    """One question of each paragraph; sufficient exactly where every supporting passage was found."""
    records = {one.id: one for one in load_records([ran.folder / "data.jsonl"]).records}
    found = [one for one in ran.contrasts if one.construction == "retrieval"]
    assert len({(one.dataset, one.group) for one in found}) == len(found)
    for one in found:
        for side in one.sides:
            gold = {held.passage.id for held in records[side.made.record].support}
            assert side.sufficient is (gold <= set(side.passages))
            assert len(side.passages) <= 5


def test_a_search_that_fails_ends_the_run_and_is_not_kept(
    ran: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table without its questions would not be the table; what was found before stays."""

    class Failing:
        def __init__(self, *_: object, **__: object) -> None: ...

        def run(self, batches: Iterable[Sequence[Any]], on_done: Callable[[Any, Any], None]) -> None:
            results: Iterator[Any] = iter(
                [{"near": [], "sets": {}, "top": {}}, Lost(kind="hung", detail="120 s.")]
            )
            for batch, result in zip(batches, results, strict=False):
                on_done(batch[0], result)

    monkeypatch.setattr(searches, "Lanes", Failing)
    jobs = [searches.Job(question=text, systems=()) for text in ("First?", "Second?", "Third?")]
    with LocalIndex.open(ran.index) as index, KeyedStore(tmp_path / "s.jsonl") as store:
        found = searches.Searches(index, store, processes=1)
        with pytest.raises(BenchmarkError, match=r"'Second\?' failed.*120 s"):
            found.run(jobs)
        assert found.near("First?") == []
        with pytest.raises(KeyError):
            found.near("Second?")


def test_help_teaches() -> None:
    """Every construction is explained and an example can be copied; no model library is loaded for it."""
    code = (
        "import sys\n"
        "from benchmarks.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    assert not {'torch', 'numpy', 'transformers'} & set(sys.modules), 'heavy import'\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "contrasts", "--help"],
        capture_output=True,
        text=True,
        check=False,
        env={"COLUMNS": "200", "PATH": ""},
    )
    assert done.stderr == ""
    for word in ("python -m benchmarks contrasts --data", "--corpus", "--construction", "--seed"):
        assert word in done.stdout
    for construction in CONSTRUCTIONS:
        assert construction in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--data FILE"),
        (["--data", "DATA", "--construction", "retrieval"], "--corpus FILE"),
        (["--data", "DATA", "--corpus", "absent.jsonl"], "absent.jsonl"),
        (["--data", "absent.jsonl"], "absent.jsonl"),
        (["--data", "DATA", "--construction", "invented"], "hard-substitution"),
        (["--data", "DATA", "--construction", "native"], "from 3 records: none is eligible"),
        (["--data", "DATA", "--corpus", "a", "--index", "b"], "one of them"),
    ],
)
def test_what_cannot_be_built_is_one_message_with_a_remedy(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    """No traceback, no file, nothing on stdout."""
    data = write_records(tmp_path / "data.jsonl", WORLD.records)
    filled = [str(data) if one == "DATA" else one for one in arguments]
    done = RUNNER.invoke(app, ["contrasts", *filled, "--out", str(tmp_path / "out.jsonl"), "--json"])
    assert done.exit_code in {1, 2}
    assert said in " ".join(done.stderr.split())
    assert done.stdout == ""
    assert not (tmp_path / "out.jsonl").exists()


def test_the_data_are_never_overwritten(tmp_path: Path) -> None:
    """`--out` that names a file which is read: refused before anything is done."""
    data = write_records(tmp_path / "data.jsonl", WORLD.records)
    before = data.read_bytes()
    done = RUNNER.invoke(app, ["contrasts", "--data", str(data), "--construction", "deletion", "--out", str(data)])
    assert done.exit_code == 2
    assert "is read by this command" in " ".join(done.stderr.replace("│", " ").split())
    assert data.read_bytes() == before
