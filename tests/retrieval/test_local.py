"""The local index as a tier: the cases R01 to R10 that concern it as a whole, and many searches at once."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import Passage, Request, Retrieved, Retriever
from retrieval.backbones import find_backbone
from retrieval.errors import (
    BackboneNotFoundError,
    EncoderMismatchError,
    IndexCorruptError,
    IndexNotFoundError,
    TierTimeoutError,
    TierUnavailableError,
)
from retrieval.index import Encoder, LocalIndex, LocalTier, TransformerEncoder, build_index, index_info
from retrieval.index.manifest import MANIFEST

TEXTS = {
    "bridge": "The old bridge was built by a captain in the north of the city.",
    "queen": "A queen was born on the island and moved to the castle.",
    "film": "The film is named for a river and was first seen in the east.",
    "japanese": "東京都は日本の首都です。",
    "kana": "テレビは居間にあります。",
    "korean": "서울은 대한민국의 수도이다.",
    "accents": "Zoë Müller lives in São Paulo.",
    "wide": "The model ＡＢＣ１２３ was sold in the west.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: TransformerEncoder) -> Path:
    """An index of a few texts in several scripts."""
    return made(tmp_path_factory.mktemp("local"), tiny_encoder, TEXTS.values())


def made(parent: Path, encoder: Encoder, texts: object) -> Path:
    assert isinstance(texts, type({}.values()) | list)
    records = [{"id": str(n), "title": f"Title {n}", "text": text} for n, text in enumerate(texts)]
    (parent / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    build_index(parent / "corpus.jsonl", parent / "index", encoder=encoder)
    return parent / "index"


@pytest.fixture
def index(folder: Path, tiny_encoder: TransformerEncoder) -> LocalIndex[TransformerEncoder]:
    return LocalIndex.open(folder, tiny_encoder)


class Changed:
    """The tiny encoder with one property or method replaced."""

    def __init__(self, inner: TransformerEncoder, **changes: object) -> None:
        self._inner, self._changes = inner, changes

    @property
    def name(self) -> str:
        return str(self._changes.get("name", self._inner.name))

    @property
    def fingerprint(self) -> str:
        return str(self._changes.get("fingerprint", self._inner.fingerprint))

    @property
    def dims(self) -> int:
        dims = self._changes.get("dims", self._inner.dims)
        assert isinstance(dims, int)
        return dims

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        encode = self._changes.get("encode", self._inner.encode)
        assert callable(encode)
        vectors: NDArray[np.float32] = encode(texts)
        return vectors


def fails(_: Sequence[str]) -> NDArray[np.float32]:
    raise RuntimeError("out of memory")


def ask(tier: Retriever, query: str, k: int = 3, **more: object) -> Retrieved:
    return asyncio.run(tier.retrieve(Request(query=query, k=k, **more)))  # type: ignore[arg-type]


def texts_of(found: Retrieved) -> list[str]:
    return [hit.passage.text for hit in found.hits]


def test_hits_keep_the_contract_of_a_tier(index: LocalIndex[TransformerEncoder]) -> None:
    tier = LocalTier(index, name="wiki")
    assert isinstance(tier, Retriever)
    found = ask(tier, "who built the old bridge", k=4)
    assert found.hits[0].passage.text == TEXTS["bridge"]
    assert [hit.rank for hit in found.hits] == [1, 2, 3, 4]
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert np.isfinite(scores).all()
    assert {(hit.tier, hit.query) for hit in found.hits} == {("wiki", "who built the old bridge")}
    assert len({hit.passage.id for hit in found.hits}) == 4
    assert (found.events, found.degraded) == ((), False)


@pytest.mark.parametrize("query", ["", "   ", "?!", "\u200b", "...\n"])
def test_a_query_without_a_word_finds_nothing(index: LocalIndex[TransformerEncoder], query: str) -> None:
    """R01."""
    assert ask(LocalTier(index), query) == Retrieved()
    assert index.search(query) == Retrieved()


@pytest.mark.parametrize("k", [0, -3])
def test_asking_for_no_hits_gives_none(index: LocalIndex[TransformerEncoder], k: int) -> None:
    assert index.search("bridge", k).hits == ()


@pytest.mark.parametrize("count", [1, 2])
def test_tiny_corpora_rank_the_match_first(tmp_path: Path, tiny_encoder: TransformerEncoder, count: int) -> None:
    """R02: a word's idf in one or two documents must not turn its match around."""
    out = made(tmp_path, tiny_encoder, [TEXTS["queen"], TEXTS["bridge"]][:count])
    with LocalIndex.open(out, tiny_encoder) as index:
        (best, score), *rest = index.by_words("queen", 5)
        assert (best, rest) == (Passage(text=TEXTS["queen"]).id, [])
        assert score > 0
        assert texts_of(index.search("queen", 5))[0] == TEXTS["queen"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("東京の首都", "japanese"), ("ﾃﾚﾋﾞ", "kana"), ("대한민국 수도", "korean"), ("首都", "japanese")],
)
def test_scripts_without_spaces_find_their_text(
    index: LocalIndex[TransformerEncoder], query: str, expected: str
) -> None:
    """R03: half-width kana too."""
    assert texts_of(ask(LocalTier(index), query))[0] == TEXTS[expected]


