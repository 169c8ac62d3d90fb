"""Where answers stand in texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from retrieval.text import normalise

_SHORT = 3
"""An answer of so many letters counts as whole words only: "no" is inside "north"."""


def occurrences(text: str, answers: Sequence[str]) -> list[tuple[int, int]]:
    """Where answers stand in a text as whole words, letter case aside, in the order of the text.

    >>> occurrences("Ann met Anna. ANN won.", ["Ann"])
    [(0, 3), (14, 17)]
    """
    spans = {
        match.span()
        for answer in answers
        if answer.strip()
        for match in re.finditer(_words(answer.strip()), text, re.IGNORECASE)
    }
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def holds(text: str, answers: Iterable[str]) -> bool:
    """Whether an answer survives anywhere in a text, in whichever spelling; rather too often than too seldom.

    >>> holds("It lies in the north.", ["no"]), holds("Ｂｅｒｌｉｎｓ bridges", ["Berlin"])
    (False, True)
    """
    plain = normalise(text)
    return any(
        answer in plain if len(answer) > _SHORT else re.search(_words(answer), plain) is not None
        for answer in map(normalise, answers)
        if answer
    )


def _words(answer: str) -> str:
    return rf"(?<!\w){re.escape(answer)}(?!\w)"
