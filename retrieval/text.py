"""Text for matching: normal form, words, sentences, chunks, and the identity of a query.

What `normalise` and `tokenise` return is never shown to anybody; `sentences` and `chunk_spans` return spans of
the text as it was found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

import regex
import sentencex
import Stemmer

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
"""Scripts written without spaces between words (in a character class)."""

_SPACE = re.compile(r"\s+")
_SURROGATE = regex.compile(r"[\ud800-\udfff]")
_IGNORABLE = regex.compile(r"\p{Default_Ignorable_Code_Point}+")


def encodable(text: str) -> str:
    r"""The text with U+FFFD for each lone surrogate, which no file, database or tokenizer takes.

    >>> encodable("a\ud800 moor") == "a\ufffd moor"
    True
    """
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def plain_name(name: str) -> str:
    r"""The name with each lone surrogate escaped, so that names that differ stay apart.

    Python reads a file name whose bytes are no UTF-8 as one with lone surrogates.

    >>> plain_name("a\udcff.txt")
    'a\\udcff.txt'
    """
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode("utf-8")


def normalise(text: str) -> str:
    r"""The form in which texts are compared: Unicode's NFKC_Casefold with white space folded and trimmed.

    Compatibility forms become plain (full-width, half-width kana, ligatures), canonical forms are composed, case
    is folded, and what is invisible goes: zero-width spaces and joiners, soft hyphens, direction marks, variation
    selectors. Idempotent.

    >>> normalise("Ｃａｆe\u0301\u200d  STRASSE\n") == normalise("café straße")
    True
    """
    if text.isascii():
        return _SPACE.sub(" ", text.lower()).strip()
    visible = _IGNORABLE.sub("", unicodedata.normalize("NFD", text))
    folded = unicodedata.normalize("NFKC", visible.casefold())
    # Compatibility decomposition brings back capitals (℡ is TEL) and ignorable characters: once more.
    folded = unicodedata.normalize("NFKC", _IGNORABLE.sub("", folded).casefold())
    return _SPACE.sub(" ", folded).strip()


_ACCENTS = regex.compile(r"(?<=[\p{Latin}\p{Greek}\p{Arabic}\p{Hebrew}])\p{Mn}+")
_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", regex.VERSION1)
_PLAIN = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ـ": ""}
    | dict.fromkeys("’‘ʼ", "'")
    | dict.fromkeys("–—“”", " ")
)


def _fold(text: str) -> str:
    """Normal form without accents and vowel points, with ASCII digits: `Müller` as `muller`.

    Only where people leave them out in writing (Latin, Greek, Arabic, Hebrew); elsewhere a mark makes another
    letter (Cyrillic й, kana が) or a vowel (Thai, the scripts of India).
    """
    normal = normalise(text)
    if normal.isascii():
        return normal
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", normal).translate(_PLAIN))
    return _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), unicodedata.normalize("NFC", bare))


_PAIRED = rf"{_UNSPACED}\p{{Hangul}}"
_RUN = regex.compile(rf"[{_PAIRED}]")
_CLUSTER = regex.compile(r"\P{M}\p{M}*")
_WORD = regex.compile(
    rf"""
      \d+ (?: \.\d+ )+
    | \p{{L}} (?: \+\+ | \# )
    | (?: [{_PAIRED}] \p{{M}}* )+
    | (?= [\p{{L}}\p{{N}}] ) [[\p{{L}}\p{{N}}\p{{M}}]--[{_PAIRED}]]+
    """,
    regex.VERBOSE | regex.VERSION1,
)
_ASCII_WORD = re.compile(r"\d+(?:\.\d+)+|[a-z](?:\+\+|#)|[a-z0-9]+")
"""`_WORD` for ASCII, three times as fast."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DOTTED = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}(?:[^\W\d_](?!\w))?")
_POSSESSIVE = re.compile(r"(?<=\w)'s(?!\w)")
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")