def test_texts_that_share_no_word_have_no_word_score(index: LocalIndex[TransformerEncoder]) -> None:
    """R03: hits with score zero are not evidence."""
    assert [key for key, _ in index.by_words("東京", 8)] == [Passage(text=TEXTS["japanese"]).id]
    assert all(score > 0 for _, score in index.by_words("the old queen", 8))


def test_far_vectors_are_no_evidence_where_no_word_matches(folder: Path, tiny_encoder: TransformerEncoder) -> None:
    """R03: a query in a script that nothing in the corpus has is a miss, not its least distant passage."""

    def opposite(texts: Sequence[str]) -> NDArray[np.float32]:
        return -tiny_encoder.encode(texts)

    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=opposite))
    assert index.by_words("ქართული", 5) == []
    assert index.search("ქართული").hits == ()
    assert len(index.search("the bridge", 8).hits) == 8


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Zoe\u0308 Mu\u0308ller", "accents"),
        ("Zo\u200dë", "accents"),
        ("Ｓão Ｐaulo", "accents"),
        ("ABC123", "wide"),
    ],
)
def test_other_forms_of_the_same_letters_match(
    index: LocalIndex[TransformerEncoder], query: str, expected: str
) -> None:
    """R04: NFD against NFC, full-width against ASCII, zero-width joiners."""
    assert index.by_words(query, 1)[0][0] == Passage(text=TEXTS[expected]).id


def test_another_width_is_refused_before_any_search(
    folder: Path, make_backbone: Callable[[int, int], Path]
) -> None:
    """R05: names both models and widths and says how to rebuild."""
    wide = TransformerEncoder.named(str(make_backbone(64, 1)))
    with pytest.raises(EncoderMismatchError, match=r"32 dims.*bert-64-1 \(64 dims.*sufficit index build"):
        LocalIndex.open(folder, wide)


def test_another_model_of_that_width_is_refused(folder: Path, make_backbone: Callable[[int, int], Path]) -> None:
    """R06."""
    with pytest.raises(EncoderMismatchError):
        LocalIndex.open(folder, TransformerEncoder.named(str(make_backbone(32, 2))))


def test_the_model_under_another_path_is_accepted(folder: Path, tiny_backbone: Path, tmp_path: Path) -> None:
    """R06: content counts, not place."""
    copy = Path(shutil.copytree(tiny_backbone, tmp_path / "elsewhere"))
    with LocalIndex.open(folder, TransformerEncoder(find_backbone("x", folder=copy))) as index:
        index.warm()
        assert len(index.search("bridge", 2).hits) == 2


