"""Questions that ask about another name or number than the one they were written about."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import regex

from retrieval.text import sentences, terms

Kind: TypeAlias = Literal["name", "month", "weekday", "year", "number"]

_PART = r"\p{Lu}[\p{L}\p{N}]*(?:['’-](?!s\b)[\p{L}\p{N}]+)*"
_SHORT = r"(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St|Gen|Col|Capt|Lt|Sgt|Sen|Gov)\.(?=\s\p{Lu})"
"""An initial or a title: its full stop ends no sentence."""
_INSIDE = r"(?<=[\p{Ll}\p{N},;()]\s)"
"""A capital behind these is no sentence's first: "But" and "Consequently" are no names."""
_NAME = regex.compile(
    rf"{_INSIDE}(?:{_SHORT}|{_PART})(?:\s(?:(?:of|de|der|van|von|la|al)\s{_PART}|{_SHORT}|{_PART}))*"
)
_CAPITAL = regex.compile(rf"{_INSIDE}\p{{Lu}}[\p{{L}}\p{{N}}]*")
_SMALL = regex.compile(r"\b\p{Ll}+\b")
_NUMBER = regex.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
_YEAR = regex.compile(r"1\d{3}|20\d{2}")
_MONTH = regex.compile("january|february|march|april|may|june|july|august|september|october|november|december")
_WEEKDAY = regex.compile("(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_TOLD = 4
"""Letters of the terms that tell what a question asks; shorter ones stand in every sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A name or number as a text writes it."""

    text: str
    kind: Kind

    def stands_in(self, text: str) -> bool:
        """Whether it stands there as whole words, letter case aside."""
        return _whole(self.text).search(text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question with the passage that answers it."""

    question: str
    answers: Sequence[str]
    """Those that stand in the passage."""
    text: str
    """The passage's."""


class Names:
    """Finds names and numbers in the passages of one dataset.

    A word is a name where it has a capital that does not begin a sentence, and if these passages write it so more
    often than without: the "Will" of a lower-case question is a verb.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._small: Counter[str] = Counter()
        self._capital: Counter[str] = Counter()
        self._found: dict[str, tuple[Thing, ...]] = {}
        for text in texts:
            self._small.update(_SMALL.findall(text))
            self._capital.update(word.lower() for word in _CAPITAL.findall(text))

    def things(self, text: str) -> tuple[Thing, ...]:
        """The names and numbers of a text, each once, in its order, names first."""
        if text not in self._found:
            self._found[text] = self._find(text)
        return self._found[text]

    def _find(self, text: str) -> tuple[Thing, ...]:
        names = [
            Thing(text=found, kind=_kind_of_name(found)) for found in _NAME.findall(text) if self._is_name(found)
        ]
        numbers = [
            Thing(text=found, kind="year" if _YEAR.fullmatch(found) else "number")
            for found in _NUMBER.findall(text)
        ]
        return tuple(dict.fromkeys([*names, *numbers]))

    def _is_name(self, found: str) -> bool:
        word = found.lower()
        return len(found) > 1 and (" " in found or self._capital[word] > self._small[word])


def edits(asked: Asked, names: Names, near: Sequence[str], *, count: int, draw: random.Random) -> list[str]:
    """At most `count` questions with a name or number replaced by another one of its kind, all different.

    The one that goes stands in the passage, the one that comes stands elsewhere in it, neither in the question nor
    in or around an answer. It is not taken if a sentence says of it what the question asks: of two field goals of
    a game each has a kicker. Where the passage has none left, the texts of near questions give one that the
    passage does not name.

    Args:
        asked: Question, answers and passage.
        names: Of the dataset.
        near: Passages of near questions.
        count: Upper bound of the list's length.
        draw: Chooses among what fits.
    """
    own = names.things(asked.text)
    found: dict[str, None] = {}
    for place in _places(asked.question, own):
        fits = [thing for thing in own if _fits(thing, place, asked) and not _said_too(thing, place.thing, asked)]
        if not fits:
            others = dict.fromkeys(thing for text in near for thing in names.things(text))
            fits = [thing for thing in others if _fits(thing, place, asked) and not thing.stands_in(asked.text)]
        for thing in draw.sample(fits, min(count, len(fits))):
            found.setdefault(place.filled(asked.question, thing.text))
    return draw.sample(list(found), min(count, len(found)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a question names something."""

    thing: Thing
    start: int
    end: int

    def filled(self, question: str, text: str) -> str:
        """The question with other words there, without capitals if it has none."""
        new = text if question != question.lower() else text.lower()
        return question[: self.start] + new + question[self.end :]


def _places(question: str, things: Iterable[Thing]) -> list[_Place]:
    """Where the question names one of the things, the longest first; none lies inside another one."""
    taken: list[_Place] = []
    for thing in sorted(things, key=lambda one: (-len(one.text), one.text)):
        match = _whole(thing.text).search(question)
        if match is None or _part_of_a_name(question, *match.span()):
            continue
        if all(match.end() <= place.start or match.start() >= place.end for place in taken):
            taken.append(_Place(thing=thing, start=match.start(), end=match.end()))
    return taken


def _part_of_a_name(question: str, start: int, end: int) -> bool:
    """Whether a question with capitals writes the words there small, or goes on with the name on either side."""
    if question == question.lower() or question[start].isdigit():
        return False
    before, after = question[:start].split(), question[end:]
    inside = len(before) > 1 and question[start - 1] == " " and before[-1][0].isupper()
    return not question[start].isupper() or inside or regex.match(r"\s\p{Lu}", after) is not None


def _fits(thing: Thing, place: _Place, asked: Asked) -> bool:
    new, old = thing.text.lower(), place.thing.text.lower()
    if thing.kind != place.thing.kind or new in old or old in new or thing.stands_in(asked.question):
        return False
    return not any(new in answer or answer in new for answer in map(str.lower, asked.answers))


def _said_too(new: Thing, old: Thing, asked: Asked) -> bool:
    """Whether the passage says of the new thing as much of the question as its answer does of the old one.

    Of a name that shares its sentence with the old one this is not asked: who beat whom is another matter. Of a
    number it is: "a 33-yard and a 30-yard field goal".
    """
    wanted = _telling(asked.question) - _telling(old.text)
    held = _sentences(asked.text)
    answering = [text for text in held if any(answer.lower() in text.lower() for answer in asked.answers)]
    enough = max((len(wanted & _telling(text)) for text in answering), default=0)
    return any(
        len(wanted & _telling(text)) >= enough
        for text in held
        if new.stands_in(text) and not (new.kind == "name" and old.stands_in(text))
    )


@lru_cache(maxsize=1_000)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(text[begin:end] for begin, end in sentences(text))


@lru_cache(maxsize=20_000)
def _telling(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if len(term) >= _TOLD)


@lru_cache(maxsize=50_000)
def _whole(text: str) -> regex.Pattern[str]:
    return regex.compile(rf"(?<!\w){regex.escape(text)}(?!\w)", regex.IGNORECASE)


def _kind_of_name(text: str) -> Kind:
    word = text.lower()
    return "month" if _MONTH.fullmatch(word) else "weekday" if _WEEKDAY.fullmatch(word) else "name"
