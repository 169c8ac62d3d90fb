"""10,000 random changes with crashes at random moments leave an index that equals a fresh build."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval.corpora import Document, Section
from retrieval.index import IndexWriter, LocalIndex, build_index, index_info
from retrieval.index.dense import VectorFile
from retrieval.index.layout import vectors_files
from tests.retrieval.indexes import Hashing, jsonl

SEEDS, OPERATIONS = 2, 2_000
SUBJECTS = ("The old river", "A red bridge", "The king of the north", "Queen")
WORDS = ("city", "Tower", "Island", "castle", "ship", "captain", "novel", "song")
QUERIES = ("old bridge of the king", "red river tower", "A captain and the novel island")


class Crash(BaseException):
    """The machine goes down here; no handler of the product may take it for an error."""


class Disk:
    """Takes the picture of an index folder that a crash leaves behind, at a step that was drawn beforehand.

    The steps are the writes and flushes of vectors, the statements of the writer's connection, and the moments
    before and after its commits. In the picture all is as the operating system has it, except that vectors that
    were not flushed yet are gone or torn.
    """

    def __init__(self, folder: Path, generator: random.Random) -> None:
        self.folder, self._random = folder, generator
        self.picture: Path | None = None
        self._left = 0
        files = [file for data in folder.glob("data-*") for file in vectors_files(data)]
        self._flushed = {file.name: file.stat().st_size for file in files}

    def arm(self, steps: int) -> None:
        """Crash after so many steps; 0 = never."""
        self._left = steps

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.picture = self.folder.with_name(f"{self.folder.name}x")
            shutil.copytree(self.folder, self.picture)
            for data in self.picture.glob("data-*"):
                for file in vectors_files(data):
                    size = file.stat().st_size
                    kept = self._random.randint(min(self._flushed.get(file.name, 0), size), size)
                    with file.open("r+b") as handle:
                        handle.truncate(kept)
            raise Crash

    def flushed(self, file: VectorFile) -> None:
        self._flushed[file.path.name] = file.path.stat().st_size


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, random.Random], Disk]]:
    """Makes a disk whose steps are noticed from then on."""
    current: list[Disk] = []

    class Watched(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            sql = sql.replace("synchronous = FULL", "synchronous = OFF")  # pictures need no flush, it takes time
            changes = sql.startswith(("INSERT", "REPLACE", "DELETE", "UPDATE", "COMMIT", "VACUUM"))
            if changes and current and (self.in_transaction or sql == "VACUUM"):
                current[-1].step()
            done = super().execute(sql, *values)
            if sql == "COMMIT" and current:
                current[-1].step()
            return done

    def connect(*places: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = original(*places, **{"factory": Watched, **options})
        return connection

    def noticed(name: str, *, flush: bool) -> Callable[..., object]:
        inner = getattr(VectorFile, name)

        def method(self: VectorFile, *values: object) -> object:
            current[-1].step()
            result: object = inner(self, *values)
            if flush:
                current[-1].flushed(self)
            current[-1].step()
            return result

        return method

    original = sqlite3.connect
    monkeypatch.setattr("retrieval.index.sqlite.sqlite3.connect", connect)
    monkeypatch.setattr("os.fsync", lambda _: None)
    for name, flush in (("append", False), ("sync", True)):
        monkeypatch.setattr(VectorFile, name, noticed(name, flush=flush))

    def make(folder: Path, generator: random.Random) -> Disk:
        current.append(Disk(folder, generator))
        return current[-1]

    yield make
    current.clear()


def a_document(generator: random.Random, key: str) -> Document:
    """A few sentences, cut into chunks; chunks and titles that others have too, in spellings that are one text."""
    said = [f"{generator.choice(SUBJECTS)} {generator.choice(WORDS)}." for _ in range(generator.randint(1, 6))]
    text = ("  " if generator.random() < 0.3 else " ").join(said)
    title = generator.choice(["", "Tower", "Island"])
    return Document(id=key, title=title, sections=(Section(title=generator.choice(["", "Life"]), text=text),))


def rankings(folder: Path) -> list[object]:
    """All that a reader sees: passages with their places, scores and order, by words, vectors and links."""
    with LocalIndex.open(folder, Hashing()) as index:
        found: list[object] = [
            [(hit.passage, hit.score) for hit in index.search(query, 8).hits] for query in QUERIES
        ]
        ids = sorted(passage.id for passage in index)
        found += [index.by_vectors("king of the tower", 30), index.by_links(ids[::3], "Who was the captain?", 30)]
        return [*found, ids]


def fresh(parent: Path, documents: list[Document]) -> list[object]:
    """The same of an index that is built from these documents."""
    folder = parent / "fresh"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    records = [
        {"id": one.id, "title": one.title, "section": one.sections[0].title, "text": one.sections[0].text}
        for one in documents
    ]
    built(folder, records)
    return rankings(folder / "index")


def built(folder: Path, records: list[dict[str, str]]) -> Path:
    corpus = jsonl(folder / "corpus.jsonl", records)
    build_index(corpus, folder / "index", encoder=Hashing(), max_words=8, whole_words=6)
    return folder / "index"


def change(writer: IndexWriter, model: dict[str, Document], generator: random.Random) -> None:
    """One random operation, on the index and on what it should hold."""
    key = str(generator.randrange(30))
    if generator.random() < 0.4:
        writer.delete([key], missing_ok=True)
        model.pop(key, None)
    else:
        document = a_document(generator, key)
        writer.add([document], whole=True)
        model[key] = document


@pytest.mark.parametrize("seed", range(SEEDS))
def test_changes_and_crashes_leave_what_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: Callable[[Path, random.Random], Disk], seed: int
) -> None:
    """After a crash the index holds the last commit or, if it came that far, the one that was under way.

    In both cases every ranking, to the last bit of its scores, is that of an index built from those documents.
    """
    monkeypatch.setattr("retrieval.index.sparse._FEW", 30)  # compacts now and then
    generator = random.Random(seed)  # noqa: S311 - nothing secret
    folder = built(tmp_path, [])
    committed: dict[str, Document] = {}
    done = crashes = 0
    while done < OPERATIONS:
        machine = disk(folder, generator)
        machine.arm(generator.randint(1, 1_300))
        pending = dict(committed)
        try:
            with IndexWriter.open(folder, Hashing()) as writer:
                for _ in range(generator.randint(1, 8)):
                    for _ in range(generator.randint(1, 40)):
                        change(writer, pending, generator)
                        done += 1
                    writer.commit()
                    committed = dict(pending)
        except Crash:
            crashes += 1
            machine.arm(0)
            assert machine.picture is not None
            shutil.rmtree(folder)
            folder = machine.picture
            if (found := rankings(folder)) != fresh(tmp_path, list(committed.values())):
                assert found == fresh(tmp_path, list(pending.values()))
                committed = pending
        machine.arm(0)
    assert crashes > 3
    assert rankings(folder) == fresh(tmp_path, list(committed.values()))
    assert index_info(folder).documents == len(committed)
