"""A page of wikitext to sections of clean paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .document import Section
from .outline import Outline
from .wikimarkup import ITEM, plain_lines, without_comments

HIDDEN_NAMESPACES = frozenset(("category", "file", "image", "media"))
"""Links into these show a picture or nothing. English names work in every wiki, a dump adds its own."""

_APPENDICES = frozenset(
    (
        "bibliography",
        "citations",
        "cited works",
        "external links",
        "external link",
        "footnotes",
        "further reading",
        "general references",
        "notes",
        "notes and references",
        "references",
        "references and notes",
        "see also",
        "sources",
        "works cited",
    )
)
"""Sections that are dropped with all that stands below them."""

_HEADING = re.compile(r"^(={1,6})[ \t]*([^\n]*?)[ \t]*\1[ \t]*$", re.MULTILINE)
_ITEM_WORDS = 6
_SENTENCE = re.compile(r"[.!?][\"'”’)]*$")


def page_sections(wikitext: str, *, hidden_namespaces: frozenset[str] = HIDDEN_NAMESPACES) -> tuple[Section, ...]:
    """The sections of a page, without its appendices (references, external links and the like).

    List items and indented lines become paragraphs where they are prose: at least 6 words, or the end of a
    sentence. Shorter ones (names in a list of names) are dropped.

    Args:
        wikitext: Anything; broken markup costs text, never an error, and time is linear in its length.
        hidden_namespaces: See `retrieval.corpora.wikimarkup.plain_lines`.
    """
    outline = Outline()
    dropped_below: int | None = None
    for level, heading, body in _parts(without_comments(wikitext)):
        if dropped_below is not None and level > dropped_below:
            continue
        dropped_below = None
        title = " ".join(plain_lines(heading, hidden_namespaces=hidden_namespaces))
        if title.lower().strip(" :") in _APPENDICES:
            dropped_below = level
            continue
        if level:
            outline.heading(level, title)
        for paragraph in _paragraphs(plain_lines(body, hidden_namespaces=hidden_namespaces)):
            outline.paragraph(paragraph)
    return outline.sections()


def _parts(wikitext: str) -> Iterator[tuple[int, str, str]]:
    """Level, heading and body of each part; level 0 and no heading for what stands before the first."""
    level, heading, start = 0, "", 0
    for match in _HEADING.finditer(wikitext):
        yield level, heading, wikitext[start : match.start()]
        level, heading, start = len(match[1]), match[2], match.end()
    yield level, heading, wikitext[start:]


def _paragraphs(lines: list[str]) -> Iterator[str]:
    """Lines joined up to the next blank line; items one by one."""
    open_lines: list[str] = []
    for line in lines:
        if line and not line.startswith((ITEM, "|", "!", "----")):
            open_lines.append(line)
            continue
        yield from _prose(" ".join(open_lines))
        open_lines = []
        if line.startswith(ITEM):
            item = line.replace(ITEM, "").strip()
            if len(item.split()) >= _ITEM_WORDS or _SENTENCE.search(item):
                yield from _prose(item)
    yield from _prose(" ".join(open_lines))


def _prose(text: str) -> Iterator[str]:
    if any(character.isalpha() for character in text):
        yield text.replace(ITEM, "")
