"""A Markdown file to a title and sections of plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .document import Section
from .outline import Outline

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_BREAKS = frozenset(("softbreak", "hardbreak"))
_BLOCKS_OF_TEXT = frozenset(("code_block", "fence"))


def markdown_sections(text: str) -> tuple[str, tuple[Section, ...]]:
    r"""Title (empty if there is none) and sections of a CommonMark text with tables.

    The title is the first heading if it is of level 1; headings become section titles, code blocks stay as they
    are, raw HTML and the addresses of links go, and so does a YAML block at the beginning.

    >>> markdown_sections("# Moss\nGrows *slowly*.\n## Where\nIn [shade](x.md).")[0]
    'Moss'
    """
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(_FRONT_MATTER.sub("", text, count=1))
    outline = Outline()
    document_title = ""
    headings = 0
    heading_level = 0
    row: list[str] | None = None
    for token in tokens:
        if token.type == "heading_open":
            heading_level = int(token.tag[1])
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            outline.paragraph(", ".join(cell for cell in row if cell))
            row = None
        elif token.type in _BLOCKS_OF_TEXT:
            outline.paragraph(token.content)
        elif token.type == "inline":
            words = "".join(_shown(token.children or ()))
            if row is not None:
                row.append(words)
            elif heading_level:
                headings += 1
                if headings == 1 and heading_level == 1:
                    document_title = " ".join(words.split())
                else:
                    outline.heading(heading_level, words)
                heading_level = 0
            else:
                outline.paragraph(words)
    return document_title, outline.sections()


def _shown(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in _BREAKS:
            yield "\n"
        elif token.type in {"text", "code_inline", "text_special"}:
            yield token.content
        elif token.type == "image":
            yield from _shown(token.children or ())
