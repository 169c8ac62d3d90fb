"""What kind of answer a question asks for, read off its English question words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import regex

from retrieval.names import Name, find_names
from retrieval.words import FUNCTION_WORDS, content_words, stem, word_set

Kind: TypeAlias = Literal["yes_no", "choice", "person", "place", "date", "number", "thing"]

_YES_NO = regex.compile(
    r"^\W*(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might)\b",
    regex.IGNORECASE,
)
_ASKING = regex.compile(
    r"\b(?:how\s+(?:many|much|long|old|tall|high|far|big|large|deep|fast|often)"
    r"|what|which|whom?|whose|where|when|why|how)\b",
    regex.IGNORECASE,
)
_BEFORE_THE_NOUN = regex.compile(
    r"^\s*(?:(?:is|was|are|were)\s+)?(?:(?:the|a|an)\s+)?(?:(?:full\s+)?(?:name|title)s?\s+(?:of|for)\s+(?:the\s+)?)?",
    regex.IGNORECASE,
)
_OR = regex.compile(r",?\s+or\s+(?:\p{Ll}+\s+){0,4}")
_AND = regex.compile(r",?\s+and\s+(?:\p{Ll}+\s+){0,4}")
_ASIDE = regex.compile(r"\s*\(.*?\)")
_LONGEST_OPTION = 12  # words
_LONGEST_LEAD = 12  # characters before the second name: an article, a quotation mark

_NOUNS: dict[Kind, frozenset[str]] = {
    "person": word_set(
        "person man woman boy girl actor actress singer musician composer songwriter rapper drummer guitarist "
        "director producer author writer novelist poet playwright journalist artist painter sculptor "
        "architect photographer player footballer athlete boxer driver cyclist coach manager president king "
        "queen prince princess emperor empress pope bishop saint politician senator governor mayor minister "
        "chancellor general officer soldier scientist physicist chemist mathematician philosopher engineer "
        "inventor astronaut explorer founder owner lawyer judge comedian presenter host dancer model designer "
        "critic historian mother father son daughter child brother sister spouse husband wife uncle aunt "
        "nephew niece cousin grandfather grandmother grandson granddaughter character leader ruler monarch "
        "successor predecessor"
    ),
    "place": word_set(
        "place birthplace location city town village country state county province region district continent "
        "nation island capital hometown neighborhood neighbourhood suburb municipality borough area territory"
    ),
    "date": frozenset({"year", "date", "month", "day", "century", "decade", "birthday"}),
    "number": word_set(
        "number population percentage percent amount height length distance age size area depth weight speed "
        "total capacity elevation cost price"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a question asks for."""

    kind: Kind
    head: tuple[str, ...] = ()
    """Stems of the noun phrase that the question word belongs to (`what river`), in order; often empty."""
    options: tuple[str, ...] = ()
    """The two things to choose from, as the question spells them; only for a choice."""


def what_is_asked(question: str) -> Asked:
    """Read the question.

    >>> what_is_asked("The river runs through what city?").kind
    'place'
    >>> what_is_asked("Who is older, Ada Lovelace or Alan Turing?").options
    ('Ada Lovelace', 'Alan Turing')
    """
    options = _pair(question, _OR)
    if options:
        return Asked(kind="choice", options=options)
    if _YES_NO.match(question):
        return Asked(kind="yes_no", options=_pair(question, _AND))
    asking = _asking_word(question)
    if asking is None:
        return Asked(kind="thing")
    phrase = _noun_phrase(question[asking.end() :])
    return Asked(kind=_kind(asking[0].lower(), phrase), head=tuple(map(stem, phrase)))


def _kind(asking: str, phrase: list[str]) -> Kind:
    if asking.startswith("how "):
        return "number"
    if asking in {"who", "whom"}:
        return "person"
    if asking == "when":
        return "date"
    if asking == "where":
        return "place"
    for noun in reversed(phrase):
        for kind, nouns in _NOUNS.items():
            if nouns & {noun, noun.removesuffix("s"), noun.removesuffix("es"), f"{noun.removesuffix('ies')}y"}:
                return kind
    return "thing"


def _asking_word(question: str) -> regex.Match[str] | None:
    """The word that asks: at the beginning, else at the end, else the last one that opens no relative clause."""
    found = list(_ASKING.finditer(question))
    if not found or len(question[: found[0].start()].split()) <= 2:
        return found[0] if found else None
    if not content_words(question[found[-1].end() :]):
        return found[-1]
    asking = [
        match
        for match in found
        if match[0].lower() not in {"who", "whose", "when", "where"}
        and not question[: match.start()].rstrip().endswith(",")
    ]
    return (asking or found)[-1]


def _noun_phrase(after: str) -> list[str]:
    """The folded words up to the first function word: `baltic river` of `what Baltic river is`."""
    phrase: list[str] = []
    for token in after[_BEFORE_THE_NOUN.match(after).end() :].split():  # type: ignore[union-attr]  # matches always
        word = token.strip("?,.;:\"'()").lower()
        if not word or word in FUNCTION_WORDS or (phrase and word.endswith("ed")):
            break
        phrase.append(word)
        if token[-1] in "?,.;:" or len(phrase) == 4:
            break
    return phrase


def _pair(question: str, joint: regex.Pattern[str]) -> tuple[str, ...]:
    """What stands on both sides of the last `or` (or `and`), if these are names."""
    joints = list(joint.finditer(question))
    if not joints:
        return ()
    left, right = question[: joints[-1].start()], question[joints[-1].end() :]
    before, after = _outside_brackets(left), _outside_brackets(right)
    if not before or not after or after[0].start > _LONGEST_LEAD:
        return ()
    if content_words(_ASIDE.sub("", left[before[-1].end :])):
        return ()
    comma = left.rfind(", ", 0, before[-1].end)
    first = left[comma + 2 :] if comma >= 0 else left[before[-1].start :]
    if len(first.split()) > _LONGEST_OPTION or not find_names(first):
        first = left[before[-1].start :]
    aside = _ASIDE.match(right, after[0].end)
    end = aside.end() if aside else after[0].end
    second = right[:end] if regex.search(r"\p{Ll}", right[end:]) else right.rstrip(" ?.!")
    return (first.strip(" ,\"'"), second.strip(" ,\"'"))


def _outside_brackets(text: str) -> list[Name]:
    asides = [match.span() for match in _ASIDE.finditer(text)]
    return [name for name in find_names(text) if not any(begin < name.start < end for begin, end in asides)]
