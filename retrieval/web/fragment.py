"""Links that lead a reader to the passage: text fragments (WICG "URL Fragment Text Directives", 2023, sec. 3).

`https://example.org/moor#:~:text=The%20moor%20is%20wet,holds%20water.` is the page, scrolled to a passage and
marked from its first words to its last. A browser that cannot, or a page that changed since, shows the page.
"""

from __future__ import annotations

import re
from urllib.parse import quote

_DIRECTIVE = ":~:"
_WHOLE_WORDS = 8
"""A passage that is no longer is given whole."""
_FIRST_WORDS, _MOST_WORDS = 4, 12
_LONGEST = 120
"""Characters of each end: in scripts without spaces a paragraph may be one word."""
_BLANK_LINES = re.compile(r"\n\s*\n")


def text_fragment(url: str, passage: str, *, within: str = "") -> str:
    """The URL with a fragment that points at a passage.

    Start and end each stay inside one paragraph, as browsers demand; the start is lengthened until it stands only
    once in `within`, or is 12 words long.

    Args:
        url: Where the text was found; a fragment of its own stays, an old text directive goes.
        passage: The text as found; blank text gives the URL itself.
        within: The text of the whole page, white space folded to single spaces.

    >>> text_fragment("https://example.org/a", "The moor is wet.")
    'https://example.org/a#:~:text=The%20moor%20is%20wet.'
    """
    paragraphs = [part.split() for part in _BLANK_LINES.split(passage) if part.strip()]
    if not paragraphs:
        return url
    address, _, fragment = url.partition("#")
    anchor = fragment.partition(_DIRECTIVE)[0]
    return f"{address}#{anchor}{_DIRECTIVE}text={_directive(paragraphs, within)}"


def page_fragment(url: str, page: int) -> str:
    """The URL of a PDF opened at a page, counted from 1 (RFC 8118, sec. 3)."""
    return f"{url.partition('#')[0]}#page={page}"


def _directive(paragraphs: list[list[str]], within: str) -> str:
    first, last = paragraphs[0], paragraphs[-1]
    whole = " ".join(first)
    if len(paragraphs) == 1 and len(first) <= _WHOLE_WORDS and len(whole) <= _LONGEST:
        return _encoded(whole)
    start = _start(first, within)
    room = len(last) if len(paragraphs) > 1 else len(last) - len(start.split())
    if room < 1:
        return _encoded(start[:_LONGEST])
    end = " ".join(last[-min(_FIRST_WORDS, room) :])
    return f"{_encoded(start[:_LONGEST])},{_encoded(end[-_LONGEST:])}"


def _start(words: list[str], within: str) -> str:
    for count in range(_FIRST_WORDS, _MOST_WORDS):
        start = " ".join(words[:count])
        if count >= len(words) or within.count(start) <= 1:
            return start
    return " ".join(words[:_MOST_WORDS])


def _encoded(text: str) -> str:
    """All but letters and digits escaped that the syntax knows: `-`, `,` and `&` part a directive."""
    return quote(text, safe="", errors="replace").replace("-", "%2D")
