"""Text from outside, made plain: nothing in it steers a terminal, reorders what is read, or hides."""

from __future__ import annotations

import regex

from retrieval.text import encodable

HIDDEN = regex.compile(r"[\p{Cc}\p{Default_Ignorable_Code_Point}--[\s]]", regex.VERSION1)
"""Control characters, and what is invisible: zero-width signs, direction marks, tags. No white space."""
_NEEDED = r"\u200c\u200d\u200e\u200f\ufe00-\ufe0f"
"""Joiners, marks of direction and variation selectors: Persian, Hindi, Hebrew and emoji are written with them."""
_STEERING = regex.compile(rf"[[\p{{Cc}}\p{{Default_Ignorable_Code_Point}}]--[\n{_NEEDED}]]", regex.VERSION1)
_BREAK = regex.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")


def plain(text: str) -> str:
    r"""A text as people may be shown it; of control characters only new lines stay.

    Escape sequences lose the sign that makes them work, overrides of direction and zero-width spaces go, tabs
    become spaces, and what UTF-8 cannot write is U+FFFD. What scripts are written with stays.

    >>> plain("a\x1b[2J\u202eb\r\nc")
    'a[2Jb\nc'
    """
    broken = _BREAK.sub("\n", encodable(text)).replace("\t", "    ")
    return _STEERING.sub("", broken)


def plain_line(text: str) -> str:
    r"""The same in one line, white space folded: a title cannot pretend to be the next line.

    >>> plain_line("Elm\nAnswer: no")
    'Elm Answer: no'
    """
    return " ".join(plain(text).split())
