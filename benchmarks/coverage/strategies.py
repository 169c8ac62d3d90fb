"""When to fetch: five ways to decide, on equal terms.

All search the web with the product's own loop and policy, and all but `always` with the product's HTTP cache
below, so that a page that is fresh is not fetched twice whoever decides. What differs is who says that the cache
suffices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.text import query_key

from .desk import CACHE, WEB, Desk, Served
from .needs import Need
from .world import DAY

NEVER = 2.0
"""A cosine that no text reaches."""
Nearest = Literal["question", "passage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a strategy served, and what it saw."""

    served: Served
    nearest: dict[Nearest, float | None] | None = None
    """Cosine of the nearest earlier question, and of the nearest stored passage."""
    offered: tuple[str, ...] | None = None
    """Passages that it would have served from the cache, whatever it did."""


class Strategy(Protocol):
    """Decides for one question after the other."""

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """Serve passages.

        Args:
            question: What is asked.
            needs: What is annotated, for those who may know it; None for an unanswerable question.
        """
        ...


class Always:
    """Asks the web for every question."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """See `Strategy`."""
        return Answered(served=await self._desk.search(question, WEB))


class OnlyTtl:
    """Serves what the same question got before, for a day; the question is the same by `query_key`."""

    def __init__(self, desk: Desk, *, life: float = DAY) -> None:
        self._desk, self._life = desk, life
        self._known: dict[str, tuple[float, Served]] = {}

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """See `Strategy`."""
        key, now = query_key(question), self._desk.clock()
        known = self._known.get(key)
        if known is not None and now - known[0] < self._life:
            since, before = known
            older = {name: age + now - since for name, age in before.ages.items()}
            return Answered(served=replace(before, ages=older, hit=True, calls=0))
        served = await self._desk.search(question, WEB)
        self._known[key] = (now, served)
        return Answered(served=served)


class Similarity:
    """Serves from the cache if something there is similar enough to the question, without asking what it says.

    Args:
        desk: Its parts.
        nearest: What the threshold looks at: earlier questions, or stored passages.
        threshold: Cosine from which on the cache counts as complete.
        earlier: Questions that were asked before it began.
    """

    def __init__(self, desk: Desk, *, nearest: Nearest, threshold: float, earlier: Sequence[str] = ()) -> None:
        self._desk, self._nearest, self._threshold = desk, nearest, threshold
        self._questions: list[NDArray[np.float32]] = [desk.work.encode([text])[0] for text in earlier]

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """See `Strategy`."""
        vector = self._desk.work.encode([question])[0]
        found = await self._desk.nominate(question)
        near: dict[Nearest, float | None] = {
            "question": max((float(other @ vector) for other in self._questions), default=None),
            "passage": self._nearest_passage(vector, found),
        }
        self._questions.append(vector)
        offered = tuple(passage.id for passage in found.passages)
        cosine = near[self._nearest]
        close = cosine is not None and cosine >= self._threshold and bool(offered)
        served = found if close else await self._desk.search(question, WEB)
        return Answered(served=served, nearest=near, offered=offered)

    def _nearest_passage(self, vector: NDArray[np.float32], found: Served) -> float | None:
        if not found.passages:
            return None
        return float((self._desk.work.stored([one.full_text for one in found.passages]) @ vector).max())


class CoverageVerdict:
    """The product: the cache nominates, the score of this question on these passages decides, then the web."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """See `Strategy`."""
        return Answered(served=await self._desk.search(question, CACHE, WEB))


class Oracle:
    """Knows the annotations: fetches only if the cache lacks some support, and never for what has none."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def answer(self, question: str, needs: Sequence[Need] | None) -> Answered:
        """See `Strategy`."""
        known = self._desk.usable(needs or ())
        if needs is None or known is not None:
            return Answered(served=Served(passages=known or (), hit=True))
        return Answered(served=await self._desk.search(question, WEB))