def _words(text: str) -> list[str]:
    """The folded words in order, a run of a script without spaces as one."""
    folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", _THOUSANDS.sub("", _fold(text))))
    folded = _DOTTED.sub(lambda letters: letters[0].replace(".", "") + " ", folded)
    return (_ASCII_WORD if folded.isascii() else _WORD).findall(folded)


def tokenise(text: str) -> list[str]:
    """The words of a text, in order, repeats kept, for comparing texts by their words.

    Words are folded (see `normalise`; Latin, Greek, Arabic and Hebrew also lose accents). A hyphen separates,
    an apostrophe joins and a possessive 's goes; `10,000` is `10000`, `3.14` stays whole, `U.S.` is `us`, `C++`
    keeps its sign. Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese become overlapping pairs of characters
    (as in Lucene's CJKAnalyzer; Korean because particles stick to its words), a run of one character stays itself:
    a query of one such character therefore finds it only where it stands alone.

    >>> tokenise("O’Brien's café-bar, 10,000 U.S. visitors")
    ['obrien', 'cafe', 'bar', '10000', 'us', 'visitors']
    >>> tokenise("東京都 ﾃﾚﾋﾞ")
    ['東京', '京都', 'テレ', 'レビ']
    """
    words = _words(text)
    if all(map(str.isascii, words)):
        return words
    return [token for word in words for token in (_pairs(word) if _RUN.match(word) else (word,))]


def _pairs(run: str) -> list[str]:
    clusters = _CLUSTER.findall(run)
    if len(clusters) == 1:
        return clusters
    return [left + right for left, right in pairwise(clusters)]


def terms(text: str) -> list[str]:
    """What the sparse index knows of a text: its tokens without English endings (Snowball, "Porter 2").

    Words of other languages lose what looks like an English ending, in documents and queries alike.

    >>> terms("Located cities")
    ['locat', 'citi']
    """
    # A Stemmer must not be shared by threads; making one takes a microsecond.
    stems: list[str] = Stemmer.Stemmer("english").stemWords(tokenise(text))
    return stems


_LEADING = frozenset({"again", "also", "and", "more", "now", "please", "so", "then"})
_TRAILING = frozenset({"again", "also", "now", "please", "then", "too"})
_ASIDE = regex.compile(
    r"[(\[（【][\s\p{P}]*(?:(?:again|also|more|now|once|please|too)[\s\p{P}]*)+[)\]）】]", regex.IGNORECASE
)


def query_key(text: str) -> str:
    """The identity of a query: equal for queries that ask for the same in other dress (case L04).

    Letter case, accents, punctuation and white space do not count, nor do the filler words with which a writer
    repeats itself (again, also, please and so on) at the beginning, at the end or alone in brackets. Elsewhere
    they may be part of a name and stay, and so does a final "more" outside brackets (Thomas More). A query of
    filler words keeps them; one without any word (only signs) is its normal form; only a blank one is empty.

    >>> query_key("Please: Mercury (planet)?"), query_key("mercury (planet) (again)")
    ('mercury planet', 'mercury planet')
    """
    words = _words(_ASIDE.sub(" ", text)) or _words(text)
    begin, end = 0, len(words)
    while begin < end and words[begin] in _LEADING:
        begin += 1
    while end > begin and (words[end - 1] in _TRAILING or words[end - 2 : end] == ["once", "more"]):
        end -= 1 if words[end - 1] in _TRAILING else 2
    return " ".join(words[begin:end] or words) or normalise(text)


