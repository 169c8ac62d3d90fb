"""What the local index finds: the cases R01 to R04 and R07 to R09."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import Passage, Request, Retrieved, Retriever
from retrieval.index import LocalIndex, LocalTier, TransformerEncoder
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


def test_never_more_hits_than_passages(index: LocalIndex[TransformerEncoder]) -> None:
    """R07."""
    found = index.search("the bridge of the queen", 1000)
    assert len(found.hits) == len({hit.passage.id for hit in found.hits}) == len(index) == len(TEXTS)


def test_other_queries_have_other_results(index: LocalIndex[TransformerEncoder]) -> None:
    """R09."""
    assert texts_of(index.search("the old bridge", 1)) != texts_of(index.search("a queen on the island", 1))


def test_excluded_passages_do_not_return(index: LocalIndex[TransformerEncoder]) -> None:
    first = index.search("the old bridge", 3).hits
    exclude = frozenset(hit.passage.id for hit in first)
    second = ask(LocalTier(index), "the old bridge", k=100, exclude=exclude).hits
    assert {hit.passage.id for hit in second}.isdisjoint(exclude)
    assert len(first) + len(second) == len(index)


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
