"""Characters that nobody sees: control characters, zero-width text, direction marks, tags."""

from __future__ import annotations

import re
from typing import NamedTuple

import regex

TITLE_CHARACTERS = 200

_BREAK = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]")
_ZERO_WIDTH = regex.compile(
    r"[\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0d\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![\p{Arabic}\p{Syriac}\p{Mongolian}\p{M}\p{So}\p{Sk}\ufe0f])[\u200c\u200d]"
    r"|[\u200c\u200d](?=[\u200c\u200d])"
)
"""Joiners stay where writing needs them: in Arabic, after a vowel sign or virama, inside an emoji. What is not
seen can carry a message to a model (tags spell ASCII) or split the words that a filter looks for."""
_SOFT_HYPHEN = "\u00ad"


class Cleaned(NamedTuple):
    """A text without what is not seen."""

    text: str
    control: bool
    """Control characters were in it."""
    zero_width: bool
    """Zero-width text, direction marks or tags were in it; soft hyphens do not count."""


def visible(text: str) -> Cleaned:
    r"""The text as a reader sees it; tabs stay, and line breaks as line feeds.

    >>> visible("ig\u200bnore\x07").text
    'ignore'
    """
    if text.isascii() and text.isprintable():
        return Cleaned(text, control=False, zero_width=False)
    plain, controls = _CONTROL.subn("", _BREAK.sub("\n", text))
    shown, hidden = _ZERO_WIDTH.subn("", plain)
    return Cleaned(shown.replace(_SOFT_HYPHEN, ""), control=controls > 0, zero_width=hidden > 0)


def one_line(title: str) -> tuple[str, bool]:
    """A title on one line, visible, of at most 200 characters, cut at a word; and whether it was cut.

    A title that breaks its line cannot pose as another speaker: whatever stands on the next line is one sentence
    with the rest.
    """
    line = " ".join(visible(title).text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line, False
    cut = line[: TITLE_CHARACTERS - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[TITLE_CHARACTERS // 2 :] else cut}…", True
