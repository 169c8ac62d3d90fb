"""A strategy over a stream, question by question, with the origin's own counts around each of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from .desk import Desk, Served
from .lines import Line
from .needs import Need, Needs, held
from .origin import Origin
from .strategies import Answered, Strategy
from .stream import Ask, clusters
from .world import WebPage, World

START = 1_700_000_000.0
"""The simulated moment of the first question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What all strategies go through."""

    stream: tuple[Ask, ...]
    needs: Needs
    clusters: Mapping[int, str]
    """By place in the stream."""
    pages: Mapping[tuple[str, str], WebPage]
    """By host and path."""
    interval: float
    """Simulated seconds between two questions."""

    def moment(self, ask: Ask) -> float:
        """When a question is asked."""
        return START + ask.number * self.interval


def course(stream: Sequence[Ask], needs: Needs, world: World, *, interval: float) -> Course:
    """Bring together what a replay needs."""
    return Course(
        stream=tuple(stream),
        needs=needs,
        clusters=clusters(stream),
        pages={(page.host, page.path): page for page in world.pages},
        interval=interval,
    )


async def replay(
    name: str,
    strategy: Strategy,
    desk: Desk,
    *,
    origin: Origin,
    asks: Sequence[Ask],
    course: Course,
    done: Callable[[], None],
) -> list[Line]:
    """Ask the questions one after the other.

    Args:
        name: The strategy's, for the lines.
        strategy: Decides.
        desk: Its parts.
        origin: What counts.
        asks: A part of the course's stream.
        course: What they are judged by.
        done: Called after each question.
    """
    lines: list[Line] = []
    for ask in asks:
        desk.clock.now = course.moment(ask)
        origin.set_clock(desk.clock.now)
        record = ask.record
        needs = course.needs.by_record[record.dataset, record.id]
        known = desk.usable(needs) is not None if needs and desk.caches else None
        before, spared, began = origin.counts(), desk.work.spared, time.perf_counter()
        answered = await strategy.answer(record.question, needs if record.answerable else None)
        wall = time.perf_counter() - began
        seen = origin.counts().since(before)
        served = [passage.id for passage in answered.served.passages]
        near = answered.nearest or {}
        lines.append(
            Line(
                strategy=name,
                number=ask.number,
                kind=ask.kind,
                dataset=record.dataset,
                cluster=course.clusters[ask.number],
                answerable=record.answerable,
                hit=answered.served.hit,
                needs=len(needs),
                held=held(needs, served),
                complete_before=known,
                served=len(served),
                stale=_stale(answered.served, desk.clock.now, course.pages),
                pages=seen.pages,
                not_modified=seen.not_modified,
                refused=seen.refused,
                searches=seen.searches,
                robots=seen.robots,
                bytes=seen.bytes,
                calls=answered.served.calls,
                wall_seconds=wall,
                spared_seconds=desk.work.spared - spared,
                verdict=answered.served.verdict,
                nearest_question=near.get("question"),
                nearest_passage=near.get("passage"),
                would_hold=_would_hold(needs, answered),
            )
        )
        done()
    return lines


def _would_hold(needs: Sequence[Need], answered: Answered) -> int | None:
    return None if answered.offered is None else held(needs, answered.offered)


def _stale(served: Served, now: float, pages: Mapping[tuple[str, str], WebPage]) -> int:
    """How many of the passages stand on a page of which the origin has a newer revision than the one served."""
    count = 0
    for passage in served.passages:
        place = urlsplit(passage.source_id)
        page = pages.get((place.hostname or "", place.path))
        age = served.ages.get(passage.id, 0.0)
        count += page is not None and page.revision(now - age) != page.revision(now)
    return count
