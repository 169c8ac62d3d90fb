"""Questions about two named things: which of the two, or whether something holds for both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from retrieval.names import find_names, name_key, without_aside
from retrieval.words import content_words, stems

from .asked import Asked
from .candidates import find_dates, find_numbers, number_of_years
from .reading import Finding, Reading, Statement

_EARLIEST = regex.compile(r"\b(?:first|earli(?:er|est)|old(?:er|est)|elder|eldest|before)\b", regex.IGNORECASE)
_LATEST = regex.compile(
    r"\b(?:later|latest|last|recent(?:ly)?|new(?:er|est)|young(?:er|est)|after)\b", regex.IGNORECASE
)
_MOST = regex.compile(
    r"\b(?:more|most|larg(?:er|est)|big(?:ger|gest)|high(?:er|est)|long(?:er|est)|tall(?:er|est)|great(?:er|est))\b",
    regex.IGNORECASE,
)
_LEAST = regex.compile(
    r"\b(?:fewer|fewest|less|least|small(?:er|est)|short(?:er|est)|low(?:er|est))\b", regex.IGNORECASE
)
_DEATH = regex.compile(r"\b(?:die[ds]?|death|dead)\b", regex.IGNORECASE)
_BEFORE_AN_END = regex.compile(r"(?:[–-]|\bdied|\bdeath|\buntil)\D{0,15}$")
_SAME = regex.compile(r"\b(?:same|share[ds]?|common)\b", regex.IGNORECASE)
_LEADING_YEAR = regex.compile(r"^\d{4} ")
_TIE = 60  # characters before a name that say how its passage is tied to another ("directed by ...")

Measure = Callable[[Statement], float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something that the question names, and what the evidence says of it."""

    name: str
    statements: tuple[Statement, ...]
    """Where the question asks through it (`the director of ...`), what it leads to comes first."""


def compare(question: str, asked: Asked, reading: Reading) -> Finding | None:
    """Answer a question of kind `choice` or `yes_no`; None if the evidence has nothing on what it names."""
    names = asked.options or tuple(name.text for name in find_names(question))
    rest = _without(question, names)
    things = [thing for thing in _things(names, stems(rest), reading) if thing.statements][:2]
    if asked.kind == "choice":
        return _choice(rest, things) if len(things) == 2 else None
    return _agreement(rest, things) if things else None


def _choice(rest: str, things: Sequence[Thing]) -> Finding:
    """The thing with the earlier date, the larger number and so on; else the one that fits the question better."""
    comparison = _comparison(rest)
    if comparison is not None:
        measure, sign = comparison
        found = [_first_measured(thing, measure) for thing in things]
        values = [(sign * pair[0], pair[1]) for pair in found if pair is not None]
        if len(values) == len(things) and values[0][0] != values[1][0]:
            best = max(range(len(values)), key=lambda index: values[index][0])
            cited = (values[best][1], values[1 - best][1])
            return Finding(text=things[best].name, statements=cited)
    wanted = stems(rest)
    fitting = [max(thing.statements, key=lambda s: len(wanted & s.stems)) for thing in things]
    best = max(range(len(things)), key=lambda index: len(wanted & fitting[index].stems))
    return Finding(text=things[best].name, statements=(fitting[best], fitting[1 - best]))


def _comparison(rest: str) -> tuple[Measure, int] | None:
    """What to measure and whether more is better (1) or less (-1); None if the question compares nothing."""
    latest, earliest = _LATEST.search(rest), _EARLIEST.search(rest)
    if latest or earliest:
        return (_end if _DEATH.search(rest) else _begin), (1 if latest else -1)
    most, least = _MOST.search(rest), _LEAST.search(rest)
    if most or least:
        wanted = stems(rest)
        return (lambda statement: _amount(statement, wanted)), (1 if most else -1)
    return None


def _first_measured(thing: Thing, measure: Measure) -> tuple[float, Statement] | None:
    return next(((value, s) for s in thing.statements if (value := measure(s)) is not None), None)


