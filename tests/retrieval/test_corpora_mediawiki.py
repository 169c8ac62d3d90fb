"""MediaWiki dumps: articles with their aliases, streamed, and safe against what an XML file can do."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from retrieval.corpora import Document, mediawiki, open_corpus
from retrieval.errors import CorpusError

SITE = """<siteinfo><sitename>Moorwiki</sitename><base>https://moor.example.org/wiki/Main_Page</base><namespaces>
<namespace key="0" /><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace></namespaces>
</siteinfo>"""


def page(title: str, text: str = "", *, ns: str = "0", redirect: str = "", model: str = "wikitext") -> str:
    link = f"<redirect title={quoteattr(redirect)} />" if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>1</id>{link}<revision><id>2</id>"
        f"<contributor><username>Reed</username></contributor><model>{model}</model>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>'
    )


def dump(*pages: str, schema: str = "0.11", site: str = SITE) -> bytes:
    namespace = f"http://www.mediawiki.org/xml/export-{schema}/"
    return f'<mediawiki xmlns="{namespace}" xml:lang="en">{site}{"".join(pages)}</mediawiki>'.encode()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def titles(documents: Iterable[Document]) -> list[str]:
    return [document.title for document in documents]


def test_an_article_becomes_a_document(tmp_path: Path) -> None:
    """Title, address, clean sections; the dump's own names for pictures are known."""
    text = "[[Datei:Rail.jpg|mini]]The '''rail''' calls.\n== Food ==\nIt eats [[snail]]s & seeds.\n[[Kategorie:V]]"
    (document,) = open_corpus(write(tmp_path / "d.xml", dump(page("Rail (bird)", text))))
    assert (document.id, document.title) == ("Rail (bird)", "Rail (bird)")
    assert document.url == "https://moor.example.org/wiki/Rail_(bird)"
    assert [(section.title, section.text) for section in document.sections] == [
        ("", "The rail calls."),
        ("Food", "It eats snails & seeds."),
    ]


def test_redirects_before_and_after_their_target_become_aliases(tmp_path: Path) -> None:
    """In the order of the dump; the old form without an element counts too; one without target is counted."""
    pages = [
        page("Water rail", "#REDIRECT [[Rail]]", redirect="Rail"),
        page("Rail", "The rail calls."),
        page("Moor hen", "#WEITERLEITUNG [[Rail#Names]]", redirect="Rail"),
        page("Old form", "#redirect: [[Rail|bird]]"),
        page("Lost", "#REDIRECT [[Nowhere]]", redirect="Nowhere"),
        page("Lost too", "#REDIRECT [[Nowhere]]", redirect="Nowhere"),
    ]
    corpus = open_corpus(write(tmp_path / "d.xml", dump(*pages)))
    (document,) = corpus
    assert document.aliases == ("Water rail", "Moor hen", "Old form")
    assert corpus.problems == {"redirect_without_target": 2}


def test_only_articles_are_read_and_the_rest_is_counted(tmp_path: Path) -> None:
    """Other namespaces, empty pages, other content models and pages without title: left out by kind."""
    pages = [
        page("Talk:Rail", "Talk is no article.", ns="1"),
        page("Template:Bird", "{{bird}}", ns="10"),
        page("Stub", "{{stub}} [[Kategorie:Leer]]"),
        page("Data", '{"a": 1}', model="json"),
        page(" ", "Text without a title."),
        page("Rail", "The rail calls."),
    ]
    corpus = open_corpus(write(tmp_path / "d.xml", dump(*pages)))
    assert titles(corpus) == ["Rail"]
    assert corpus.problems == {"other_namespace": 2, "empty_text": 1, "other_format": 1, "missing_field": 1}


def test_the_last_revision_counts(tmp_path: Path) -> None:
    """A dump with history holds many revisions of a page, the newest last."""
    revisions = "".join(f"<revision><text>State number {n}.</text></revision>" for n in range(3))
    corpus = open_corpus(write(tmp_path / "d.xml", dump(f"<page><title>Rail</title><ns>0</ns>{revisions}</page>")))
    (document,) = corpus
    assert document.sections[0].text == "State number 2."