def test_the_encoder_is_found_by_the_name_in_the_manifest(
    folder: Path, tiny_backbone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model built from a folder has the folder's name; where that leads nowhere the error says what to pass."""
    monkeypatch.chdir(tiny_backbone.parent)
    with LocalIndex.open(folder) as index:
        assert index.encoder.fingerprint == index_info(folder).manifest.encoder.fingerprint
    monkeypatch.chdir(folder)
    with pytest.raises(BackboneNotFoundError, match="Pass a folder"):
        LocalIndex.open(folder)


def test_a_manifest_cannot_make_us_download_a_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file from outside may name only models that this package knows."""

    def download(*_: object, **__: object) -> str:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    fields = json.loads((out / MANIFEST).read_text())
    fields["encoder"]["name"] = "stranger/model"
    (out / MANIFEST).write_text(json.dumps(fields))
    with pytest.raises(BackboneNotFoundError):
        LocalIndex.open(out)


def test_never_more_hits_than_passages(index: LocalIndex[TransformerEncoder]) -> None:
    """R07."""
    found = index.search("the bridge of the queen", 1000)
    assert len(found.hits) == len({hit.passage.id for hit in found.hits}) == len(index) == len(TEXTS)


def test_no_answer_shares_state_with_another(index: LocalIndex[TransformerEncoder]) -> None:
    """R08: k = 5, then 8, then 5 again; a list that a caller changed; the cached vector is read-only."""
    five, eight, again = (index.search("the old queen", k).hits for k in (5, 8, 5))
    assert [hit.passage for hit in eight[:5]] == [hit.passage for hit in five] == [hit.passage for hit in again]
    assert len(eight) == 8
    ranking = index.by_vectors("the old queen", 5)
    expected = list(ranking)
    ranking.clear()
    assert index.by_vectors("the old queen", 5) == expected
    with pytest.raises(dataclasses.FrozenInstanceError):
        five[0].rank = 9  # type: ignore[misc]


def test_another_index_gives_its_own_passages(
    tmp_path: Path, index: LocalIndex[TransformerEncoder], tiny_encoder: TransformerEncoder
) -> None:
    """R08: the same query on another index, with the same encoder object."""
    index.search("queen")
    with LocalIndex.open(made(tmp_path, tiny_encoder, ["The queen of spades."]), tiny_encoder) as other:
        assert texts_of(other.search("queen")) == ["The queen of spades."]


def test_other_queries_have_other_results(index: LocalIndex[TransformerEncoder]) -> None:
    """R09."""
    assert texts_of(index.search("the old bridge", 1)) != texts_of(index.search("a queen on the island", 1))


def test_an_encoder_that_changed_is_noticed_when_it_is_warmed(
    folder: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R09: the fingerprint is right, yet the vectors are not those of the index."""

    def wrong(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(tiny_encoder.encode(texts), 1, axis=1)

    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=wrong))
    with pytest.raises(IndexCorruptError, match="no longer makes the vectors"):
        index.warm()


def test_excluded_passages_do_not_return(index: LocalIndex[TransformerEncoder]) -> None:
    first = index.search("the old bridge", 3).hits
    exclude = frozenset(hit.passage.id for hit in first)
    second = ask(LocalTier(index), "the old bridge", k=100, exclude=exclude).hits
    assert {hit.passage.id for hit in second}.isdisjoint(exclude)
    assert len(first) + len(second) == len(index)


def test_words_serve_alone_when_the_encoder_fails(folder: Path, tiny_encoder: TransformerEncoder) -> None:
    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=fails))
    for found in (index.search("the old bridge"), ask(LocalTier(index), "the old bridge", k=5)):
        assert texts_of(found)[0] == TEXTS["bridge"]
        assert found.degraded
        assert [(event.kind, event.detail, event.where) for event in found.events] == [
            ("vectors_failed", "out of memory", "local")
        ]


def test_vectors_that_are_no_numbers_never_rank(folder: Path, tiny_encoder: TransformerEncoder) -> None:
    """NaN never decides."""

    def nothing(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 32), np.nan, dtype=np.float32)

    found = LocalIndex.open(folder, Changed(tiny_encoder, encode=nothing)).search("the old bridge")
    assert found.degraded
    assert texts_of(found)[0] == TEXTS["bridge"]


