"""A writer keeps the links of passages up to date, and refuses what it must not or cannot change."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from retrieval.errors import (
    EncoderMismatchError,
    IndexBusyError,
    IndexFolderError,
    IndexNotFoundError,
    IndexVersionError,
)
from retrieval.index import IndexWriter, LinkRule, LocalIndex, build_index
from retrieval.index.links import Links, link_key
from retrieval.index.manifest import MANIFEST
from tests.retrieval.indexes import Hashing, Noting, document, jsonl, numbered, stored


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index without links."""
    build_index(jsonl(tmp_path / "corpus.jsonl", numbered(5)), tmp_path / "index", encoder=Hashing())
    return tmp_path / "index"


def titled() -> LinkRule:
    """Passages are about their titles and mention their capital words."""
    return LinkRule(
        name="titles-1",
        keys=lambda one, _: (
            {place.title for place in one.provenance},
            {word for word in one.text.split() if word.istitle()},
        ),
    )


def test_links_follow_the_passages(tmp_path: Path) -> None:
    """In the same transaction: new ones are there, old ones are gone, those of another title are renewed."""
    build_index(jsonl(tmp_path / "c.jsonl", numbered(3)), tmp_path / "index", encoder=Hashing(), links=titled())
    with IndexWriter.open(tmp_path / "index", Hashing(), links=titled()) as writer:
        writer.add([document("a", "See Moor here.", "Ferry"), document("b", "See Moor here.", "Boat")])
        writer.delete(["1"])
        writer.commit()
        writer.delete(["a"])
        writer.commit()
    with LocalIndex.open(tmp_path / "index", Hashing()) as index, index.view() as view, view.links() as links:
        (about,) = links.passages("topic", [link_key("Boat")], most=9).values()
        assert view.passages(about)[0].text == "See Moor here."
        assert links.passages("mention", [link_key("Moor")], most=9) == {link_key("Moor"): about}
        assert _counts(links, "Title 0", "Title 1", "Ferry") == [1, 0, 0]


def _counts(links: Links, *keys: str) -> list[int]:
    return [links.counts("topic", [link_key(key)]).get(link_key(key), 0) for key in keys]


def test_another_rule_for_links_is_refused(folder: Path) -> None:
    with pytest.raises(IndexFolderError, match="linked by names-1, the writer was given titles-1"):
        IndexWriter.open(folder, Hashing(), links=titled())


def test_a_second_writer_or_builder_is_turned_away(tmp_path: Path, folder: Path) -> None:
    with IndexWriter.open(folder, Hashing()):
        with pytest.raises(IndexBusyError, match="building or changing"):
            IndexWriter.open(folder, Hashing())
        with pytest.raises(IndexBusyError):
            build_index(tmp_path / "corpus.jsonl", folder, encoder=Hashing(), force=True)
    IndexWriter.open(folder, Hashing()).close()


def test_what_is_no_index_to_change_is_refused_and_left_alone(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="sufficit index build"):
        IndexWriter.open(tmp_path / "nothing", Hashing())
    assert not (tmp_path / "nothing").exists()
    other = Noting()
    other.fingerprint = "other"
    with pytest.raises(EncoderMismatchError):
        IndexWriter.open(folder, other)
    (folder / MANIFEST).write_text((folder / MANIFEST).read_text().replace('"format": 2', '"format": 1'))
    with pytest.raises(IndexVersionError, match="format 1"):
        IndexWriter.open(folder, Hashing())


def test_a_full_disk_leaves_the_last_commit(folder: Path) -> None:
    """Wherever it fills up, in texts, words or vectors: a typed error, and the index is as it was."""
    before = stored(folder)
    for room in (1 << 9, 1 << 14, 1 << 16, 1 << 17):
        with (
            IndexWriter.open(folder, Hashing()) as writer,
            small_files(room),
            pytest.raises(IndexFolderError, match="its rights"),
        ):
            _fill(writer)
        with LocalIndex.open(folder, Hashing()) as index:
            assert list(index) == before


def _fill(writer: IndexWriter) -> None:
    writer.add(document(f"new {number}", f"Moor {number} is wet. " * 9) for number in range(300))
    writer.commit()


@contextmanager
def small_files(room: int) -> Iterator[None]:
    """No file may grow beyond so many bytes, which the system refuses as it refuses a write to a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