def test_a_page_above_the_limit_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mediawiki, "_PAGE_CHARACTERS", 1000)
    corpus = open_corpus(write(tmp_path / "d.xml", dump(page("Long", "long " * 300), page("Rail", "It calls."))))
    assert titles(corpus) == ["Rail"]
    assert corpus.problems == {"too_large": 1}


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda content: bz2.compress(content, 1)])
@pytest.mark.parametrize("schema", ["0.3", "0.10", "0.11"])
@pytest.mark.parametrize("head", [b"", b'<?xml version="1.0" encoding="utf-8"?>\n', b"\xef\xbb\xbf"])
def test_every_packing_and_schema(
    tmp_path: Path, pack: Callable[[bytes], bytes], schema: str, head: bytes
) -> None:
    """Plain, gzip, bzip2; old and new export formats; bytes are counted twice, for both passes."""
    path = write(tmp_path / "d", pack(head + dump(page("Rail", "The rail calls: ü."), schema=schema)))
    corpus = open_corpus(path)
    assert corpus.format == "mediawiki"
    assert titles(corpus) == ["Rail"]
    assert corpus.progress.done == corpus.progress.total == 2 * path.stat().st_size


def test_a_bzip2_file_of_several_streams(tmp_path: Path) -> None:
    """Wikipedia's multistream dumps are many bzip2 streams one after the other."""
    whole = dump(page("Rail", "The rail calls."), page("Reed", "The reed grows."))
    parts = whole[:300], whole[300:]
    corpus = open_corpus(write(tmp_path / "d.xml.bz2", b"".join(map(bz2.compress, parts))))
    assert titles(corpus) == ["Rail", "Reed"]


def test_a_dump_without_header_has_no_addresses(tmp_path: Path) -> None:
    (document,) = open_corpus(write(tmp_path / "d.xml", dump(page("Rail", "It calls."), site="")))
    assert document.url is None


def many_pages(count: int) -> list[str]:
    return [page(f"Page {n}", f"Article number {n} is about the moor. " * 20) for n in range(count)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda content: bz2.compress(content, 1)])
def test_a_dump_that_breaks_off_gives_what_it_holds(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    """A truncated download: the pages before the break are read, the break is counted once, nothing raises."""
    content = pack(dump(*many_pages(600)))
    corpus = open_corpus(write(tmp_path / "d.xml", content[: len(content) * 2 // 3]))
    assert 0 < len(titles(corpus)) < 600
    assert corpus.problems == {"truncated": 1}


def test_damage_in_the_middle_is_reported(tmp_path: Path) -> None:
    """Broken XML after good pages stops the reading there, and says so."""
    content = dump(*many_pages(3)).replace(b"<title>Page 2", b"<title>Page < 2")
    corpus = open_corpus(write(tmp_path / "d.xml", content))
    assert titles(corpus) == ["Page 0", "Page 1"]
    assert corpus.problems == {"truncated": 1}
    assert "its rest was not read" in corpus.examples[0].detail


def bomb(doctype: str, text: str) -> bytes:
    return doctype.encode() + dump(page("Bomb", "MARK")).replace(b"MARK", text.encode())


@pytest.mark.parametrize("padding", [0, 100_000])
@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">',
        '<!ENTITY c SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd">%p;<!ENTITY c "x">',
    ],
)
def test_a_dump_with_a_dtd_is_refused(tmp_path: Path, declared: str, padding: int) -> None:
    """Entities that grow, read files or fetch addresses: no dump declares any, so none is expanded, ever."""
    doctype = f"<?xml version='1.0'?><!--{'-x' * padding}--><!DOCTYPE mediawiki [{declared}]>"
    with pytest.raises(CorpusError):
        list(open_corpus(write(tmp_path / "d.xml", bomb(doctype, "&c;"))))


def test_other_xml_is_refused(tmp_path: Path) -> None:
    """An element of the right name inside another document does not make a dump."""
    content = b"<feed><mediawiki><page/></mediawiki></feed>"
    with pytest.raises(CorpusError, match=r"the outermost element is <feed>, expected a MediaWiki XML dump"):
        open_corpus(write(tmp_path / "d.xml", content))
    with pytest.raises(CorpusError, match="cannot be read up to its first page"):
        open_corpus(write(tmp_path / "e.xml", b"<mediawiki><page><title>"))


def test_an_empty_dump_is_an_empty_corpus(tmp_path: Path) -> None:
    """R01: a dump without pages has no documents."""
    assert list(open_corpus(write(tmp_path / "d.xml", dump()))) == []


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    """Ten times the pages need no more memory: nothing of a page is kept when the next one is read."""
    peaks = []
    for count in (150, 1500):
        corpus = open_corpus(
            write(tmp_path / "d.xml", dump(*(page(f"P{n}", "{{x}}", ns="1") for n in range(count))))
        )
        tracemalloc.start()
        assert list(corpus) == []
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0]
