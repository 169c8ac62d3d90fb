"""Building an index: what goes in, when it is built again, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from retrieval import Passage
from retrieval.errors import CorpusError, IndexCorruptError, IndexFolderError
from retrieval.index import LocalIndex, Progress, TransformerEncoder, build_index
from retrieval.index.layout import vectors_files
from retrieval.index.manifest import MANIFEST
from tests.retrieval.indexes import Broken, Counting, jsonl, numbered, stored


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "corpus.jsonl", numbered(40))


def test_records_stay_whole_and_keep_their_identity(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """A benchmark's passage must be found under the identity of its own text."""
    text = "The old bridge was built by the queen. " * 45
    record = {"id": "7", "title": "Bridge", "text": text, "url": "https://example.org/bridge"}
    build_index(jsonl(tmp_path / "c.jsonl", [record]), tmp_path / "index", encoder=tiny_encoder)
    (passage,) = stored(tmp_path / "index")
    assert passage.id == Passage(text=text).id
    assert (passage.title, passage.source_id, passage.url) == ("Bridge", "7", "https://example.org/bridge")


def test_long_records_and_articles_are_cut(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """A record above 400 words is cut as an article is: chunks of at most 150 words that share the source."""
    text = "The old bridge was built by the queen. " * 60
    record = {"id": "7", "title": "Bridge", "text": text}
    build_index(jsonl(tmp_path / "c.jsonl", [record]), tmp_path / "a", encoder=tiny_encoder)
    pieces = stored(tmp_path / "a")
    assert all(len(piece.text.split()) <= 150 for piece in pieces)
    assert {piece.source_id for piece in pieces} == {"7"}
    folder = tmp_path / "articles"
    folder.mkdir()
    (folder / "bridge.txt").write_text(" ".join(f"Stone {n} stands in the river." for n in range(60)))
    build_index(folder, tmp_path / "b", encoder=tiny_encoder, max_words=30)
    assert max(len(piece.text.split()) for piece in stored(tmp_path / "b")) <= 30


def test_the_same_text_is_one_passage_with_all_its_sources(
    tmp_path: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R10 and the identity of passages: one text, one vector, one entry; two texts of one title are two."""
    records = [
        {"id": "1", "title": "A", "text": "The old bridge."},
        {"id": "2", "title": "B", "text": "The  old bridge."},
        {"id": "3", "title": "A", "text": "The new bridge."},
    ]
    counting = Counting(tiny_encoder)
    info = build_index(jsonl(tmp_path / "c.jsonl", records), tmp_path / "index", encoder=counting)
    assert (info.manifest.counts.documents, info.manifest.counts.passages) == (3, 2)
    assert counting.texts == ["A. The old bridge.", "A. The new bridge."]
    old, new = stored(tmp_path / "index")
    assert [place.title for place in old.provenance] == ["A", "B"]
    assert [place.source_id for place in new.provenance] == ["3"]
    with LocalIndex.open(tmp_path / "index", tiny_encoder) as index:
        assert len(index.by_words("old bridge", 5)) == 2


@pytest.mark.parametrize("texts", [[], [""], ["", ""], ["the the"]])
def test_corpora_of_next_to_nothing_build_and_search(
    tmp_path: Path, tiny_encoder: TransformerEncoder, texts: list[str]
) -> None:
    """R01: no exception, and a query without a word finds nothing."""
    records = [{"id": str(number), "title": "", "text": text} for number, text in enumerate(texts)]
    info = build_index(jsonl(tmp_path / "c.jsonl", records), tmp_path / "index", encoder=tiny_encoder)
    assert info.manifest.counts.passages == len([text for text in texts if text])
    with LocalIndex.open(tmp_path / "index", tiny_encoder) as index:
        index.warm()
        assert index.search("").hits == ()
        assert index.search("?! ...").hits == ()
        assert len(index.search("the", 10).hits) == len(index)


def test_progress_grows_in_each_phase(tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path) -> None:
    seen: list[Progress] = []
    build_index(corpus, tmp_path / "index", encoder=tiny_encoder, progress=seen.append)
    assert list(dict.fromkeys(step.phase for step in seen)) == ["reading", "words", "vectors"]
    for phase in ("reading", "words", "vectors"):
        steps = [step for step in seen if step.phase == phase]
        assert [step.done for step in steps] == sorted(step.done for step in steps)
        assert steps[-1].done == steps[-1].total > 0
        assert len({(step.total, step.unit) for step in steps}) == 1


def test_an_index_of_the_same_corpus_is_not_built_twice(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    first = build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
    counting = Counting(tiny_encoder)
    moved = corpus.rename(tmp_path / "renamed.jsonl")
    assert build_index(moved, tmp_path / "index", encoder=counting) == first
    assert counting.texts == []
    again = build_index(moved, tmp_path / "index", encoder=counting, force=True)
    assert len(counting.texts) == 40
    assert again.manifest.data != first.manifest.data


@pytest.mark.parametrize("change", ["corpus", "settings", "encoder"])
def test_a_change_makes_a_new_index(
    tmp_path: Path,
    tiny_encoder: TransformerEncoder,
    make_backbone: Callable[[int, int], Path],
    corpus: Path,
    change: str,
) -> None:
    build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
    encoder = TransformerEncoder.named(str(make_backbone(32, 2))) if change == "encoder" else tiny_encoder
    if change == "corpus":
        jsonl(corpus, numbered(7))
    counting = Counting(encoder)
    build_index(corpus, tmp_path / "index", encoder=counting, max_words=149 if change == "settings" else 150)
    assert len(counting.texts) == (7 if change == "corpus" else 40)


def test_a_damaged_index_is_built_again(tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path) -> None:
    info = build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
    (vectors,) = vectors_files(tmp_path / "index" / info.manifest.data)
    vectors.write_bytes(b"")
    build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
    with LocalIndex.open(tmp_path / "index", tiny_encoder) as index:
        assert len(index) == info.manifest.counts.passages > 0


def test_folders_of_something_else_are_left_alone(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"cat")
    for out in (tmp_path / "photos", corpus):
        with pytest.raises(IndexFolderError):
            build_index(corpus, out, encoder=tiny_encoder)
    assert [path.name for path in (tmp_path / "photos").iterdir()] == ["cat.jpg"]


def test_a_missing_corpus_is_a_typed_error_and_leaves_no_index(
    tmp_path: Path, tiny_encoder: TransformerEncoder
) -> None:
    with pytest.raises(CorpusError):
        build_index(tmp_path / "missing.jsonl", tmp_path / "index", encoder=tiny_encoder)
    assert not (tmp_path / "index" / MANIFEST).exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, 1.0])
def test_an_encoder_that_returns_no_unit_rows_stops_the_build(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path, value: float
) -> None:
    with pytest.raises(ValueError, match="not of length one"):
        build_index(corpus, tmp_path / "index", encoder=Broken(tiny_encoder, np.full(32, value)))
    assert not (tmp_path / "index" / MANIFEST).exists()


def test_an_encoder_that_returns_one_vector_for_all_texts_is_noticed(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    """R09: the index checks itself before it is published."""
    with pytest.raises(IndexCorruptError, match="same vector"):
        build_index(corpus, tmp_path / "index", encoder=Broken(tiny_encoder, np.eye(32)[0]))
    assert not (tmp_path / "index" / MANIFEST).exists()


def test_spaces_in_every_path(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    corpus = jsonl(tmp_path / "my corpus #1.jsonl", numbered(9))
    out = tmp_path / "my index? 100%"
    build_index(corpus, out, encoder=tiny_encoder)
    with LocalIndex.open(out, tiny_encoder) as index:
        assert len(index.search("bridge", 3).hits) == 3


def test_a_folder_that_cannot_be_made_is_a_typed_error(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below a file, and in a place where nothing may be written: what was found and what to do."""
    with pytest.raises(IndexFolderError, match=r"cannot be used: Not a directory.*Name a folder"):
        build_index(corpus, corpus / "index", encoder=tiny_encoder)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refused)
    with pytest.raises(IndexFolderError, match="cannot be used: Permission denied"):
        build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
