"""What the loop thinks of its evidence: the score, and what observers saw."""

from __future__ import annotations

import math

from retrieval import Event, EvidenceSet
from retrieval.compute import in_worker
from rinse import Sufficiency

from .meter import Meter
from .parts import Parts


class Assessment:
    """Scores the evidence of one search whenever it changed; keeps the history.

    Scoring runs in a worker thread. A scorer or observer that fails leaves an event and no value.
    """

    def __init__(self, parts: Parts, meter: Meter, question: str) -> None:
        self.history: list[float | None] = []
        """The score after each look, oldest first."""
        self.sufficiency: Sufficiency | None = None
        """The score of the present evidence."""
        self.invalid = False
        """True if the scorer failed on the present evidence (case S04)."""
        self.observations: dict[str, float] = {}
        self._parts = parts
        self._meter = meter
        self._question = question
        self._scored: frozenset[str] | None = None

    async def look(self, evidence: EvidenceSet, turn: int) -> tuple[bool, tuple[Event, ...]]:
        """Score and observe the evidence after `turn`. Returns whether the scorer ran, and what went wrong."""
        scored, events = await self._score(evidence)
        self.history.append(self.sufficiency.score if self.sufficiency else None)
        return scored, (*events, *await self._observe(evidence, turn))

    async def _score(self, evidence: EvidenceSet) -> tuple[bool, tuple[Event, ...]]:
        present = frozenset(evidence.ids)
        if not present or present == self._scored:
            return False, ()  # nothing is scored twice (case L03)
        self._scored, self.sufficiency, self.invalid = present, None, True
        try:
            work = in_worker(self._parts.scorer.score, self._question, evidence)
            value = await self._meter.within(None, work)
            if not math.isfinite(value.score):
                return True, (_event("score_invalid", "scorer", f"the score is {value.score}"),)
        except TimeoutError:
            return True, (_event("budget_seconds", "scorer", "no time was left to finish scoring"),)
        except Exception as error:  # noqa: BLE001  a scorer is a plug-in; nothing is decided on its failure
            return True, (_event("score_invalid", "scorer", f"{type(error).__name__}: {error}"),)
        self.sufficiency, self.invalid = value, False
        return True, ()

    async def _observe(self, evidence: EvidenceSet, turn: int) -> tuple[Event, ...]:
        """Run the observers that the policy requires, one after the other."""
        events: list[Event] = []
        self.observations = {}
        for name in sorted(self._parts.policy.requires):
            try:
                work = self._parts.observers[name].observe(self._question, evidence, turn)
                seen = await self._meter.within(self._parts.settings.observe_seconds, work)
            except Exception as error:  # noqa: BLE001  an observer is a plug-in
                events.append(_event("observer_failed", name, f"{type(error).__name__}: {error}"))
                continue
            self._meter.add(seen.spend)
            events.extend(seen.events)
            finite = {key: value for key, value in seen.values.items() if math.isfinite(value)}
            self.observations |= {f"{name}.{key}": value for key, value in finite.items()}
            if len(finite) < len(seen.values):
                events.append(_event("observation_invalid", name, f"values must be finite: {dict(seen.values)}"))
        return tuple(events)


def _event(kind: str, where: str, detail: str) -> Event:
    return Event(kind=kind, detail=detail, where=where)
