"""A folder of text files: titles, sections and encodings of .txt, .md and .html, and what is left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.corpora import Document, Section, folder, open_corpus
from retrieval.corpora.markdown import markdown_sections
from retrieval.corpora.webpage import webpage_sections
from retrieval.errors import CorpusError

LONG = " ".join(["The moor is wide and the wind blows over it all day and all night."] * 4)


def fill(root: Path, **files: str | bytes) -> Path:
    """Files by name, `__` for a dot and `/` as it is."""
    for name, content in files.items():
        path = root / name.replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def by_id(root: Path) -> dict[str, Document]:
    return {document.id: document for document in open_corpus(root)}


def test_files_become_documents_in_the_order_of_their_names(tmp_path: Path) -> None:
    """Recursive; the id is the relative name; a .txt file is titled by its name."""
    fill(tmp_path, **{"b__txt": "One.\n\nTwo\nlines.", "a/c__txt": "Deep.", "a/B__TXT": "Upper case suffix."})
    corpus = open_corpus(tmp_path)
    assert corpus.format == "folder"
    assert [document.id for document in corpus] == ["a/B.TXT", "a/c.txt", "b.txt"]
    last = by_id(tmp_path)["b.txt"]
    assert (last.title, last.sections) == ("b", (Section(text="One.\n\nTwo lines."),))


MARKDOWN = """---
layout: note
---
# The *Moor* & its birds

First line
of the lead with `code` and [a link](https://example.org).

- one
- two with **bold**

## Water
A table:

| Depth | Place |
|-------|-------|
| 2 m   | shore |

```python
print("kept")
```
<div class="note">raw</div>

### Wells
![A well](well.png) stands there.

Plants
------
Reed.
"""


def test_markdown_headings_become_sections() -> None:
    """The first heading is the title, the others nest; markup, raw HTML and front matter go."""
    title, sections = markdown_sections(MARKDOWN)
    assert title == "The Moor & its birds"
    assert [(section.title, section.text) for section in sections] == [
        ("", "First line of the lead with code and a link.\n\none\n\ntwo with bold"),
        ("Water", 'A table:\n\nDepth, Place\n\n2 m, shore\n\nprint("kept")'),
        ("Water: Wells", "A well stands there."),
        ("Plants", "Reed."),
    ]


def test_markdown_without_a_first_level_heading_is_titled_by_its_file(tmp_path: Path) -> None:
    fill(tmp_path, note__md="## Only a section\nText.")
    document = by_id(tmp_path)["note.md"]
    assert (document.title, document.sections[0].title) == ("note", "Only a section")


@given(st.text(alphabet="#*[]()`>-|_\n ab<!&\\", max_size=300))
def test_no_markdown_raises(text: str) -> None:
    title, sections = markdown_sections(text)
    assert isinstance(title, str)
    assert all(section.text.strip() for section in sections)


@pytest.mark.parametrize("wrap", ["{}", "<article>{}</article>", "<div>{}</div>", '<div id="content">{}</div>'])
def test_html_keeps_main_text_under_its_headings(wrap: str) -> None:
    """Navigation, footer, scripts and tables go; headings survive whatever element the page puts around them."""
    body = (
        f"<h1>The moor</h1><p>{LONG}</p><h2>Birds</h2><p>{LONG} Rails <b>call</b> there.</p>"
        f"<ul><li>a rail</li><li>a snipe</li></ul><h3>Nests</h3><p>First line<br>second line. {LONG}</p>"
    )
    title, sections = webpage_sections(
        "<html><head><title>Moor &amp; more</title><script>alert(1)</script></head><body>"
        f"<nav><a href='/'>Home</a></nav>{wrap.format(body)}<footer>Imprint</footer></body></html>"
    )
    assert title == "Moor & more"
    assert [(section.title, section.text) for section in sections] == [
        ("", LONG),
        ("Birds", f"{LONG} Rails call there.\n\na rail\n\na snipe"),
        ("Birds: Nests", f"First line second line. {LONG}"),
    ]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<html><body><p>A short page.</p></body></html>", "A short page."),
        ("<p>A fragment of a page without much around it.</p>", "A fragment of a page without much around it."),
        ("Words alone, &uuml;", "Words alone, ü"),
        ('<?xml version="1.0" encoding="latin-1"?><html><body><p>Größe.</p></body></html>', "Größe."),
    ],
)
def test_short_html_is_not_lost(markup: str, text: str) -> None:
    _, sections = webpage_sections(markup)
    assert [section.text for section in sections] == [text]


@pytest.mark.parametrize("markup", ["<html><body><script>x()</script></body></html>", "<!-- -->", "<html>"])
def test_html_without_main_text_is_counted(tmp_path: Path, markup: str) -> None:
    """A page of scripts only has no text: a problem with its file's name, not an exception."""
    corpus = open_corpus(fill(tmp_path, page__html=markup, other__txt="Text."))
    assert [document.id for document in corpus] == ["other.txt"]
    assert corpus.problems == {"no_content": 1}
    assert corpus.examples[0].where == "page.html"


_TAGS = ["<p>", "</p>", "<h2>", "<ul><li>", "<div>", "<", "&", "\0", "words ", "<!--", "<html>", "<table><td>"]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(_TAGS), max_size=30))
def test_no_html_raises(pieces: list[str]) -> None:
    _, sections = webpage_sections("".join(pieces))
    assert all(section.text.strip() for section in sections)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8-sig", b""), ("utf-16", b""), ("utf-16-be", b"\xfe\xff"), ("utf-32", b"")],
)
def test_text_with_a_byte_order_mark_or_utf8(tmp_path: Path, encoding: str, mark: bytes) -> None:
    """F06's order: byte order mark first, then UTF-8."""
    fill(tmp_path, a__txt=mark + "Größe und Weite: 東京".encode(encoding))
    assert by_id(tmp_path)["a.txt"].sections[0].text == "Größe und Weite: 東京"


