"""Names in a text, found by their capitals: good enough to follow, without a model or a list of names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from .passage import Passage
from .text import sentences, tokenise
from .words import Word, word_set, words

MAX_CHARACTERS = 20_000
"""Of a longer text only the beginning is read."""
_LONGEST = 12  # words of one name

_CAPITAL = regex.compile(r"[\p{Lu}\p{Lt}]|[dlo]['’]\p{Lu}")
_INITIALS = regex.compile(r"\p{Lu}(?:\.\p{Lu})*")
_PARTICLES = word_set(
    "of the de del della der den des di da do dos du la le les van von zu bin ibn ben al el y af av"
)
_ABBREVIATED = word_set("st dr mr mrs ms jr sr mt ft no vol lt col gen sgt prof rev")
_DATE_WORDS = word_set(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday"
)
_QUOTED = regex.compile(r"[\"“„«]\s?([^\"“”„«»]{2,60}?)[,.]?\s?[\"”“»]")
_AFTER_A_NAME = regex.compile(r"\s+(?:is|was|are|were|has|had)\b|\s*[(]")
_ASIDE = regex.compile(r"(?<!\s)\s*+\([^)]*+\)")
_BEFORE_A_YEAR = frozenset({"in", "since", "until", "by", "from", "during", "after", "before"})
_BEGINNING = 300  # characters in which a passage without a title says what it is about
_POSSESSIVE = regex.compile(r"['’ʼ]s?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A name where it stands in a text."""

    start: int
    end: int
    text: str
    """`source[start:end]`, without a possessive ending."""
    key: str
    """What it is compared by: folded words without a leading article."""


def find_names(text: str) -> tuple[Name, ...]:
    """Names in order of appearance: runs of capitalised words with the particles between them, and quoted titles.

    A number belongs to the name that it follows or precedes (`Apollo 11`). A lone capitalised word that begins a
    sentence is a name if the text has it elsewhere inside a sentence, or if a verb or bracket follows as after a
    subject. Dates are no names. A script without capitals has no names.

    >>> [name.text for name in find_names("He left the University of Ulm for New York in May 1920.")]
    ['University of Ulm', 'New York']
    """
    text = text[:MAX_CHARACTERS]
    every = words(text)
    starts = _sentence_starts(text, every)
    inner = {word.text for at, word in enumerate(every) if at not in starts}
    runs = (_trimmed(text, run, every, starts, inner) for run in _runs(text, every, starts))
    found = [_name(text, every[run[0]].start, every[run[-1]].end) for run in runs if run]
    quoted = [_name(text, *match.span(1)) for match in _QUOTED.finditer(text) if any(map(str.isupper, match[1]))]
    return tuple(sorted((name for name in [*_outside(found, quoted), *quoted] if name.key), key=lambda n: n.start))


def topic(passage: Passage) -> str:
    """The key of what a passage is about: its title without brackets, else the first name in it; may be empty."""
    if passage.title:
        return name_key(without_aside(passage.title))
    return next((name.key for name in find_names(passage.text[:_BEGINNING])), "")


def without_aside(name: str) -> str:
    """A title without its brackets, unless nothing else is left: `Mercury` of `Mercury (planet)`."""
    end = name.rfind(")") + 1  # what opens later does not close: it would be read to the end once for each "("
    return (_ASIDE.sub("", name[:end]) + name[end:]).strip() or name.strip()


def name_key(text: str) -> str:
    """The folded words of a name without a leading article."""
    folded = tokenise(text)
    return " ".join(folded[1:] if folded and folded[0] in {"the", "a", "an"} else folded)


def _name(text: str, start: int, end: int) -> Name:
    bare = _POSSESSIVE.sub("", text[start:end])
    return Name(start=start, end=start + len(bare), text=bare, key=name_key(bare))


def _outside(names: Sequence[Name], quoted: Sequence[Name]) -> Iterator[Name]:
    """The names that stand in none of the quoted titles, which are in order and do not overlap."""
    starts = [title.start for title in quoted]
    for name in names:
        before = bisect_right(starts, name.start)
        if not before or quoted[before - 1].end < name.end:
            yield name


def _sentence_starts(text: str, every: Sequence[Word]) -> frozenset[int]:
    """Indices of the words that begin a sentence."""
    starts, at = set(), 0
    for begin, _ in sentences(text):
        while at < len(every) and every[at].start < begin:
            at += 1
        starts.add(at)
    return frozenset(starts)


def _runs(text: str, every: Sequence[Word], starts: frozenset[int]) -> Iterator[list[int]]:
    """Indices of words that together look like one name."""
    at = 0
    while at < len(every):
        opens = _is_capital(every[at]) and not (at in starts and every[at].structural)
        if not opens and not _leads_a_name(text, every, at):
            at += 1
            continue
        run = [at]
        while len(run) < _LONGEST and (following := _continuation(text, every, run[-1], starts)) is not None:
            run.extend(range(run[-1] + 1, following + 1))
        yield run
        at = run[-1] + 1


def _is_capital(word: Word) -> bool:
    first = word.text[0]
    if first.isascii() and first not in "dlo":  # most words: nothing else needs a look at the whole word
        return first.isupper()
    return bool(_CAPITAL.match(word.text))


def _is_number(word: Word) -> bool:
    return word.text[0].isdigit()


def _is_date_word(word: Word) -> bool:
    return word.text.lower() in _DATE_WORDS


def _leads_a_name(text: str, every: Sequence[Word], at: int) -> bool:
    """A number right before a capital (`2008 Summer Olympics`), but not the year in `In 2008 Ada came`."""
    if not _is_number(every[at]) or at + 1 == len(every) or not _is_capital(every[at + 1]):
        return False
    dated = at > 0 and every[at - 1].text.lower() in _BEFORE_A_YEAR
    return not dated and text[every[at].end : every[at + 1].start] == " "


def _continuation(text: str, every: Sequence[Word], at: int, starts: frozenset[int]) -> int | None:
    """The index of the next word of the name that has reached word `at`; None at its end."""
    for following in range(at + 1, min(at + 4, len(every))):
        between = _between(text, every[following - 1], every[following])
        if following in starts or between is None:
            return None
        word = every[following]
        if _is_capital(word) or (following == at + 1 and (_is_number(word) or between == "-")):
            return following
        if word.text not in _PARTICLES:
            return None
    return None


def _between(text: str, left: Word, right: Word) -> str | None:
    """The sign that joins two words of one name; None if what stands between separates them."""
    between = text[left.end : right.start]
    if between in {" ", "-", "–", " & ", "’ ", "' "}:
        return between
    abbreviated = _INITIALS.fullmatch(left.text) or left.text.lower() in _ABBREVIATED
    return between if between in {". ", "."} and abbreviated else None


def _trimmed(
    text: str, run: list[int], every: Sequence[Word], starts: frozenset[int], inner: set[str]
) -> list[int]:
    """The run without what a sentence or a date adds to a name; empty if nothing is left."""
    while run and every[run[0]].text in {"The", "A", "An"}:
        run = run[1:]
    while run and _is_date_word(every[run[-1]]):
        run = run[:-1]
    if all(_is_date_word(every[at]) or _is_number(every[at]) for at in run):
        return []
    first = every[run[0]]
    lone = len(run) == 1 and run[0] in starts
    return [] if lone and first.text not in inner and not _AFTER_A_NAME.match(text, first.end) else run
