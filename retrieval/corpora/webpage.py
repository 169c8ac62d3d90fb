"""An HTML file to a title and sections of its main text, through trafilatura."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING

from .document import Section
from .outline import Outline

if TYPE_CHECKING:
    from lxml.etree import _Element
    from lxml.html import HtmlElement

_LONGER = 1.5


def webpage_sections(markup: str) -> tuple[str, tuple[Section, ...]]:
    """Title and sections of the main text of a page, without navigation, comments and tables.

    The title is `<title>`, else the first `<h1>`, else empty. A first heading of level 1 titles the page, not a
    section. No sections: the page has no main text.
    """
    tree = parse_markup(markup)
    return ("", ()) if tree is None else tree_sections(tree)


def tree_sections(tree: HtmlElement) -> tuple[str, tuple[Section, ...]]:
    """`webpage_sections` of a parsed page; the tree is used up."""
    title = _text(tree.find(".//title")) or _text(tree.find(".//h1"))
    headed = tree.find(".//h2") is not None or tree.find(".//h3") is not None
    again = deepcopy(tree) if headed else None
    body = _main_text(tree)
    if again is not None and body is not None and body.find(".//head") is None:
        body = _with_headings(again, body)
    return title, () if body is None else _sections(body)


def parse_markup(markup: str) -> HtmlElement | None:
    """The page with `<html>` and `<body>`, also for a fragment; None without any element or text."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:
        return None


def _main_text(tree: _Element) -> _Element | None:
    import trafilatura

    found = trafilatura.bare_extraction(
        tree,
        favor_recall=True,
        include_comments=False,
        include_tables=False,
        include_formatting=True,
        with_metadata=False,
    )
    return None if found is None or isinstance(found, dict) else found.body


def _with_headings(tree: HtmlElement, body: _Element) -> _Element:
    """Try once more with all of the page inside `<article>`: without such an element trafilatura loses headings.

    The second result is taken if it has headings and is not much longer: then it holds the page's furniture too.
    """
    from lxml import etree

    page = tree.find("body")
    if page is None:
        return body
    article = etree.Element("article")
    article.extend(list(page))
    page.append(article)
    again = _main_text(tree)
    if again is None or again.find(".//head") is None or len(_text(again)) > _LONGER * len(_text(body)):
        return body
    return again


def _sections(body: _Element) -> tuple[Section, ...]:
    outline = Outline()
    first = True
    for kind, level, text in _blocks(body):
        if kind != "head":
            outline.paragraph(text)
        elif not (first and level == 1):
            outline.heading(level, text)
        first = first and kind != "head"
    if not len(body):  # a fragment of a page may come back as a single block
        outline.paragraph(_text(body))
    return outline.sections()


def _blocks(element: _Element) -> Iterator[tuple[str, int, str]]:
    """Tag, level of a heading (else 0) and text of the blocks in trafilatura's own vocabulary."""
    for child in element:
        if child.tag in {"div", "list"}:
            yield from _blocks(child)
        elif child.tag == "head":
            level = child.get("rend", "h2")[-1]
            yield "head", int(level) if level.isdigit() else 2, _text(child)
        elif isinstance(child.tag, str):
            yield child.tag, 0, _text(child)


def _text(element: _Element | None) -> str:
    """Text of an element and all below it, with a space where a line or an item begins."""
    if element is None:
        return ""
    for line_break in element.iter("lb", "br"):
        line_break.tail = f" {line_break.tail or ''}"
    for item in element.iter("item", "p"):
        item.text = f" {item.text or ''}"
    return " ".join(str(element.xpath("string()")).split())
