"""Names in a text: what one passage says that another may speak of, too."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import normalize

import regex

_NAME = regex.compile(r"(?<![\p{L}\p{N}\p{M}])[\p{Lu}\p{N}][\p{L}\p{N}\p{M}_'’]{0,60}")
_WORD = regex.compile(r"(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}][\p{L}\p{N}\p{M}_'’]{0,60}")
_CLOSING = "'’_"
"""Closing quotes (also the possessive of a plural) and marks of emphasis."""
_POSSESSIVE = ("'s", "’s", "'S", "’S")


def names(text: str, sentence_starts: frozenset[int]) -> Iterator[tuple[str, int, int]]:
    """Words that begin with a capital or a digit, in lower case, with their characters.

    A possessive `'s` and what closes a quotation are no part of a name.

    The first word of a sentence is capital for another reason and is left out. A rule for scripts that have
    capitals; in others only numbers are names.

    Args:
        text: A passage.
        sentence_starts: Where its sentences begin.

    >>> list(names("She met Noe's men in 1871.", frozenset({0})))
    [('noe', 8, 11), ('1871', 21, 25)]
    """
    for match in _NAME.finditer(text):
        begin = match.start()
        if begin in sentence_starts:
            continue
        word = _plain(match.group())
        if len(word) > 1:
            yield word.lower(), begin, begin + len(word)


def words(text: str) -> frozenset[str]:
    """All words of a text as `names` would write them, had the text been a passage's (NFKC, as it is read).

    >>> sorted(words("Who is d'Este?"))
    ["d'este", 'este', 'is', 'who']
    """
    found = _WORD.finditer(normalize("NFKC", text), overlapped=True)
    return frozenset(_plain(match.group()).lower() for match in found)


def _plain(word: str) -> str:
    word = word.rstrip(_CLOSING)
    for ending in _POSSESSIVE:
        word = word.removesuffix(ending)
    return word