def test_old_encodings_are_recognised(tmp_path: Path) -> None:
    """Without a mark and no UTF-8: the best guess of charset-normalizer."""
    text = "Die Größe des Moores überraschte die Gäste; sie hörten später Vögel über den Gräsern. " * 5
    fill(tmp_path, a__txt=text.encode("cp1252"))
    assert by_id(tmp_path)["a.txt"].sections[0].text == text.strip()


def test_what_is_left_out_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Binary, blank, too large, other kinds, hidden: nothing stops the reading, hidden files are no problem."""
    monkeypatch.setattr(folder, "_FILE_BYTES", 1000)
    fill(tmp_path, a__txt="Good.", blank__txt=" \n", binary__txt=b"\x00\x01\x02PK\xff", large__md="x" * 1001)
    fill(tmp_path, picture__png=b"\x89PNG", __hidden__txt="Hidden.")
    fill(tmp_path, **{"__git/config__txt": "Hidden folder."})
    corpus = open_corpus(tmp_path)
    assert [document.id for document in corpus] == ["a.txt"]
    assert corpus.problems == {"empty_text": 1, "undecodable": 1, "too_large": 1, "other_format": 1}


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    """A link inside may stand for its file; links to folders (they may form rings) and outside are counted."""
    root = fill(tmp_path / "root", **{"a__txt": "Inside.", "sub/b__txt": "Below."})
    secret = fill(tmp_path / "outside", secret__txt="Secret.")
    (root / "leak.txt").symlink_to(secret / "secret.txt")
    (root / "leak folder").symlink_to(secret, target_is_directory=True)
    (root / "sub" / "ring").symlink_to(root, target_is_directory=True)
    (root / "alias.txt").symlink_to(root / "a.txt")
    (root / "broken.txt").symlink_to(root / "absent.txt")
    corpus = open_corpus(root)
    assert [document.id for document in corpus] == ["a.txt", "alias.txt", "sub/b.txt"]
    assert corpus.problems == {"link_not_followed": 3, "unreadable": 1}


def test_a_pipe_in_the_folder_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    fill(tmp_path, a__txt="Good.")
    corpus = open_corpus(tmp_path)
    assert [document.id for document in corpus] == ["a.txt"]
    assert corpus.problems == {"unreadable": 1}


def test_progress_and_hash_of_a_folder(tmp_path: Path) -> None:
    """The hash changes with a content and with a name, not with what is not read."""
    root = fill(tmp_path, a__txt="One.", b__md="Two.")
    corpus = open_corpus(root)
    assert len(list(corpus)) == 2
    assert corpus.progress.done == corpus.progress.total == 8
    hashes = [corpus.sha256()]
    fill(root, picture__png=b"x")
    assert corpus.sha256() == hashes[0]
    (root / "a.txt").write_text("Other.")
    hashes.append(corpus.sha256())
    (root / "a.txt").rename(root / "c.txt")
    hashes.append(corpus.sha256())
    assert len(set(hashes)) == 3


def test_a_folder_without_text_is_refused(tmp_path: Path) -> None:
    """The error counts what lies there instead."""
    fill(tmp_path, a__png=b"x", b__pdf=b"x")
    with pytest.raises(CorpusError, match=r"holds no \.txt, \.md or \.html file \(2 of other kinds"):
        open_corpus(tmp_path)
