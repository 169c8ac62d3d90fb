"""Passages and questions to measure time on: invented, seeded, as long as paragraphs of an encyclopedia.

Time depends on a text's length and hardly on what it says, so no data is needed.
"""

from __future__ import annotations

import random

from retrieval import Passage

PASSAGE_WORDS = 120
"""Of an average passage; about 185 tokens of the default encoder."""
_ENDS_AT = 112
"""A passage ends with the sentence in which it reaches so many words."""

_SYLLABLES = ("ar", "bel", "cor", "dun", "el", "fen", "gar", "hol", "is", "kem", "lor", "mar", "nor", "ost", "pel")
_ENDINGS = ("a", "and", "by", "en", "er", "ford", "holt", "ia", "mere", "ock", "stad", "ton", "wick", "worth")
_ROLES = ("engineer", "merchant", "composer", "botanist", "governor", "printer", "surveyor", "sculptor", "pilot")
_THINGS = (
    "bridge",
    "lighthouse",
    "canal",
    "observatory",
    "theatre",
    "railway",
    "harbour",
    "mill",
    "library",
    "mine",
)
_TRAITS = ("narrow", "celebrated", "abandoned", "wooden", "northern", "medieval", "privately owned", "two-storey")
_DEEDS = ("designed", "rebuilt", "bought", "described", "closed", "painted", "defended", "extended", "inherited")
_REASONS = (
    "after a fire had destroyed the older one",
    "although the council had voted against it",
    "because the river changed its course",
    "while the neighbouring towns were at war over salt",
    "with money that a cousin had earned abroad",
    "long before any road led to the valley",
)
_SENTENCES = (
    "In {year} the {role} {name} {deed} the {trait} {thing} of {place} {reason}.",
    "{name}, a {role} from {place}, {deed} a {trait} {thing} in {year}.",
    "The {thing} stands {number} kilometres east of {place} and was {deed} by {name} {reason}.",
    "Its {trait} {thing} belongs to the family of {name}, who became {role} of {place} in {year}.",
    "About {number} people lived in {place} when {name} {deed} the {thing}.",
    "A second {thing}, less {trait} than the first, was {deed} {reason}.",
)


class Writer:
    """Writes texts that differ from one another; the same seed writes the same ones.

    Args:
        seed: Anything printable that names what is written.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)  # noqa: S311  no secret: the same seed must give the same text

    def passage(self) -> Passage:
        """A passage with a title, of about `PASSAGE_WORDS` words."""
        title = f"{self._name()} {self._pick(_THINGS).title()}"
        sentences: list[str] = []
        while sum(len(sentence.split()) for sentence in sentences) < _ENDS_AT:
            sentences.append(self._sentence())
        return Passage(title=title, text=" ".join(sentences))

    def passages(self, count: int) -> tuple[Passage, ...]:
        """So many passages."""
        return tuple(self.passage() for _ in range(count))

    def question(self) -> str:
        """A question of two hops, about 20 words."""
        return (
            f"In which year did the {self._pick(_ROLES)} who {self._pick(_DEEDS)} the {self._pick(_TRAITS)} "
            f"{self._pick(_THINGS)} of {self._name()} first come to {self._name()}?"
        )

    def _sentence(self) -> str:
        return self._pick(_SENTENCES).format(
            year=self._random.randint(1400, 1990),
            number=self._random.randint(2, 900),
            role=self._pick(_ROLES),
            name=f"{self._name()} {self._name()}",
            place=self._name(),
            deed=self._pick(_DEEDS),
            trait=self._pick(_TRAITS),
            thing=self._pick(_THINGS),
            reason=self._pick(_REASONS),
        )

    def _name(self) -> str:
        return "".join([*self._random.choices(_SYLLABLES, k=2), self._pick(_ENDINGS)]).title()

    def _pick(self, words: tuple[str, ...]) -> str:
        return self._random.choice(words)
