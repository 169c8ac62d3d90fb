"""An index is changed: only what is new is encoded, and readers see a commit or nothing of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.corpora import Document
from retrieval.errors import (
    DocumentUnknownError,
    IndexFolderError,
)
from retrieval.index import IndexWriter, LocalIndex, build_index, index_info
from retrieval.index.change import add_to_index, delete_from_index
from retrieval.index.layout import vectors_files
from tests.retrieval.indexes import Hashing, Noting, document, jsonl, numbered, stored


@pytest.fixture
def encoder() -> Noting:
    return Noting()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of five records: `Title 3. The bridge number 3 of the old city.`"""
    build_index(jsonl(tmp_path / "corpus.jsonl", numbered(5)), tmp_path / "index", encoder=Hashing())
    return tmp_path / "index"


def texts_of(folder: Path) -> list[str]:
    return sorted(passage.text for passage in stored(folder))


def found(index: LocalIndex[Hashing], query: str) -> list[str]:
    return [hit.passage.text for hit in index.search(query, 9).hits]


def test_changes_are_seen_at_the_commit_and_only_what_is_new_is_encoded(folder: Path, encoder: Noting) -> None:
    """An open index follows the writer, whole commits at a time."""
    with LocalIndex.open(folder, Hashing()) as index, IndexWriter.open(folder, encoder) as writer:
        writer.add([document("3", "A red ferry.", "Boats"), document("9", "A moor is wet."), document("1", "x")])
        assert writer.delete(["1"]) == 1
        assert encoder.texts == []
        assert found(index, "ferry moor") == []
        assert len(index) == 5
        writer.commit()
        assert sorted(encoder.texts) == ["A moor is wet.", "Boats. A red ferry."]
        assert found(index, "ferry")[0] == "A red ferry."
        assert found(index, "moor")[0] == "A moor is wet."
        assert len(index) == 5
        assert index.info.documents == 5
    assert texts_of(folder) == [
        "A moor is wet.",
        "A red ferry.",
        *(f"The bridge number {number} of the old city." for number in (0, 2, 4)),
    ]


def test_a_shared_text_lives_as_long_as_one_of_its_documents(folder: Path, encoder: Noting) -> None:
    """It is encoded anew only where the heading under which it stands becomes another."""
    with IndexWriter.open(folder, encoder) as writer:
        writer.add([document("a", "A moor.", "T"), document("b", "A  moor.", "T"), document("c", "A moor.", "U")])
        writer.commit()
        assert encoder.texts == ["T. A moor."]
        writer.delete(["a"])
        writer.commit()
        assert encoder.texts == ["T. A moor.", "T. A  moor."]
        writer.delete(["b"])
        writer.commit()
        assert encoder.texts[-1] == "U. A moor."
        (shared,) = (passage for passage in stored(folder) if "moor" in passage.text)
        assert [place.source_id for place in shared.provenance] == ["c"]
        writer.delete(["c"])
        writer.commit()
    assert not any("moor" in text for text in texts_of(folder))


def test_an_unknown_id_deletes_nothing_unless_it_may_be_missing(folder: Path, encoder: Noting) -> None:
    with IndexWriter.open(folder, encoder) as writer:
        with pytest.raises(DocumentUnknownError, match=r"'nine'; nothing was deleted.*missing-ok"):
            writer.delete(["1", "nine"])
        writer.commit()
        assert index_info(folder).documents == 5
        assert writer.delete(["1", "nine", "1"], missing_ok=True) == 1
        writer.commit()
    assert index_info(folder).documents == 4


def test_a_document_without_a_text_is_a_document(folder: Path, encoder: Noting) -> None:
    """It has no passage, and yet adding and deleting it are changes."""
    with IndexWriter.open(folder, encoder) as writer:
        writer.add([Document(id="9", title="Moor")])
        writer.commit()
        writer.commit()
        assert (index_info(folder).documents, index_info(folder).changes) == (6, 1)
        assert writer.delete(["9"]) == 1
        writer.commit()
    assert (index_info(folder).documents, index_info(folder).changes) == (5, 2)


def test_what_was_not_committed_is_gone(folder: Path, encoder: Noting) -> None:
    before = stored(folder)
    with IndexWriter.open(folder, encoder) as writer:
        writer.add([document("9", "A moor is wet.")])
    assert stored(folder) == before
    assert index_info(folder).changes == 0


def test_an_encoder_that_fails_leaves_the_last_commit_and_a_writer_that_works(
    folder: Path, encoder: Noting
) -> None:
    with IndexWriter.open(folder, encoder) as writer:
        writer.add([document("8", "A ferry.")])
        writer.commit()
        encoder.fails = True
        writer.add([document("9", "A moor is wet.")])
        with pytest.raises(RuntimeError, match="on fire"):
            writer.commit()
        encoder.fails = False
        writer.commit()
        assert index_info(folder).documents == 6
        writer.add([document("9", "A moor is wet.")])
        writer.commit()
    with LocalIndex.open(folder, Hashing()) as index:
        assert found(index, "wet moor")[0] == "A moor is wet."


def test_an_iterable_that_fails_drops_what_it_gave(folder: Path, encoder: Noting) -> None:
    def documents() -> Iterable[Document]:
        yield document("9", "A moor is wet.")
        raise OSError("the corpus is gone")

    with IndexWriter.open(folder, encoder) as writer:
        with pytest.raises(OSError, match="is gone"):
            writer.add(documents())
        writer.commit()
    assert index_info(folder).documents == 5


