"""Building an index: what goes in, going on after a kill, publishing in one step, one builder at a time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import Passage
from retrieval.errors import CorpusError, IndexBusyError, IndexCorruptError, IndexFolderError
from retrieval.index import LocalIndex, Progress, TransformerEncoder, build_index, index_info
from retrieval.index.manifest import MANIFEST
from retrieval.index.store import PassageStore

Record = dict[str, str]


class Counting:
    """An encoder that counts what it encodes and fails after so many calls."""

    def __init__(self, inner: TransformerEncoder, *, fails_after: int | None = None) -> None:
        self._inner, self._left = inner, fails_after
        self.texts: list[str] = []

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        return self._inner.fingerprint

    @property
    def dims(self) -> int:
        return self._inner.dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._left is not None:
            if self._left == 0:
                raise RuntimeError("the machine is on fire")
            self._left -= 1
        self.texts.extend(texts)
        return self._inner.encode(texts)


def jsonl(path: Path, records: Iterable[Record]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def numbered(count: int, *, word: str = "bridge") -> list[Record]:
    return [
        {"id": str(number), "title": f"Title {number}", "text": f"The {word} number {number} of the old city."}
        for number in range(count)
    ]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return jsonl(tmp_path / "corpus.jsonl", numbered(40))


@pytest.fixture
def long_corpus(tmp_path: Path) -> Path:
    """Three blocks of encoding, the last one short."""
    return jsonl(tmp_path / "long.jsonl", numbered(1100))


def stored(out: Path) -> list[Passage]:
    store = PassageStore(out / index_info(out).manifest.data)
    found = store.rows(0, 1_000_000)
    store.close()
    return found


def vectors(out: Path) -> bytes:
    return (out / index_info(out).manifest.data / "vectors.npy").read_bytes()


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
    (tmp_path / "index" / info.manifest.data / "vectors.npy").write_bytes(b"")
    build_index(corpus, tmp_path / "index", encoder=tiny_encoder)
    LocalIndex.open(tmp_path / "index", tiny_encoder).close()


_KILLED = """
import os, signal, sys
from pathlib import Path
from retrieval.index import TransformerEncoder, build_index

class Killer(TransformerEncoder):
    calls = 0
    def encode(self, texts):
        if self.calls == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        self.calls += 1
        return super().encode(texts)

