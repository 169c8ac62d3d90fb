"""The local index goes on from passages that were found before: by their links, beside words and vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval import Request, Retrieved
from retrieval.index import IndexWriter, LinkRule, LocalIndex, LocalTier, build_index
from retrieval.index.link_rule import NAME_LINKS
from retrieval.passage import passage_id
from tests.retrieval.indexes import Hashing, jsonl, numbered

BRIDGE = "The crossing at the mill was designed by Ilse Aue."
DESIGNER = "She learned to draw in Tamworth."
CHAIN = [
    {"id": "bridge", "title": "Orn Bridge", "text": BRIDGE},
    {"id": "designer", "title": "Ilse Aue", "text": DESIGNER},
]
QUERY = "what mill spans"


def built(parent: Path, *, links: LinkRule | None = NAME_LINKS) -> Path:
    """The chain among 150 other passages."""
    corpus = jsonl(parent / "corpus.jsonl", [*CHAIN, *numbered(150)])
    build_index(corpus, parent / "index", encoder=Hashing(), links=links)
    return parent / "index"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("chain"))


@pytest.fixture
def index(folder: Path) -> Iterator[LocalIndex[Hashing]]:
    with LocalIndex.open(folder, Hashing()) as opened:
        yield opened


def ask(
    index: LocalIndex[Hashing], *seeds: str, question: str = "", exclude: frozenset[str] = frozenset()
) -> Retrieved:
    """Hits for `QUERY`; seeds are given by their texts."""
    request = Request(query=QUERY, k=5, question=question, seeds=tuple(map(passage_id, seeds)), exclude=exclude)
    return asyncio.run(LocalTier(index).retrieve(request))


def texts_of(found: Retrieved) -> list[str]:
    return [hit.passage.text for hit in found.hits]


def kinds(found: Retrieved) -> list[str]:
    return [event.kind for event in found.events]


def test_a_seed_brings_in_what_neither_words_nor_vectors_find(index: LocalIndex[Hashing]) -> None:
    """The second step of a chain shares nothing with the query; the seed names it."""
    assert DESIGNER not in texts_of(ask(index))
    found = ask(index, BRIDGE)
    assert DESIGNER in texts_of(found)
    assert (len(found.hits), found.degraded) == (5, False)
    assert len({hit.passage.id for hit in found.hits}) == 5


def test_links_rank_by_what_the_question_asks_and_never_return_a_seed(index: LocalIndex[Hashing]) -> None:
    """Finite scores, best first; what is excluded, or a seed itself, is no candidate."""
    bridge, designer = map(passage_id, (BRIDGE, DESIGNER))
    ((key, score),) = index.by_links([bridge], QUERY, 5)
    assert key == designer
    assert np.isfinite(score)
    assert index.by_links([bridge, designer], QUERY, 5) == []
    assert index.by_links([bridge], QUERY, 5, frozenset({designer})) == []


def test_links_share_nothing_between_answers(index: LocalIndex[Hashing], tmp_path: Path) -> None:
    """R08: k = 5 then 10, a list that the caller empties, another index with the same encoder and seed."""
    bridge = passage_id(BRIDGE)
    five, ten = (index.by_links([bridge], QUERY, k) for k in (5, 10))
    assert five == ten
    expected = list(ten)
    ten.clear()
    assert index.by_links([bridge], QUERY, 10) == expected
    other = jsonl(tmp_path / "c.jsonl", [CHAIN[0], {"id": "x", "title": "Ilse Aue", "text": "A ship."}])
    build_index(other, tmp_path / "index", encoder=Hashing())
    with LocalIndex.open(tmp_path / "index", Hashing()) as opened:
        assert [key for key, _ in opened.by_links([bridge], QUERY, 10)] == [passage_id("A ship.")]


def test_what_is_excluded_stays_out(index: LocalIndex[Hashing]) -> None:
    assert DESIGNER not in texts_of(ask(index, BRIDGE, exclude=frozenset({passage_id(DESIGNER)})))


@pytest.mark.parametrize("question", ["Who taught Ilse Aue?", "who taught ILSE AUE"])
def test_the_questions_own_names_lead_nowhere(index: LocalIndex[Hashing], question: str) -> None:
    """The question counts, not the query of this turn; without a question the query does."""
    assert texts_of(ask(index, BRIDGE, question=question)) == texts_of(ask(index))


def test_nothing_to_go_on_from_changes_nothing(index: LocalIndex[Hashing]) -> None:
    """Unknown seeds (deleted since, or of another tier), a question without a word, no hits wanted."""
    assert texts_of(ask(index, "was never there")) == texts_of(ask(index))
    bridge = passage_id(BRIDGE)
    assert index.by_links([bridge], "?!", 5) == index.by_links([bridge], QUERY, 0) == []


def test_an_index_without_links_takes_seeds_and_finds_what_it_can(tmp_path: Path) -> None:
    """Built with `links=None`: the same hits as without seeds, and nothing is wrong."""
    with LocalIndex.open(built(tmp_path, links=None), Hashing()) as index:
        found = ask(index, BRIDGE)
        assert texts_of(found) == texts_of(ask(index))
        assert (found.events, found.degraded) == ((), False)


def test_links_that_fail_leave_words_and_vectors(
    index: LocalIndex[Hashing], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes on, and says what was missing."""
    before = texts_of(ask(index))
    monkeypatch.setattr("retrieval.index.links.Links.of", _raise)
    found = ask(index, BRIDGE)
    assert texts_of(found) == before
    assert kinds(found) == ["links_failed"]
    assert found.degraded
    assert "the disk is gone" in found.events[0].detail


def _raise(*_: object) -> None:
    raise ValueError("the disk is gone")


def test_words_serve_alone_when_the_encoder_fails(folder: Path) -> None:
    """Links are ordered by vectors, so both are gone; each is reported."""

    class Failing(Hashing):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            raise RuntimeError("out of memory")

    with LocalIndex.open(folder, Failing()) as index:
        found = ask(index, BRIDGE)
    assert texts_of(found)[0] == BRIDGE
    assert kinds(found) == ["vectors_failed", "links_failed"]


def test_vectors_that_are_no_numbers_never_rank_links(folder: Path) -> None:
    """NaN never decides."""

    class Nothing(Hashing):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), self.dims), np.nan, dtype=np.float32)

    with LocalIndex.open(folder, Nothing()) as index:
        assert index.by_links([passage_id(BRIDGE)], QUERY, 5) == []
        assert texts_of(ask(index, BRIDGE)) == texts_of(ask(index))


def test_an_open_index_follows_the_writer(tmp_path: Path) -> None:
    """L13 for links: what is deleted is no candidate any more, without opening the index again."""
    out = built(tmp_path)
    with LocalIndex.open(out, Hashing()) as index:
        assert index.by_links([passage_id(BRIDGE)], QUERY, 5)
        with IndexWriter.open(out, Hashing()) as writer:
            writer.delete(["designer"])
            writer.commit()
        assert index.by_links([passage_id(BRIDGE)], QUERY, 5) == []