def test_an_interrupted_addition_goes_on(
    tmp_path: Path, folder: Path, encoder: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches are committed as they go; the same call again encodes and writes only what is missing."""
    monkeypatch.setattr("retrieval.index.writer.BATCH", 10)
    corpus = jsonl(tmp_path / "more.jsonl", numbered(45, word="castle"))

    class Interrupted(Noting):
        def encode(self, texts: Iterable[str]) -> NDArray[np.float32]:
            self.fails = len(self.texts) >= 20
            return super().encode(texts)

    with pytest.raises(RuntimeError):
        add_to_index(corpus, folder, encoder=Interrupted())
    assert len(texts_of(folder)) == 25
    shown: list[tuple[str, int, int]] = []
    info = add_to_index(
        corpus, folder, encoder=encoder, progress=lambda step: shown.append((step.phase, step.done, step.total))
    )
    assert (info.documents, info.passages, len(encoder.texts)) == (45, 45, 20)
    assert max(done for name, done, _ in shown if name == "vectors") == 20
    for phase in ("reading", "vectors"):
        assert [done for name, done, _ in shown if name == phase] == sorted(
            done for name, done, _ in shown if name == phase
        )
    changes = info.changes
    assert add_to_index(corpus, folder, encoder=encoder).changes == changes


def test_documents_of_one_call_that_share_an_id_are_all_kept(folder: Path, encoder: Noting) -> None:
    """As a build keeps them; the next call replaces them all."""
    with IndexWriter.open(folder, encoder) as writer:
        writer.add([document("9", "One moor."), document("9", "Two moors.")])
        writer.commit()
        assert {"One moor.", "Two moors."} <= set(texts_of(folder))
        writer.add([document("9", "A third moor.")])
        writer.commit()
    assert [text for text in texts_of(folder) if "moor" in text] == ["A third moor."]


def test_long_documents_are_cut_as_the_build_cut_them(tmp_path: Path, encoder: Noting) -> None:
    corpus = jsonl(tmp_path / "c.jsonl", [])
    build_index(corpus, tmp_path / "index", encoder=Hashing(), max_words=8, overlap=1)
    text = "It is old. It is new. A ferry goes there. It is a white one."
    with IndexWriter.open(tmp_path / "index", encoder) as writer:
        writer.add([document("a", text)])
        writer.commit()
    pieces = [passage.text for passage in stored(tmp_path / "index")]
    assert pieces == ["It is old. It is new.", "A ferry goes there.", "It is a white one."]
    assert {passage.source_id for passage in stored(tmp_path / "index")} == {"a"}


def test_compaction_shrinks_the_files_and_changes_no_answer(folder: Path, encoder: Noting) -> None:
    """An index that was opened before goes on, and so does the writer."""
    with LocalIndex.open(folder, Hashing()) as index, IndexWriter.open(folder, encoder) as writer:
        writer.add(document(str(number), f"A castle numbered {number} stands.") for number in range(60))
        writer.commit()
        writer.delete([str(number) for number in range(60) if number % 9])
        writer.commit()
        before = index.search("castle 27 old city", 9).hits
        size = _vectors(folder).stat().st_size
        with index.view() as view:
            writer.compact()
            assert view.passages([hit.passage.id for hit in before]) == [hit.passage for hit in before]
            assert view.nearest(view.vector(int(view.numbers()[0])), 1)
        after = index.search("castle 27 old city", 9).hits
        assert [(hit.passage, hit.score) for hit in after] == [(hit.passage, hit.score) for hit in before]
        assert _vectors(folder).stat().st_size == len(index) * 16 * 4 < size
        writer.add([document("new", "A new moor.")])
        writer.commit()
        assert found(index, "moor")[0] == "A new moor."


def test_compaction_gives_the_space_of_texts_back(folder: Path, encoder: Noting) -> None:
    (database,) = folder.glob("data-*/index.sqlite")
    delete = [str(number) for number in range(300)]
    with IndexWriter.open(folder, encoder) as writer:
        writer.add(document(key, f"A castle numbered {key} stands. " * 20) for key in delete)
        writer.commit()
    size = database.stat().st_size
    with IndexWriter.open(folder, encoder) as writer:
        writer.delete(delete)
        writer.compact()
    assert database.stat().st_size < size / 2


def _vectors(folder: Path) -> Path:
    (file,) = vectors_files(folder / index_info(folder).manifest.data)
    return file


def test_a_view_is_one_state_in_all_its_parts(folder: Path, encoder: Noting) -> None:
    """Words, vectors and texts are of the moment when it was taken, until it is closed."""
    with LocalIndex.open(folder, Hashing()) as index, IndexWriter.open(folder, encoder) as writer:
        with index.view() as view:
            writer.delete(["3"])
            writer.add([document("9", "A moor is wet.")])
            writer.commit()
            old = view.words("number 3", 1)[0][0]
            assert view.passages([old])[0].source_id == "3"
            assert old in dict(view.nearest(Hashing().encode(["Title 3 number 3"])[0], 9))
            assert view.words("moor", 9) == []
            assert (len(view), view.counts()) == (5, (5, 5))
        assert old not in dict(index.by_vectors("Title 3 number 3", 9))
        with pytest.raises(IndexFolderError, match="view of the index was closed"):
            view.words("moor", 9)


def test_a_changed_index_is_built_again_from_its_corpus(tmp_path: Path, folder: Path) -> None:
    """What was added is no part of the corpus: the same build gives the corpus again."""
    info = delete_from_index(["2"], folder, encoder=Hashing())
    assert (info.documents, info.changes, info.updated is None) == (4, 1, False)
    again = build_index(tmp_path / "corpus.jsonl", folder, encoder=Hashing())
    assert (again.documents, again.changes, again.updated) == (5, 0, None)
