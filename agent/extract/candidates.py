"""Spans of a sentence that could be the answer to a question of one kind: names, dates, numbers."""

from __future__ import annotations

from dataclasses import dataclass

import regex

from retrieval.names import find_names, name_key

from .asked import Asked

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|(?:Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec)\.?)"
)
_DAY = r"(?<!\d)\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?<!\d)(?:1\d|20)\d\d"
_PART = r"(?:(?:early|mid|late)[\s-]+)?"
_PLAIN_YEAR = regex.compile(rf"(?<!\p{{L}}){_YEAR}(?!\d|s\b)")
_DATE = regex.compile(
    rf"(?<!\p{{L}})(?:(?:(?:{_DAY}\s+{_MONTH}|{_MONTH}\s+{_DAY}|{_MONTH}),?\s+)?{_YEAR}(?!\d|s\b)"
    rf"|(?:{_MONTH}\s+{_DAY}|{_DAY}\s+{_MONTH}|{_PART}(?<!\d)(?:1\d|20)\d0s"
    rf"|{_PART}(?:\d{{1,2}}(?:st|nd|rd|th)|\p{{L}}+th)\s+century|(?<!\d)\d{{1,4}}\s+(?:BCE?|AD|CE))\b)",
    regex.IGNORECASE,
)
_ANY_YEAR = regex.compile(r"\b\d{3,4}")
_ANY_DAY = regex.compile(r"\b\d{1,2}(?!\d)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion "
    "trillion once twice"
).replace(" ", "|")
_UNIT = r"(?:\s?(?:%|(?:percent|thousand|million|billion|trillion)\b))?"
_NUMBER = regex.compile(
    rf"(?:[$€£¥]\s?)?(?<![\d,.])(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?{_UNIT}|\b(?:{_WORDS})(?:[\s-](?:{_WORDS}))*\b",
    regex.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A span of a text."""

    start: int
    end: int
    text: str
    """`source[start:end]`."""
    key: str
    """What it is compared by: its folded words without a leading article."""


def find_candidates(text: str, asked: Asked) -> tuple[Candidate, ...]:
    """The spans of the asked kind, in order. A question that compares named things has no such spans.

    >>> [c.text for c in find_candidates("Opened on 3 May 1920, closed in 1954.", Asked(kind="date"))]
    ['3 May 1920', '1954']
    """
    if asked.kind == "date":
        return _matches(_PLAIN_YEAR, text) if "year" in asked.head else find_dates(text)
    if asked.kind == "number":
        return find_numbers(text)
    return tuple(Candidate(start=n.start, end=n.end, text=n.text, key=n.key) for n in find_names(text))


def find_dates(text: str) -> tuple[Candidate, ...]:
    """All dates, years and centuries of a text, in order."""
    return _matches(_DATE, text)


def find_numbers(text: str) -> tuple[Candidate, ...]:
    """All numbers of a text that are no part of a date, in order; a lone year counts as a number."""
    dates = [match.span() for match in _DATE.finditer(text) if not match[0].isdigit()]
    numbers = _matches(_NUMBER, text)
    return tuple(n for n in numbers if not any(begin <= n.start < end for begin, end in dates))


def number_of_years(date: str) -> float | None:
    """A date as a number, to compare dates by; None without a year.

    >>> number_of_years("10 January 1929") < number_of_years("March 1929") < number_of_years("1930")
    True
    """
    year = _ANY_YEAR.search(date)
    if year is None:
        return None
    month = next((number for number, name in enumerate(_MONTHS, start=1) if name in date.lower()), 0)
    day = _ANY_DAY.search(date)
    return int(year[0]) + month / 13 + (int(day[0]) if day else 0) / 500


def _matches(pattern: regex.Pattern[str], text: str) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(start=match.start(), end=match.end(), text=match[0], key=name_key(match[0]))
        for match in pattern.finditer(text)
    )
