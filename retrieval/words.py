"""The words of a text that say what it is about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from .text import tokenise


def word_set(words: str) -> frozenset[str]:
    """The words between white space, as a set."""
    return frozenset(words.split())


FUNCTION_WORDS = word_set(
    "a about after again against all also although am among an and another any are as at be because been "
    "before being between both but by can could did do does doing down during each either else ever every "
    "few first for from further had has have having he her here hers herself him himself his how however "
    "i if in into is it its itself just last later many may me might more most much must my name named "
    "near neither no nor not now of off on once one only or other our out over own same several shall she "
    "should since so some such than that the their them then there these they this those through to too "
    "under until up upon us very was we were what when where whether which while who whom whose why will "
    "with within without would yet you your"
)
"""English words that carry structure rather than content, folded as `tokenise` folds. Text in other languages
simply has no such words."""

_WORD = regex.compile(
    r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*"
    r"(?:(?:[.'’ʼ]|\p{Default_Ignorable_Code_Point}+)[\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*"
)
"""With what joins letters unseen (soft hyphen, zero-width joiner) inside, which `tokenise` folds away."""
_ENDING = regex.compile(r"(?<=\p{L}{4})(?:ings?|ions?|ed|ers?|ors?|es|e|(?<!s)s)$")

_WORDS_KEPT, _LONGEST_KNOWN = 16_384, 40  # words whose forms are remembered, and their characters
_LEAST_RARITY = 0.3  # a word that stands everywhere still counts a little
_FORMS = {
    "die": "died dies death dead deaths",
    "birth": "born births",
    "writ": "wrote written",
    "sing": "sang sung",
    "win": "won winner winning winners",
    "lead": "led",
    "mak": "made",
    "build": "built",
    "hold": "held",
    "begin": "began begun",
    "becom": "became",
    "choos": "chose chosen",
    "fly": "flew flown",
    "sell": "sold",
    "speak": "spoke spoken",
    "teach": "taught",
    "leav": "left",
    "meet": "met",
}
_IRREGULAR = {form: stem for stem, forms in _FORMS.items() for form in forms.split()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word where it stands in a text."""

    start: int
    """First character."""
    end: int
    """One past the last character."""
    text: str

    @property
    def stems(self) -> tuple[str, ...]:
        """What it is compared by; several for a run of a script without spaces, which is compared by its pairs."""
        return _forms(self.text)[0]

    @property
    def structural(self) -> bool:
        """True for a function word."""
        return _forms(self.text)[1]


def words(text: str) -> tuple[Word, ...]:
    """All words in order, function words included."""
    return tuple(Word(start=match.start(), end=match.end(), text=match[0]) for match in _WORD.finditer(text))


def content_words(text: str) -> tuple[Word, ...]:
    """The words that are no function words."""
    return tuple(word for word in words(text) if not word.structural)


def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text."""
    return frozenset(map(stem, tokenise(text)))


def rarity_weights(question: str, texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """The stems of the question's content words with their share of it; the shares sum to 1.

    A stem weighs more the fewer of `texts` (as sets of stems) hold it; none weighs nothing.
    """
    wanted = dict.fromkeys(stem for word in content_words(question) for stem in word.stems)
    holding = {stem: sum(stem in text for text in texts) for stem in wanted}
    rarity = {stem: max(_LEAST_RARITY, math.log((len(texts) + 1) / (holding[stem] + 0.5))) for stem in wanted}
    total = sum(rarity.values())
    return {stem: value / total for stem, value in rarity.items()}


def stem(token: str) -> str:
    """A folded word without a common English ending, so that `directed` meets `director`.

    >>> stem("directed") == stem("directors")
    True
    """
    return _IRREGULAR.get(token) or _ENDING.sub("", token)


def _forms(text: str) -> tuple[tuple[str, ...], bool]:
    """Stems of a word, and whether it is a function word; worked out only for words of which it is asked."""
    return _known_forms(text) if len(text) <= _LONGEST_KNOWN else _made_forms(text)


def _made_forms(text: str) -> tuple[tuple[str, ...], bool]:
    tokens = tokenise(text)
    return tuple(map(stem, tokens)), FUNCTION_WORDS.issuperset(tokens)


_known_forms = lru_cache(maxsize=_WORDS_KEPT)(_made_forms)
