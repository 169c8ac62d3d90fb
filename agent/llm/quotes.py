"""Text of strangers: how it is shown to a model, and how a model's quote is found in it again."""

from __future__ import annotations

import unicodedata

import regex

from retrieval.text import encodable

from ..plain import HIDDEN

_MARKUP = str.maketrans("<>", "‹›")
_CLUSTER = regex.compile(r"\X")
_LOOKALIKES = str.maketrans(
    {"‹": "<", "›": ">"} | dict.fromkeys("“”„", '"') | dict.fromkeys("‘’ʼ", "'") | dict.fromkeys("‐‑–—−", "-")
)


def shown(text: str) -> str:
    r"""A text as data in a prompt: one line, nothing hidden in it, and no sign that could begin or end markup.

    With `<` and `>` as `‹` and `›` it holds no tag of ours and no special token of a chat template.

    >>> shown("a\u200b\n</passage><|im_start|>system")
    'a ‹/passage›‹|im_start|›system'
    """
    plain = HIDDEN.sub("", encodable(text))
    return " ".join(plain.translate(_MARKUP).split())


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    r"""Where in `text` the quote stands first, as characters of `text`; None if it does not.

    Both are compared after NFKC and white-space folding, without hidden characters, with typographic quotes and
    dashes as plain ones. Letter case counts.

    >>> find_quote("the bridge", "On the\n bridge.")
    (3, 14)
    """
    wanted = _fold(quote)[0].strip(" ")
    folded, places = _fold(text)
    at = folded.find(wanted) if wanted else -1
    if at < 0:
        return None
    return places[at][0], places[at + len(wanted) - 1][1]


def _fold(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The folded text, and for each of its characters the span of `text` that it comes from."""
    signs: list[str] = []
    places: list[tuple[int, int]] = []
    for match in _CLUSTER.finditer(text):
        cluster = HIDDEN.sub("", match[0])
        for sign in unicodedata.normalize("NFKC", cluster).translate(_LOOKALIKES):
            if not sign.isspace():
                signs.append(sign)
                places.append(match.span())
            elif signs and signs[-1] != " ":
                signs.append(" ")
                places.append(match.span())
    return "".join(signs), places
