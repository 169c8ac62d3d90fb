"""The sparse index as a file: commits, crashes, threads, damage (cases R05 to R09 on its side)."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from retrieval.errors import IndexCorruptError, IndexFolderError, IndexNotFoundError, IndexVersionError
from retrieval.index.sparse import SPARSE_FILE, SparseIndex


def built(folder: Path, texts: dict[str, str]) -> SparseIndex:
    """An index of these texts, open for writing."""
    index = SparseIndex.create(folder)
    index.add(texts.items())
    index.commit()
    return index


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "with spaces" / "sparse"


def test_before_the_commit_everybody_sees_the_old_state(folder: Path) -> None:
    with built(folder, {"a": "bridge"}) as index, SparseIndex.open(folder) as reader:
        index.add([("b", "bridge")])
        index.delete(["a"])
        for one in (index, reader):
            assert (len(one), list(one.ids())) == (1, ["a"])
            assert [key for key, _ in one.search("bridge", 5)] == ["a"]
        index.commit()
        for one in (index, reader):
            assert [key for key, _ in one.search("bridge", 5)] == ["b"]


def test_a_source_that_fails_changes_nothing(folder: Path) -> None:
    """An exception of the caller's iterator passes through, and a later commit does not keep one half."""

    def failing() -> Iterator[tuple[str, str]]:
        yield "b", "bridge"
        raise OSError("the disk of the corpus")

    with built(folder, {"a": "bridge"}) as index:
        with pytest.raises(OSError, match="the disk of the corpus"):
            index.add(failing())
        index.commit()
        assert list(index.ids()) == ["a"]


def test_a_killed_writer_leaves_the_old_state(folder: Path) -> None:
    """A kill in the middle of an add: the index opens, for reading and for writing, as it was."""
    built(folder, {"a": "bridge"}).close()
    script = (
        "import pathlib, sys\n"
        "from retrieval.index.sparse import SparseIndex\n"
        "index = SparseIndex.open(pathlib.Path(sys.argv[1]), read_only=False)\n"
        "index.delete(['a'])\n"
        "index.add((str(n), f'bridge tower{n} castle{n}') for n in range(20_000))\n"
        "print('added', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "added\n"
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    for read_only in (True, False):
        with SparseIndex.open(folder, read_only=read_only) as index:
            assert list(index.ids()) == ["a"]
            assert [key for key, _ in index.search("bridge", 5)] == ["a"]


def test_many_threads_search_while_one_writes(folder: Path) -> None:
    """Every answer is that of one committed state: all the documents of a generation, or none of them."""
    rounds = 8
    with built(folder, {f"0-{n}": "bridge" for n in range(5)}) as index, ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(index.search, "bridge", 50) for _ in range(100)]
        for number in range(1, rounds):
            index.delete(f"{number - 1}-{n}" for n in range(5))
            index.add((f"{number}-{n}", "bridge") for n in range(5))
            index.commit()
            answers += [pool.submit(index.search, "bridge", 50) for _ in range(20)]
        for answer in answers:
            keys = [key for key, _ in answer.result()]
            assert len(keys) == 5
            assert len({key.split("-")[0] for key in keys}) == 1


def test_one_file_is_left_and_reading_does_not_change_it(folder: Path) -> None:
    """An index folder is hashed by its manifest: after closing there is one file, and readers add none."""
    built(folder, {"a": "bridge"}).close()
    before = (folder / SPARSE_FILE).read_bytes()
    with SparseIndex.open(folder) as index:
        assert index.search("bridge", 1)
        assert [file.name for file in folder.iterdir()] == [SPARSE_FILE]
    assert (folder / SPARSE_FILE).read_bytes() == before


def test_an_index_opened_for_reading_cannot_be_changed(folder: Path) -> None:
    built(folder, {"a": "bridge"}).close()
    with SparseIndex.open(folder) as index:
        changes: list[Callable[[], None]] = [
            lambda: index.add([("b", "tower")]),
            lambda: index.delete(["a"]),
            index.commit,
        ]
        for change in changes:
            with pytest.raises(IndexFolderError, match="read_only=False"):
                change()


def test_a_second_writer_is_refused_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.index.sqlite._BUSY_SECONDS", 0.05)
    with built(folder, {}) as first, SparseIndex.open(folder, read_only=False) as second:
        first.add([("a", "bridge")])
        with pytest.raises(IndexFolderError, match="another process"):
            second.add([("b", "bridge")])


def test_closed_is_closed(folder: Path) -> None:
    index = built(folder, {"a": "bridge"})
    index.close()
    index.close()
    uses: list[Callable[[], object]] = [
        lambda: index.search("bridge", 1),
        lambda: index.add([("b", "")]),
        index.commit,
    ]
    for use in uses:
        with pytest.raises(IndexFolderError, match="closed"):
            use()


def test_create_refuses_a_folder_that_holds_an_index(folder: Path) -> None:
    built(folder, {}).close()
    with pytest.raises(IndexFolderError, match="exists already"):
        SparseIndex.create(folder)


def test_there_is_no_index(folder: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="Build the index"):
        SparseIndex.open(folder)


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def _truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _foreign(path: Path) -> None:
    path.unlink()
    _execute(path, "CREATE TABLE documents (anything)")


def _unnumbered(path: Path) -> None:
    _execute(path, "UPDATE state SET next_number = 1")


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(statement)
        raw.commit()


@pytest.mark.parametrize("damage", [_garbage, _truncated, _empty, _foreign, _unnumbered])
def test_a_damaged_file_is_refused_when_it_is_opened(folder: Path, damage: Callable[[Path], None]) -> None:
    """Case R09: an index checks itself when it loads."""
    built(folder, {f"{number}": f"bridge number{number}" for number in range(500)}).close()
    damage(folder / SPARSE_FILE)
    with pytest.raises(IndexCorruptError, match="Build the index again"):
        SparseIndex.open(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE postings SET entries = x'000000' WHERE term = 'bridg'",
        "UPDATE postings SET entries = x'ffff0100' WHERE term = 'bridg'",
        "DROP TABLE postings",
    ],
)
def test_damage_that_a_search_meets_is_named(folder: Path, statement: str) -> None:
    built(folder, {"a": "bridge"}).close()
    _execute(folder / SPARSE_FILE, statement)
    with SparseIndex.open(folder) as index, pytest.raises(IndexCorruptError, match="Build the index again"):
        index.search("bridge", 1)


def test_another_version_is_refused(folder: Path) -> None:
    built(folder, {}).close()
    _execute(folder / SPARSE_FILE, "PRAGMA user_version = 99")
    with pytest.raises(IndexVersionError, match="version 99"):
        SparseIndex.open(folder)


def test_counts_beyond_sixteen_bits_do_not_wrap(folder: Path) -> None:
    with built(folder, {"a": "bridge " * 66_000, "b": "bridge tower"}) as index:
        assert next(key for key, _ in index.search("bridge", 5)) == "a"


def test_a_query_may_be_as_long_as_it_likes(folder: Path) -> None:
    with built(folder, {"a": "bridge"}) as index:
        assert [key for key, _ in index.search("bridge " + " ".join(map(str, range(5_000))), 5)] == ["a"]
