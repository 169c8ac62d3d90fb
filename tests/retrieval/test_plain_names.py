"""Names and texts that no database takes, such as a file name that is no UTF-8, become plain at one door."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import pytest

from retrieval import Passage
from retrieval.corpora import Document, Section, open_corpus
from retrieval.index import IndexWriter, build_index, index_info
from tests.retrieval.indexes import Hashing, stored

BAD = "a\udcff"
"""What Python makes of the file name `a\\xff`."""


def test_a_document_without_lone_surrogates_is_left_as_it_is() -> None:
    text = "Größe 東京 \U0001f600 \\udcff"
    document = Document(id=text, title=text, url=text, aliases=(text,), sections=(Section(title=text, text=text),))
    assert (document.id, document.title, document.url, document.aliases) == (text, text, text, (text,))
    assert (document.sections[0].title, document.sections[0].text) == (text, text)
    assert Passage(text=document.sections[0].text).id == Passage(text=text).id


def test_lone_surrogates_of_a_document_become_plain() -> None:
    """Ids stay apart, escaped; in what is read one sign stands for what was lost."""
    document = Document(
        id=BAD, title=BAD, url=BAD, aliases=(BAD, "b"), sections=(Section(title=BAD, text=f"{BAD} moor."),)
    )
    assert document.id == r"a\udcff"
    assert Document(id="a\udcfe").id != document.id
    assert (document.title, document.url, document.aliases) == ("a\ufffd", r"a\udcff", ("a\ufffd", "b"))
    assert document.sections == (Section(title="a\ufffd", text="a\ufffd moor."),)


def test_such_a_document_is_added_replaced_and_deleted_by_the_id_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "a.txt").write_text("A red ferry.")
    build_index(tmp_path / "corpus", tmp_path / "index", encoder=Hashing())
    for text in ("A moor \ud800.", "A bog \ud800."):
        with IndexWriter.open(tmp_path / "index", Hashing()) as writer:
            writer.add([Document(id=BAD, title=BAD, url=BAD, aliases=(BAD,), sections=(Section(text=text),))])
            writer.commit()
    assert [passage.text for passage in stored(tmp_path / "index")] == ["A red ferry.", "A bog \ufffd."]
    with IndexWriter.open(tmp_path / "index", Hashing()) as writer:
        assert writer.delete([BAD]) == 1
        writer.commit()
    assert index_info(tmp_path / "index").documents == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are always Unicode there")
def test_file_names_that_are_no_utf_8_are_read(tmp_path: Path) -> None:
    """Neither a file nor a folder of such a name, nor one for the index, breaks a build."""
    corpus = tmp_path / os.fsdecode(b"d\xff")
    with contextlib.suppress(OSError):  # some file systems refuse the name
        corpus.mkdir()
        (corpus / os.fsdecode(b"a\xff.txt")).write_text("A red ferry.")
    if not corpus.is_dir():
        pytest.skip("the file system takes no such name")
    assert [document.id for document in open_corpus(corpus)] == [r"a\udcff.txt"]
    info = build_index(corpus, tmp_path / os.fsdecode(b"i\xff"), encoder=Hashing())
    assert info.documents == 1
    assert info.manifest.corpus.name == r"d\udcff"
