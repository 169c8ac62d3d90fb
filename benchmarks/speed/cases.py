"""What is timed: sets that a scorer has seen in part, not at all, or whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Protocol

from retrieval import EvidenceSet, Passage

from .texts import Writer

TURN = 5
"""Passages that a turn brings."""
TURNS = 5
"""Turns of a search."""
SEARCHES = 4
"""Searches that score at the same time."""
GROWTH = (5, 20, 50, 120)
"""Numbers of new passages over which the growth of time is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One call of a scorer."""

    question: str
    evidence: EvidenceSet
    new: tuple[Passage, ...]
    """Passages of the set that were not scored with this question before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Calls on one scorer that knew nothing before."""

    before: tuple[Step, ...] = ()
    """Not timed: what the scorer has seen."""
    timed: tuple[Step, ...]
    """Timed together."""


class MakeScenario(Protocol):
    """Writes a scenario; another writer gives another text."""

    def __call__(self, writer: Writer) -> Scenario:
        """The scenario of one repetition."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row."""

    make: MakeScenario
    passages: int
    """In the largest set."""
    remembers: bool = False
    """Whether memory should help, so that scoring from scratch is measured beside it."""
    at_once: bool = False
    """Whether the timed calls come from threads of their own; one after another is measured beside it."""
    generated: bool = True
    """Whether a language model is measured beside it; with 50 passages and more one call would take minutes."""


def _search(writer: Writer, sizes: tuple[int, ...]) -> tuple[Step, ...]:
    """A search that gets so many new passages each turn."""
    question, evidence = writer.question(), EvidenceSet()
    steps = []
    for size in sizes:
        evidence = evidence.add(writer.passages(size))
        steps.append(Step(question=question, evidence=evidence, new=evidence.new))
    return tuple(steps)


def _fresh(writer: Writer, *, passages: int) -> Scenario:
    return Scenario(timed=_search(writer, (passages,)))


def _known(writer: Writer) -> Scenario:
    """An earlier search asked another question about the same passages."""
    (asked,) = _search(writer, (TURN,))
    earlier = Step(question=writer.question(), evidence=asked.evidence, new=asked.new)
    return Scenario(before=(earlier,), timed=(asked,))


def _next(writer: Writer) -> Scenario:
    first, second = _search(writer, (TURN, TURN))
    return Scenario(before=(first,), timed=(second,))


def _unchanged(writer: Writer) -> Scenario:
    (first,) = _search(writer, (TURN,))
    return Scenario(before=(first,), timed=(Step(question=first.question, evidence=first.evidence, new=()),))


def _searches(writer: Writer) -> Scenario:
    return Scenario(timed=tuple(step for _ in range(SEARCHES) for step in _search(writer, (TURN,))))


def _turns(writer: Writer) -> Scenario:
    return Scenario(timed=_search(writer, (TURN,) * TURNS))


CASES: Mapping[str, Case] = MappingProxyType(
    {
        "first5": Case(make=partial(_fresh, passages=TURN), passages=TURN),
        "known5": Case(make=_known, passages=TURN),
        "next5": Case(make=_next, passages=2 * TURN, remembers=True),
        "unchanged": Case(make=_unchanged, passages=TURN, remembers=True),
        "passages20": Case(make=partial(_fresh, passages=20), passages=20),
        "passages50": Case(make=partial(_fresh, passages=50), passages=50, generated=False),
        "passages120": Case(make=partial(_fresh, passages=120), passages=120, generated=False),
        "concurrent4": Case(make=_searches, passages=TURN, at_once=True),
        "five-turn": Case(make=_turns, passages=TURN * TURNS, remembers=True),
    }
)
"""Rows by `case`."""
