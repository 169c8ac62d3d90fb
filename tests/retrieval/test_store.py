"""Passages go into the store and come out whole, by id, from any thread."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage, Provenance
from retrieval.errors import IndexCorruptError, IndexFolderError, IndexNotFoundError
from retrieval.index.store import PASSAGES, PassageStore, PassageWriter

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLACES = st.builds(Provenance, source_id=WORDS, title=WORDS, section=WORDS, url=st.none() | WORDS)
PASSAGES_ = st.builds(
    Passage,
    text=st.sampled_from(["one", "two", " two ", "ＴＷＯ", "a\x00b", "'; DROP TABLE passages; --"]) | WORDS,
    title=WORDS,
    section=WORDS,
    source_id=WORDS.filter(bool),
    url=st.none() | WORDS,
    also=st.lists(PLACES, max_size=2).map(tuple),
)


def stored(folder: Path, passages: list[Passage]) -> PassageStore:
    with PassageWriter(folder) as writer:
        for passage in passages:
            writer.add(passage)
    return PassageStore(folder)


@settings(max_examples=25)
@given(passages=st.lists(PASSAGES_, max_size=8))
def test_what_goes_in_comes_out_merged(tmp_path_factory: pytest.TempPathFactory, passages: list[Passage]) -> None:
    """R10: one row a text; each text has all its sources, as merging in memory gives them."""
    store = stored(tmp_path_factory.mktemp("store"), passages)
    expected: dict[str, Passage] = {}
    for passage in passages:
        known = expected.get(passage.id)
        expected[passage.id] = passage if known is None else known.merged_with(passage)
    assert len(store) == len(expected)
    assert list(store.ids()) == list(expected)
    found = store.get(list(expected))
    assert [_as_set(passage) for passage in found] == [_as_set(passage) for passage in expected.values()]
    assert store.rows(0, 100) == found
    store.close()


def _as_set(passage: Passage) -> tuple[str, Provenance, frozenset[Provenance]]:
    return passage.text, passage.provenance[0], frozenset(passage.provenance)


def test_two_texts_of_one_title_are_both_kept(tmp_path: Path) -> None:
    """R10."""
    store = stored(tmp_path, [Passage(text="One.", title="T"), Passage(text="Two.", title="T")])
    assert {passage.text for passage in store.rows(0, 9)} == {"One.", "Two."}


def test_a_passage_is_found_in_the_order_that_was_asked(tmp_path: Path) -> None:
    passages = [Passage(text=f"text {number}", source_id="s") for number in range(1200)]
    store = stored(tmp_path, passages)
    wanted = [passages[number].id for number in (1100, 3, 700, 3)]
    assert [passage.text for passage in store.get(wanted)] == ["text 1100", "text 3", "text 700", "text 3"]
    assert len(store.get([passage.id for passage in passages])) == 1200
    assert [passage.text for passage in store.rows(1198, 10)] == ["text 1198", "text 1199"]
    assert store.get([]) == []


def test_a_missing_passage_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(IndexCorruptError, match="lacks 1 passages"):
        stored(tmp_path, [Passage(text="x")]).get([Passage(text="y").id])


def test_a_changed_text_is_not_passed_off_as_the_old_one(tmp_path: Path) -> None:
    """The id of what comes out is computed from its text; the row's word is not taken for it."""
    stored(tmp_path, [Passage(text="x")]).close()
    with sqlite3.connect(tmp_path / PASSAGES) as connection:
        connection.execute("UPDATE passages SET text = 'forged'")
    connection.close()
    with pytest.raises(IndexCorruptError):
        PassageStore(tmp_path).get([Passage(text="x").id])


def test_nothing_is_kept_of_a_writer_that_failed(tmp_path: Path) -> None:
    with contextlib.suppress(RuntimeError), PassageWriter(tmp_path) as writer:
        writer.add(Passage(text="x"))
        raise RuntimeError
    assert len(PassageStore(tmp_path)) == 0
    with PassageWriter(tmp_path) as writer:
        assert writer.add(Passage(text="x"))


def test_other_names_lead_to_documents(tmp_path: Path) -> None:
    with PassageWriter(tmp_path) as writer:
        writer.add_alias("UK", source_id="7", title="United Kingdom")
        writer.add_alias("UK", source_id="9", title="Another")
    store = PassageStore(tmp_path)
    assert store.named("UK") == [("7", "United Kingdom"), ("9", "Another")]
    assert store.named("uk") == []


def test_threads_read_one_store(tmp_path: Path) -> None:
    passages = [Passage(text=f"text {number}") for number in range(300)]
    store = stored(tmp_path, passages)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda passage: store.get([passage.id])[0], passages * 3))
    assert found == passages * 3


def test_no_store_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        PassageStore(tmp_path)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00" + b"junk" * 300, b"text"])
def test_an_unreadable_store_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / PASSAGES).write_bytes(content)
    with pytest.raises(IndexCorruptError, match="Build the index again"):
        PassageStore(tmp_path)


def test_damage_inside_is_a_typed_error_or_does_no_harm(tmp_path: Path) -> None:
    passages = [Passage(text=f"text {number} " * 40) for number in range(60)]
    stored(tmp_path, passages).close()
    whole = (tmp_path / PASSAGES).read_bytes()
    for place in range(100, len(whole), 3001):
        damaged = bytearray(whole)
        damaged[place : place + 64] = b"\xff" * 64
        (tmp_path / PASSAGES).write_bytes(damaged)
        try:
            store = PassageStore(tmp_path)
            found = store.get([passage.id for passage in passages])
        except IndexCorruptError:
            continue
        assert [passage.id for passage in found] == [passage.id for passage in passages]


def test_a_folder_with_odd_signs_in_its_name_works(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%20 é"
    folder.mkdir()
    assert len(stored(folder, [Passage(text="x")])) == 1


def test_passages_of_a_closed_store_stay_usable(tmp_path: Path) -> None:
    store = stored(tmp_path, [Passage(text="x")])
    found = store.rows(0, 1)
    store.close()
    assert len(EvidenceSet.of(found)) == 1
    with pytest.raises(IndexFolderError, match="closed"):
        store.rows(0, 1)