def _begin(statement: Statement) -> float | None:
    """The first date in the sentence: a birth, a founding, a release."""
    return next((value for date in find_dates(statement.text) if (value := number_of_years(date.text))), None)


def _end(statement: Statement) -> float | None:
    """The first date that ends something."""
    ends = (d for d in find_dates(statement.text) if _BEFORE_AN_END.search(statement.text[: d.start]))
    return next((value for date in ends if (value := number_of_years(date.text))), None)


def _amount(statement: Statement, wanted: frozenset[str]) -> float | None:
    """The first number of a sentence that speaks of what is compared."""
    if wanted.isdisjoint(statement.stems):
        return None
    numbers = (number.text for number in find_numbers(statement.text))
    return next((float(text.replace(",", "")) for text in numbers if text.replace(",", "").isdigit()), None)


def _agreement(rest: str, things: Sequence[Thing]) -> Finding:
    """Yes if the things share a name in their first sentence, or if each covers half of what is said of it."""
    cited = tuple(thing.statements[0] for thing in things)
    if _SAME.search(rest):
        shared = frozenset.intersection(*(_attributes(statement) for statement in cited))
        return Finding(text="yes" if shared else "no", statements=cited)
    wanted = frozenset(stem for word in content_words(rest) for stem in word.stems)
    covered = [frozenset[str]().union(*(s.stems for s in thing.statements)) & wanted for thing in things]
    holds = all(2 * len(found) >= len(wanted) for found in covered)
    return Finding(text="yes" if holds else "no", statements=cited)


def _attributes(statement: Statement) -> frozenset[str]:
    """The names in a sentence, that of its topic left out: its country, its people, its language."""
    keys = {_LEADING_YEAR.sub("", name.key) for name in find_names(statement.text)}
    return frozenset(key for key in keys if not _alike(statement.topic, key))


def _things(names: Sequence[str], relation: frozenset[str], reading: Reading) -> list[Thing]:
    """Collect the sentences about each name. Follows one tie where the question asks through the names."""
    passages = reading.by_passage()
    about = {name: _about(name, passages) for name in names}
    things: list[Thing] = []
    for name in names:
        own = about[name]
        taken = {id(passage) for found in about.values() for passage in found}
        tied = [p for p in passages if own and id(p) not in taken and _leads_to(own[0], p[0].topic, relation)]
        things.append(Thing(name=name, statements=tuple(s for passage in (*tied, *own) for s in passage)))
    return things


Passage = tuple[Statement, ...]
"""The sentences of one passage."""


def _about(name: str, passages: Sequence[Passage]) -> list[Passage]:
    """Passages about `name`, those whose title or topic is spelled like it first; else those that mention it."""
    exact, key = name_key(name), name_key(without_aside(name))
    alike = [passage for passage in passages if _alike(passage[0].topic, key)]
    alike.sort(key=lambda p: (name_key(p[0].passage.title) != exact, p[0].topic != key))
    return alike or [p for p in passages if f" {key} " in f" {name_key(p[0].passage.full_text)} "]


def _alike(one: str, other: str) -> bool:
    """Whether one of two names is part of the other. `other` may be a single word of `one`, not the other way."""
    left, right = set(one.split()), set(other.split())
    return bool(left and right) and (right <= left or (len(left) > 1 and left <= right))


def _leads_to(source: Passage, topic: str, relation: frozenset[str]) -> bool:
    """Whether `source` names `topic` within a few words of a word of the question."""
    wanted = set(topic.split())
    for statement in source:
        for name in find_names(statement.text):
            parts = name.key.split()
            if parts and (set(parts) == wanted or (len(parts) > 1 and wanted.issuperset(parts))):
                before = content_words(statement.text[max(0, name.start - _TIE) : name.start])[-4:]
                if any(stem in relation for word in before for stem in word.stems):
                    return True
    return False


def _without(question: str, names: Sequence[str]) -> str:
    for name in names:
        question = question.replace(name, " ")
    return question
