"""The local index as a tier: half of it may fail, time may run out, many may search at once."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import Request, Retrieved, Retriever
from retrieval.errors import IndexFolderError, TierTimeoutError, TierUnavailableError
from retrieval.index import IndexWriter, LocalIndex, LocalTier, TransformerEncoder
from tests.retrieval.indexes import TEXTS, Changed, made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: TransformerEncoder) -> Path:
    """An index of a few texts in several scripts."""
    return made(tmp_path_factory.mktemp("local"), tiny_encoder, TEXTS.values())


@pytest.fixture
def index(folder: Path, tiny_encoder: TransformerEncoder) -> LocalIndex[TransformerEncoder]:
    return LocalIndex.open(folder, tiny_encoder)


def ask(tier: Retriever, query: str, k: int = 3, **more: object) -> Retrieved:
    return asyncio.run(tier.retrieve(Request(query=query, k=k, **more)))  # type: ignore[arg-type]


def texts_of(found: Retrieved) -> list[str]:
    return [hit.passage.text for hit in found.hits]


def fails(_: Sequence[str]) -> NDArray[np.float32]:
    raise RuntimeError("out of memory")


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
    monkeypatch.setattr("retrieval.index.sparse.SparseIndex.search_in", _raise)
    found = ask(LocalTier(index), "the old bridge was built by a captain", k=3)
    assert [event.kind for event in found.events] == ["words_failed"]
    assert found.degraded
    assert len(found.hits) == 3


def _raise(*_: object, **__: object) -> None:
    raise OSError("the disk is gone")


def test_a_tier_of_which_nothing_works_is_a_typed_error(
    folder: Path, tiny_encoder: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.index.sparse.SparseIndex.search_in", _raise)
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


def test_a_cancelled_search_lets_go_of_the_state_that_it_saw(
    tmp_path: Path, tiny_encoder: TransformerEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L13: a writer, which needs a moment without a reader to begin, is not kept out by what was abandoned."""
    monkeypatch.setattr("retrieval.index.sqlite._BUSY_SECONDS", 0.05)
    begun, release = threading.Event(), threading.Event()

    def slow(texts: Sequence[str]) -> NDArray[np.float32]:
        begun.set()
        release.wait(30.0)
        return tiny_encoder.encode(texts)

    out = made(tmp_path, tiny_encoder, TEXTS.values())
    index = LocalIndex.open(out, Changed(tiny_encoder, encode=slow))

    async def cancelled() -> None:
        search = asyncio.create_task(LocalTier(index).retrieve(Request(query="bridge", k=1)))
        assert await asyncio.to_thread(begun.wait, 30.0)
        with pytest.raises(IndexFolderError, match="in use"):
            IndexWriter.open(out, tiny_encoder)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        IndexWriter.open(out, tiny_encoder).close()

    try:
        asyncio.run(cancelled())
    finally:
        release.set()
    index.close()


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