def test_vectors_serve_alone_when_words_cannot_be_searched(
    index: LocalIndex[TransformerEncoder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.index.sparse.SparseIndex.search", _raise)
    found = ask(LocalTier(index), "the old bridge was built by a captain", k=3)
    assert [event.kind for event in found.events] == ["words_failed"]
    assert found.degraded
    assert len(found.hits) == 3


def _raise(*_: object, **__: object) -> None:
    raise OSError("the disk is gone")


def test_a_tier_of_which_nothing_works_is_a_typed_error(
    folder: Path, tiny_encoder: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.index.sparse.SparseIndex.search", _raise)
    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=fails))
    with pytest.raises(TierUnavailableError, match="the disk is gone"):
        ask(LocalTier(index), "bridge")


def test_a_deadline_that_passed_is_a_typed_error(index: LocalIndex[TransformerEncoder]) -> None:
    with pytest.raises(TierTimeoutError, match="deadline"):
        ask(LocalTier(index), "bridge", deadline=time.monotonic() - 1.0)
    assert ask(LocalTier(index), "bridge", deadline=time.monotonic() + 60.0).hits


def test_a_deadline_passes_while_the_encoder_works(folder: Path, tiny_encoder: TransformerEncoder) -> None:
    release = threading.Event()

    def slow(texts: Sequence[str]) -> NDArray[np.float32]:
        release.wait(30.0)
        return tiny_encoder.encode(texts)

    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=slow))
    try:
        with pytest.raises(TierTimeoutError):
            asyncio.run(LocalTier(index).retrieve(Request(query="bridge", k=1, deadline=time.monotonic() + 0.05)))
    finally:
        release.set()


def test_nothing_is_encoded_on_the_event_loop(folder: Path, tiny_encoder: TransformerEncoder) -> None:
    """L14: the loop's thread only waits."""
    threads: list[threading.Thread] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        threads.append(threading.current_thread())
        return tiny_encoder.encode(texts)

    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=encode))
    assert ask(LocalTier(index), "bridge").hits
    assert ask(LocalTier(index), "bridge", k=5).hits
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_fifty_requests_at_once_equal_the_serial_ones(
    index: LocalIndex[TransformerEncoder], tmp_path: Path, tiny_encoder: TransformerEncoder
) -> None:
    """L12: two indexes searched at the same time by fifty requests; nothing crosses over."""
    other = LocalIndex.open(made(tmp_path, tiny_encoder, ["The queen of spades.", "A red ship."]), tiny_encoder)
    queries = [" ".join(text.split()[n : n + 4]) for text in TEXTS.values() for n in range(4)]
    jobs = [(tier, f"{query} {n}") for n, query in enumerate(queries) for tier in (index, other)][:50]

    async def all_at_once() -> list[Retrieved]:
        return await asyncio.gather(
            *(LocalTier(index).retrieve(Request(query=query, k=4)) for index, query in jobs)
        )

    serial = [index.search(query, 4) for index, query in jobs]
    assert [_plain(found) for found in asyncio.run(all_at_once())] == [_plain(found) for found in serial]
    other.close()


def _plain(found: Retrieved) -> list[tuple[str, float, int]]:
    return [(hit.passage.id, hit.score, hit.rank) for hit in found.hits]


def test_odd_queries_do_no_harm(index: LocalIndex[TransformerEncoder]) -> None:
    for query in (
        "\ud800 bridge",
        "bridge\x00",
        'bridge" OR "1',
        "bridge* NEAR(",
        "-bridge AND NOT",
        "b" * 100_000,
    ):
        assert not index.search(query, 2).degraded


def test_no_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="sufficit index build"):
        LocalIndex.open(tmp_path)


def test_parts_that_contradict_each_other_are_refused(
    tmp_path: Path, folder: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R09: files of another index with the right sizes and hashes on paper."""
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    other = made(tmp_path, tiny_encoder, [f"The song of {text}" for text in TEXTS.values()])
    for name in ("vectors.npy", "ids.npy", "passages.sqlite"):
        copy = Path(shutil.copytree(out, tmp_path / name))
        data = copy / index_info(copy).manifest.data
        shutil.copy(other / index_info(other).manifest.data / name, data / name)
        _forget_files(copy)
        if name == "vectors.npy":
            index = LocalIndex.open(copy, tiny_encoder)
            with pytest.raises(IndexCorruptError, match="no longer makes"):
                index.warm()
            continue
        with pytest.raises(IndexCorruptError, match="another text"):
            LocalIndex.open(copy, tiny_encoder)


def _forget_files(folder: Path) -> None:
    fields = json.loads((folder / MANIFEST).read_text()) | {"files": {}}
    (folder / MANIFEST).write_text(json.dumps(fields))
