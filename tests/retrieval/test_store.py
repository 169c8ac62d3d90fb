"""Documents go into the store and come out as passages, by id, whatever was changed before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from sqlite3 import Connection

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval import EvidenceSet, Passage
from retrieval.corpora import Document, Section, passages
from retrieval.errors import IndexCorruptError, IndexNotFoundError
from retrieval.index import store
from retrieval.index.layout import INDEX_FILE, create_database, open_database

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = st.sampled_from(["one", "two", " two ", "ＴＷＯ", "a\x00b", "'; DROP TABLE passages; --"]) | WORDS.filter(
    lambda text: bool(text.strip())
)
DOCUMENTS = st.builds(
    Document,
    id=st.sampled_from("abc"),
    title=st.sampled_from(["", "T", "U"]),
    url=st.none() | WORDS,
    sections=st.lists(st.builds(Section, title=st.sampled_from(["", "s"]), text=TEXTS), max_size=3).map(tuple),
    aliases=st.lists(WORDS, max_size=2).map(tuple),
)


def pieces(document: Document) -> list[Passage]:
    return list(passages(document, max_words=50))


def put(connection: Connection, documents: Iterable[Document], *, beside: bool = False) -> set[int]:
    touched: set[int] = set()
    for document in documents:
        touched |= store.put(connection, document, pieces(document), beside=beside)
    store.forget_orphans(connection, touched)
    return touched


def everything(connection: Connection) -> list[Passage]:
    return list(store.read_after(connection, 0, 1_000).values())


@contextmanager
def opened() -> Iterator[Connection]:
    """A store in memory."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(store.SCHEMA)
        yield connection


@contextmanager
def filed(folder: Path, documents: Iterable[Document]) -> Iterator[Connection]:
    """A store in the database of an index."""
    with closing(create_database(folder, dims=4)) as database, database.writing() as connection:
        put(connection, documents)
        database.commit()
        yield connection


def text_of(*texts: str, key: str = "a", title: str = "") -> Document:
    return Document(id=key, title=title, sections=tuple(Section(text=text) for text in texts))


@settings(max_examples=30)
@given(documents=st.lists(DOCUMENTS, max_size=8))
def test_what_goes_in_comes_out_merged(documents: list[Document]) -> None:
    """R10: one passage a text, with all its places in order, as merging in memory gives them."""
    with opened() as connection:
        put(connection, documents, beside=True)
        expected: dict[str, Passage] = {}
        for passage in (piece for document in documents for piece in pieces(document)):
            known = expected.get(passage.id)
            expected[passage.id] = passage if known is None else known.merged_with(passage)
        assert everything(connection) == list(expected.values())
        assert store.get(connection, list(expected)[::-1], Path("x")) == list(expected.values())[::-1]
        assert store.counts(connection) == (len(documents), len(expected))


@settings(max_examples=60)
@given(steps=st.lists(st.tuples(DOCUMENTS, st.booleans()), max_size=10))
def test_any_changes_leave_what_a_fresh_store_has(steps: list[tuple[Document, bool]]) -> None:
    """Replacing keeps a document's place in the order; deleting leaves nothing; other names follow."""
    model: dict[str, Document] = {}
    with opened() as changed, opened() as fresh:
        for document, deleted in steps:
            if deleted:
                rows = store.remove(changed, document.id)
                assert (rows is not None) == (document.id in model)
                store.forget_orphans(changed, rows or ())
                model.pop(document.id, None)
            else:
                put(changed, [document])
                model[document.id] = document
        put(fresh, model.values())
        by_id = [{one.id: one for one in everything(connection)} for connection in (changed, fresh)]
        assert by_id[0] == by_id[1]
        assert store.counts(changed) == store.counts(fresh)
        for alias in {alias for document, _ in steps for alias in document.aliases}:
            assert store.named(changed, alias) == store.named(fresh, alias)


def test_a_document_that_is_there_already_changes_nothing() -> None:
    with opened() as connection:
        assert len(put(connection, [text_of("One.", "Two.", title="T")])) == 2
        assert put(connection, [text_of("One.", "Two.", title="T")]) == set()
        assert len(put(connection, [text_of("One.", "Two.", title="U")])) == 2


def test_only_what_has_changed_is_to_be_indexed() -> None:
    """A text under its old heading is known; one whose first document went away stands under another."""
    with opened() as connection:
        put(connection, [text_of("One.", key="a", title="T"), text_of("One.", key="b", title="U")])
        found = store.read_after(connection, 0, 9)
        assert store.changed(connection, found) == found
        store.mark_indexed(connection, found)
        assert store.changed(connection, found) == {}
        store.remove(connection, "a")
        (moved,) = store.changed(connection, store.read_after(connection, 0, 9)).values()
        assert moved.full_text == "U. One."


def test_a_missing_passage_is_a_typed_error() -> None:
    with opened() as connection, pytest.raises(IndexCorruptError, match="lacks 1 passages"):
        store.get(connection, [Passage(text="y").id], Path("x"))


def test_a_changed_text_is_not_passed_off_as_the_old_one() -> None:
    """The id of what comes out is computed from its text; the row's word is not taken for it."""
    with opened() as connection:
        put(connection, [text_of("x")])
        connection.execute("UPDATE passages SET text = 'forged'")
        with pytest.raises(IndexCorruptError, match="not the one it was"):
            everything(connection)


def test_other_names_lead_to_documents() -> None:
    united = Document(id="7", title="United Kingdom", aliases=("UK", "UK"))
    with opened() as connection:
        put(connection, [united, Document(id="9", title="Another", aliases=("UK",))])
        assert store.named(connection, "UK") == [("7", "United Kingdom"), ("9", "Another")]
        assert store.named(connection, "uk") == []


def test_no_database_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        open_database(tmp_path)


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\x00" + b"junk" * 300, b"text"])
def test_an_unreadable_database_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / INDEX_FILE).write_bytes(content)
    with pytest.raises(IndexCorruptError, match="Build the index again"):
        open_database(tmp_path)


def test_damage_inside_is_a_typed_error_or_does_no_harm(tmp_path: Path) -> None:
    with filed(tmp_path, [text_of(f"text {number} " * 40, key=str(number)) for number in range(60)]) as writer:
        passages = everything(writer)
    whole = (tmp_path / INDEX_FILE).read_bytes()
    for place in range(100, len(whole), 3001):
        damaged = bytearray(whole)
        damaged[place : place + 64] = b"\xff" * 64
        (tmp_path / INDEX_FILE).write_bytes(damaged)
        try:
            with closing(open_database(tmp_path)) as database, database.reading() as connection:
                found = store.get(connection, [passage.id for passage in passages], database.path)
        except IndexCorruptError:
            continue
        assert [passage.id for passage in found] == [passage.id for passage in passages]


def test_a_folder_with_odd_signs_in_its_name_works(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%20 é"
    folder.mkdir()
    with filed(folder, [text_of("x")]) as connection:
        found = everything(connection)
    assert len(EvidenceSet.of(found)) == 1