build_index(Path(sys.argv[1]), Path(sys.argv[2]), encoder=Killer.named(sys.argv[3]))
"""


def test_a_killed_build_goes_on_and_ends_up_the_same(
    tmp_path: Path, tiny_encoder: TransformerEncoder, tiny_backbone: Path, long_corpus: Path
) -> None:
    """After kill -9 while it encodes the old index still serves; the next build encodes only what is missing."""
    out = tmp_path / "index"
    build_index(jsonl(tmp_path / "old.jsonl", numbered(5, word="castle")), out, encoder=tiny_encoder)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(long_corpus), str(out), str(tiny_backbone)], check=False, timeout=100
    )
    assert killed.returncode == -signal.SIGKILL
    with LocalIndex.open(out, tiny_encoder) as index:
        assert len(index) == 5
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100 - 2 * 512
    build_index(long_corpus, tmp_path / "whole", encoder=tiny_encoder)
    assert vectors(out) == vectors(tmp_path / "whole")
    assert stored(out) == stored(tmp_path / "whole")
    assert len([path for path in out.iterdir() if path.is_dir()]) == 1


def test_a_build_that_failed_leaves_the_old_index_and_goes_on(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    old = build_index(jsonl(tmp_path / "old.jsonl", numbered(5)), out, encoder=tiny_encoder)
    with pytest.raises(RuntimeError, match="on fire"):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    assert index_info(out) == old
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100 - 512


def test_work_after_another_plan_is_begun_again(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    jsonl(long_corpus, numbered(600, word="river"))
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 600
    assert len([path for path in out.iterdir() if path.is_dir()]) == 1


def test_a_plan_from_outside_cannot_lead_the_builder_out_of_its_folder(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out, victim = tmp_path / "index", tmp_path / "victim"
    victim.mkdir()
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    plan = json.loads((out / "building" / "plan.json").read_text()) | {"data": "../victim"}
    (out / "building" / "plan.json").write_text(json.dumps(plan))
    build_index(long_corpus, out, encoder=tiny_encoder)
    assert list(victim.iterdir()) == []


def test_damaged_work_is_refused_once_and_then_begun_again(
    tmp_path: Path, tiny_encoder: TransformerEncoder, long_corpus: Path
) -> None:
    out = tmp_path / "index"
    with pytest.raises(RuntimeError):
        build_index(long_corpus, out, encoder=Counting(tiny_encoder, fails_after=1))
    (texts,) = out.glob("data-*/passages.sqlite")
    texts.write_bytes(texts.read_bytes()[:5000])
    with pytest.raises(IndexCorruptError):
        build_index(long_corpus, out, encoder=tiny_encoder)
    counting = Counting(tiny_encoder)
    build_index(long_corpus, out, encoder=counting)
    assert len(counting.texts) == 1100


def test_a_finished_build_is_never_gone_on_with(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    """A kill between publishing and tidying up leaves a plan that names the published data."""
    out = tmp_path / "index"
    before = build_index(corpus, out, encoder=tiny_encoder)
    with pytest.raises(RuntimeError):
        build_index(corpus, out, encoder=Counting(tiny_encoder, fails_after=0), force=True)
    plan = json.loads((out / "building" / "plan.json").read_text()) | {"data": before.manifest.data}
    (out / "building" / "plan.json").write_text(json.dumps(plan))
    (out / "building" / "read.json").write_text("torn")
    after = build_index(corpus, out, encoder=tiny_encoder, force=True)
    assert after.manifest.data != before.manifest.data
    assert len(list(out.glob("data-*"))) == 1


def test_readers_see_the_old_index_until_the_new_one_is_whole(
    tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path
) -> None:
    """Opening works at every moment of a rebuild; an index that is open goes on as it was."""
    out = tmp_path / "index"
    build_index(jsonl(tmp_path / "old.jsonl", numbered(5, word="castle")), out, encoder=tiny_encoder)
    before = LocalIndex.open(out, tiny_encoder)
    sizes: list[int] = []

    def look(step: Progress) -> None:
        if step.phase != "reading":
            with LocalIndex.open(out, tiny_encoder) as index:
                sizes.append(len(index))

    build_index(corpus, out, encoder=tiny_encoder, progress=look)
    assert set(sizes) == {5}
    with LocalIndex.open(out, tiny_encoder) as after:
        assert len(after) == 40
    with ThreadPoolExecutor(8) as pool:  # more readers than before: each opens the old files anew
        found = list(pool.map(lambda _: len(before.search("castle number", 9).hits), range(24)))
    assert found == [5] * 24
    before.close()
    build_index(corpus, out, encoder=tiny_encoder, force=True)
    assert len(list(out.glob("data-*"))) == 1


def test_a_second_builder_is_turned_away(tmp_path: Path, tiny_encoder: TransformerEncoder, corpus: Path) -> None:
    out = tmp_path / "index"
    refused: list[BaseException] = []

    def build_too(_: Progress) -> None:
        if not refused:
            with pytest.raises(IndexBusyError, match="Another process") as caught:
                build_index(corpus, out, encoder=tiny_encoder)
            refused.append(caught.value)

    build_index(corpus, out, encoder=tiny_encoder, progress=build_too)
    assert len(refused) == 1
    build_index(corpus, out, encoder=tiny_encoder)


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


class Broken(Counting):
    """An encoder whose vectors cannot be used."""

    def __init__(self, inner: TransformerEncoder, row: NDArray[np.float32]) -> None:
        super().__init__(inner)
        self._row = row

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(self._row, (len(texts), 1)).astype(np.float32)


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