_WINDOW = 8_000
"""Characters that the splitter sees at once: its time grows with the square where no white space is."""
_ODD_SPACE = re.compile(r"[^\S\n ]")
_INITIAL = regex.compile(r"(?:^|[\s.(])[\p{Lu}--[A-Z]]\.$", regex.VERSION1)
"""The splitter knows initials from A to Z only."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences, in order, without the white space around them.

    Every character that is not white space lies in exactly one span. A blank line ends a sentence; abbreviations
    and initials (`U.S.`, `Dr.`, `J. R. R. Tolkien`) do not.

    >>> [text[a:b] for text in ["Dr. Noe came. Who? He."] for a, b in sentences(text)]
    ['Dr. Noe came.', 'Who?', 'He.']
    """
    # sentencex 1.0 panics at white space of several bytes and at lone surrogates; both keep their length here.
    even = _SURROGATE.sub("?", _ODD_SPACE.sub(" ", text))
    spans: list[tuple[int, int]] = []
    for begin, end in _pieces(even):
        trimmed = _trim(text, begin, end)
        if trimmed[0] == trimmed[1]:
            continue
        if spans and _INITIAL.search(even, *spans[-1]) and "\n\n" not in even[spans[-1][1] : trimmed[0]]:
            spans[-1] = (spans[-1][0], trimmed[1])
        else:
            spans.append(trimmed)
    return spans


def _pieces(plain: str) -> Iterator[tuple[int, int]]:
    """The splitter's spans, from one window of the text after the other; a sentence may outgrow no window."""
    start = 0
    while start < len(plain):
        found = sentencex.get_sentence_boundaries("en", plain[start : start + _WINDOW])
        if start + _WINDOW < len(plain) and len(found) > 1:
            found.pop()  # cut off by the window's end: seen whole in the next one
        for piece in found:
            yield start + piece["start_index"], start + piece["end_index"]
        start += found[-1]["end_index"]


def _trim(text: str, begin: int, end: int) -> tuple[int, int]:
    piece = text[begin:end]
    left = len(piece) - len(piece.lstrip())
    return begin + left, begin + max(left, len(piece.rstrip()))


_UNIT = regex.compile(rf"[{_UNSPACED}]\p{{M}}*|[[^\s\x1c-\x1f]--[{_UNSPACED}]]{{1,40}}", regex.VERSION1)
"""What counts as one word of a chunk: a character of an unspaced script, or 40 characters without white space."""


def chunk_spans(text: str, max_words: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Character spans of consecutive chunks of whole sentences, each of at most `max_words` words.

    A longer sentence is cut at white space; in scripts without spaces each character counts as a word, elsewhere
    each 40 characters without a space do, so that no chunk outgrows about 40 x `max_words` characters. Every
    character that is not white space lies in a span; spans begin and end with such a character.

    Args:
        text: What is cut.
        max_words: Longest chunk, in words.
        overlap: So many of the last sentences of a chunk begin the next one again, as far as they are together no
            longer than a quarter of `max_words` and leave room for the next sentence. With 0 no two spans share a
            character.

    Raises:
        ValueError: `max_words` is below 1, or `overlap` below 0.
    """
    if max_words < 1 or overlap < 0:
        raise ValueError(f"max_words must be at least 1, it is {max_words}; overlap at least 0, it is {overlap}.")
    chunks: list[tuple[int, int]] = []
    inside: list[tuple[int, int]] = []  # the sentences of the last chunk: where they begin, and their words
    for begin, end, size in _fitting(text, max_words):
        if chunks and size + sum(words for _, words in inside) <= max_words:
            chunks[-1] = (chunks[-1][0], end)
        else:
            inside = _repeated(inside, overlap, min(max_words // 4, max_words - size))
            chunks.append((inside[0][0] if inside else begin, end))
        inside.append((begin, size))
    return chunks


def _repeated(inside: list[tuple[int, int]], overlap: int, room: int) -> list[tuple[int, int]]:
    """The longest tail of at most `overlap` sentences and `room` words."""
    for count in range(min(overlap, len(inside)), 0, -1):
        if sum(words for _, words in inside[-count:]) <= room:
            return inside[-count:]
    return []


def _fitting(text: str, max_words: int) -> Iterator[tuple[int, int, int]]:
    """Sentences, the long ones in parts, as begin, end and number of words (at most `max_words`)."""
    for begin, end in sentences(text):
        units = [match.span() for match in _UNIT.finditer(text, begin, end)]
        for first in range(0, len(units), max_words):
            part = units[first : first + max_words]
            yield part[0][0], part[-1][1], len(part)
