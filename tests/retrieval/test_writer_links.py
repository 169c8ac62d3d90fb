"""A writer keeps the links of passages up to date, and refuses what it must not or cannot change."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.corpora import Document, Section
from retrieval.errors import (
    EncoderMismatchError,
    IndexBusyError,
    IndexFolderError,
    IndexNotFoundError,
    IndexVersionError,
)
from retrieval.index import IndexWriter, LinkRule, LocalIndex, build_index
from retrieval.index.change import add_to_index
from retrieval.index.links import Linked, Links, link_key
from retrieval.index.manifest import MANIFEST
from retrieval.passage import passage_id
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


def test_other_names_lead_to_a_document_as_long_as_it_has_them(tmp_path: Path) -> None:
    """Added, changed without any change of text, taken away with the document: links follow each commit."""
    out = tmp_path / "index"
    build_index(jsonl(tmp_path / "c.jsonl", numbered(3)), out, encoder=Hashing())
    rail, seen = named("Rail (bird)", "Water rail"), document("seen", "They saw a Water Rail at noon.", "Noon")
    for change, leads in [
        ([rail, seen], True),
        ([named("Rail (bird)", "Moorhen")], False),
        ([named("Rail (bird)", "Moorhen", "Water rail")], True),
        ([named("Rail (bird)")], False),
        ([rail], True),
    ]:
        encoder = Noting()
        with IndexWriter.open(out, encoder) as writer:
            writer.add(change)
            writer.commit()
        assert hops(out, "They saw a Water Rail at noon.") == (["It calls."] if leads else [])
        assert len(encoder.texts) in (0, 2)  # the first change brings two texts, the others only names
    with IndexWriter.open(out, Hashing()) as writer:
        writer.delete(["rail"])
        writer.commit()
    assert hops(out, "They saw a Water Rail at noon.") == []


def named(title: str, *aliases: str) -> Document:
    return Document(id="rail", title=title, sections=(Section(text="It calls."),), aliases=aliases)


def hops(out: Path, text: str) -> list[str]:
    """The texts that an index leads to from this one."""
    with LocalIndex.open(out, Hashing()) as index:
        found = index.by_links([passage_id(text)], "Where is it?", 5)
        return [passage.text for passage in index.passages([key for key, _ in found])]


def test_redirects_of_a_wiki_lead_to_their_target(tmp_path: Path) -> None:
    """Through the reader of dumps, in a build and when a later dump is added."""
    out, text = tmp_path / "index", "It was seen by Dr. Noe in the reeds with a Bilcock."
    first = wiki(tmp_path / "one.xml", {"Rail": "The rail calls.", "Reed bed": text}, {"Bilcock": "Rail"})
    build_index(first, out, encoder=Hashing())
    assert hops(out, text) == ["The rail calls."]
    add_to_index(wiki(tmp_path / "two.xml", {"Rail": "The rail calls."}, {"Fen": "Rail"}), out, encoder=Hashing())
    assert hops(out, text) == []
    add_to_index(first, out, encoder=Hashing())
    assert hops(out, text) == ["The rail calls."]


def wiki(path: Path, articles: dict[str, str], redirects: dict[str, str]) -> Path:
    """A dump of articles by title, and of redirects to them."""
    pages = [
        f"<page><title>{title}</title><ns>0</ns><id>1</id><revision><id>2</id><text>{text}</text></revision></page>"
        for title, text in [*articles.items(), *((old, f"#REDIRECT [[{new}]]") for old, new in redirects.items())]
    ]
    namespace = "http://www.mediawiki.org/xml/export-0.11/"
    path.write_text(f'<mediawiki xmlns="{namespace}" xml:lang="en">{"".join(pages)}</mediawiki>')
    return path


_CHANGES = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.none()
        | st.builds(
            lambda title, mention, aliases: (title, f"a text on {mention}", tuple(aliases)),
            st.sampled_from(["", "Orn", "Velmora (river)"]),
            st.sampled_from(["Orn", "Velmora", "Harte", "nobody"]),
            st.lists(st.sampled_from(["Harte", "Orn"]), max_size=2, unique=True),
        ),
    ),
    min_size=5,
    max_size=8,
)


@settings(max_examples=8)
@given(changes=_CHANGES)
def test_an_index_that_was_changed_links_as_a_fresh_one(
    changes: list[tuple[str, tuple[str, str, tuple[str, ...]] | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Documents that come, go, share texts and change names leave the keys that their last state has."""
    folder, living = tmp_path_factory.mktemp("links"), dict[str, Document]()
    for name in ("changed", "fresh"):
        build_index(jsonl(folder / "c.jsonl", numbered(1)), folder / name, encoder=Hashing())
    with IndexWriter.open(folder / "changed", Hashing()) as writer:
        for key, state in changes:
            if state is None:
                writer.delete([key], missing_ok=True)
                living.pop(key, None)
            else:
                title, text, aliases = state
                living[key] = Document(id=key, title=title, sections=(Section(text=text),), aliases=aliases)
                writer.add([living[key]])
            writer.commit()
    with IndexWriter.open(folder / "fresh", Hashing()) as writer:
        writer.add(living.values())
        writer.commit()
    assert keys_of(folder / "changed") == keys_of(folder / "fresh")


def keys_of(out: Path) -> dict[str, Linked]:
    """The keys of all passages by their ids."""
    with LocalIndex.open(out, Hashing()) as index, index.view() as view, view.links() as links:
        return links.of([passage.id for passage in view.after(0, 1000).values()])


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
    """R05 and R06 for writers: another model's vectors are never mixed in."""
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
