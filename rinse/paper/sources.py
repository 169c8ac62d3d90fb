"""Chunks of one source rejoined, so that a window may be matched across them but never across sources."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from retrieval import Passage

from ..readers.states import HEADING_CHARACTERS, canonical_heading, plain_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What the evidence holds of one document or URL."""

    chunks: tuple[str, ...]
    """Ids of its passages, sorted."""
    heading: str
    """The distinct headings of its chunks in alphabetical order; empty where there is none."""
    text: str
    """Heading and chunks in the order of their ids: arrival must not matter, and a passage knows no position."""


def rejoin(passages: Iterable[Passage]) -> tuple[Source, ...]:
    """The sources of these passages in a fixed order. A text found in several sources is part of each."""
    chunks: dict[str, dict[str, Passage]] = {}
    for passage in passages:
        for source in {place.source_id for place in passage.provenance}:
            chunks.setdefault(source, {})[passage.id] = passage
    joined = {_join(source, found) for source, found in chunks.items()}  # the same chunks count once
    return tuple(sorted(joined, key=lambda source: (source.chunks, source.heading)))


def passage_text(passage: Passage) -> tuple[str, int]:
    """Heading and text of one passage as the readers see it, and where its text begins in that."""
    heading = canonical_heading(passage)
    prefix = f"{heading}. " if heading else ""
    return prefix + plain_text(passage.text), len(prefix)


def _join(source_id: str, chunks: dict[str, Passage]) -> Source:
    ids = tuple(sorted(chunks))
    headings = {_heading(chunks[key], source_id) for key in ids} - {""}
    heading = "; ".join(sorted(headings))[:HEADING_CHARACTERS].rstrip()
    texts = [plain_text(chunks[key].text) for key in ids]
    return Source(chunks=ids, heading=heading, text=" ".join([f"{heading}."] * bool(heading) + texts))


def _heading(passage: Passage, source_id: str) -> str:
    """The first heading in alphabetical order under which this source holds the passage."""
    places = [place for place in passage.provenance if place.source_id == source_id]
    first = min(places, key=lambda place: (place.title, place.section))
    return plain_text(", ".join(part for part in (first.title, first.section) if part))
