"""Evidence read for one question: what each sentence covers of it, and which sentences belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from retrieval import Passage
from retrieval.names import find_names, topic, without_aside
from retrieval.text import sentences
from retrieval.words import rarity_weights, stems

MAX_SENTENCES = 160
"""Of longer evidence the rest is not read; about 30 passages of five sentences."""
_ROUNDING = 1e-9
_WHOLE = 1 - _ROUNDING


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of the evidence."""

    passage: Passage
    start: int
    """First character in the passage's text."""
    end: int
    text: str
    topic: str
    """Key of what its passage is about."""
    title: str
    """Its passage's title without brackets, as written."""
    names: frozenset[str]
    """Keys of the names in it, and its topic."""
    stems: frozenset[str]
    """Of its words and its passage's title."""
    coverage: float = 0.0
    """Share of the question's content words in it, weighted by rarity in the evidence, in [0, 1]."""
    partner: int | None = None
    """The statement of another passage, tied to this one by a name, with which it covers the question best."""
    joint: float = 0.0
    """What the two cover together, in [0, 1]; at least `coverage`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read for one question."""

    statements: tuple[Statement, ...]
    """In the order of the passages."""
    weights: Mapping[str, float]
    """Stems of the question's content words with their share of the question; they sum to 1."""

    def by_passage(self) -> tuple[tuple[Statement, ...], ...]:
        """The statements of each passage, in the order of the passages."""
        return tuple(tuple(group) for _, group in groupby(self.statements, key=lambda s: s.passage.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An answer and the sentences that it rests on."""

    text: str
    statements: tuple[Statement, ...]
    margin: float | None = None
    """How much more its worth is than that of the best span with another key, at least 0; None without another
    one, and for what is not chosen by its worth: yes or no, one of two things, a whole sentence."""


def read(question: str, passages: Sequence[Passage]) -> Reading:
    """Cut passages, best first, into sentences, and weigh them against the question."""
    plain = _statements(passages)
    weights = rarity_weights(question, [statement.stems for statement in plain])
    covered = [sum(weights[s] for s in weights if s in statement.stems) for statement in plain]
    statements = [replace(s, coverage=c, joint=c) for s, c in zip(plain, covered, strict=True)]
    return Reading(
        statements=tuple(_paired(s, statements, weights) for s in statements),
        weights=weights,
    )


def _statements(passages: Sequence[Passage]) -> list[Statement]:
    found: list[Statement] = []
    for passage in passages:
        about, bare, title = topic(passage), without_aside(passage.title), stems(passage.title)
        for start, end in sentences(passage.text):
            if len(found) == MAX_SENTENCES:
                return found
            text = passage.text[start:end]
            names = frozenset(name.key for name in find_names(text))
            found.append(
                Statement(
                    passage=passage,
                    start=start,
                    end=end,
                    text=text,
                    topic=about,
                    title=bare,
                    names=names | {about} if about else names,
                    stems=stems(text) | title,
                )
            )
    return found


def _paired(one: Statement, others: Sequence[Statement], weights: Mapping[str, float]) -> Statement:
    """The statement with its best partner, one that it shares a name with.

    A statement that covers the whole question alone bridges nothing and is nobody's partner.
    """
    best = one
    for index, other in enumerate(others):
        if other.passage.id == one.passage.id or one.names.isdisjoint(other.names) or other.coverage > _WHOLE:
            continue
        joint = sum(weight for stem, weight in weights.items() if stem in one.stems or stem in other.stems)
        if joint > best.joint + _ROUNDING:
            best = replace(one, partner=index, joint=joint)
    return best
