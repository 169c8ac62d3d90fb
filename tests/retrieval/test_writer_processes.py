"""Searching while another process writes, and what a killed writer leaves."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from retrieval.index import IndexWriter, LocalIndex, build_index
from tests.retrieval.indexes import Hashing, jsonl

_DOCUMENTS = 6
_WRITER = """
import sys
from retrieval.corpora import Document, Section
from retrieval.index import IndexWriter
from tests.retrieval.indexes import Hashing

folder, rounds, start = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with IndexWriter.open(folder, Hashing()) as writer:
    for number in range(start, start + rounds):
        for key in range(6):
            text = Section(text=f"Bridge {key} of round {number}.")
            writer.add([Document(id=str(key), title=f"Round {number}", sections=(text,))])
        writer.commit()
        print(number, flush=True)
        if number % 7 == 0:
            writer.compact()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six documents that are replaced together: all that is found must be of one round."""
    records = [
        {"id": str(key), "title": "Round 0", "text": f"Bridge {key} of round 0."} for key in range(_DOCUMENTS)
    ]
    build_index(jsonl(tmp_path / "corpus.jsonl", records), tmp_path / "index", encoder=Hashing())
    return tmp_path / "index"


def started(folder: Path, rounds: int, start: int = 1) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(folder), str(rounds), str(start)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


def rounds_found(index: LocalIndex[Hashing]) -> set[int]:
    """The rounds that one search finds, by text and by title; all documents must be found."""
    hits = index.search("bridge of round", 20).hits
    assert len(hits) == _DOCUMENTS
    said = [re.findall(r"\d+", f"{hit.passage.text} {hit.passage.title}") for hit in hits]
    assert sorted(int(numbers[0]) for numbers in said) == list(range(_DOCUMENTS))
    return {int(number) for numbers in said for number in numbers[1:]}


def test_a_search_beside_a_writer_sees_one_commit(folder: Path) -> None:
    """Never words of one state with vectors or texts of another; later searches see later commits."""
    seen: list[int] = []
    with LocalIndex.open(folder, Hashing()) as index:
        writer = started(folder, rounds=60)
        while writer.poll() is None:
            (now,) = rounds_found(index)
            seen.append(now)
        assert writer.wait() == 0
        assert rounds_found(index) == {60}
    assert writer.stdout is not None
    writer.stdout.close()
    assert seen == sorted(seen)
    assert len(set(seen)) > 3


def test_a_killed_writer_leaves_a_commit_and_the_next_one_goes_on(folder: Path) -> None:
    """SIGKILL at random moments, compactions among them."""
    generator = random.Random(5)  # noqa: S311 - nothing secret
    told = 0
    for _ in range(4):
        writer = started(folder, rounds=1_000, start=told + 1)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(generator.random() / 5)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split()
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL
        with LocalIndex.open(folder, Hashing()) as index:
            index.warm()
            (now,) = rounds_found(index)
        last = int(rest[-1]) if rest else told + 1
        assert last <= now <= last + 1
        told = now
    with IndexWriter.open(folder, Hashing()) as writer_again:
        writer_again.delete(["0"])
        writer_again.commit()
    with LocalIndex.open(folder, Hashing()) as index:
        assert len(index) == _DOCUMENTS - 1
