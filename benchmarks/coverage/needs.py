"""What a question needs, in terms of the passages that its pages give when they are fetched and extracted."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval import Passage
from retrieval.text import sentences
from retrieval.web.chunks import page_passages
from retrieval.web.extract import extract
from retrieval.web.outcome import Fetched
from retrieval.web.urls import fetch_key

from ..datasets import Record
from .stream import Ask
from .world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One piece of annotated support: any one of these passages holds it."""

    passages: frozenset[str]
    """Ids; at least one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The needs of all questions that can be judged."""

    by_record: Mapping[tuple[str, str], tuple[Need, ...]]
    """By dataset and id. Empty for unanswerable questions."""
    unjudged: frozenset[tuple[str, str]]
    """Questions with support that the extraction of its page does not give."""


def find_needs(records: Iterable[Record], world: World) -> Needs:
    """Fetch-and-extract, without a network, every page that some question needs."""
    chunks = _Chunks(world)
    found: dict[tuple[str, str], tuple[Need, ...]] = {}
    unjudged: set[tuple[str, str]] = set()
    for record in records:
        key = (record.dataset, record.id)
        support = [one.passage for one in record.support] if record.answerable else []
        needs = [_need(passage, record.answers, chunks.of(passage)) for passage in support]
        whole = tuple(need for need in needs if need is not None)
        found[key] = whole
        if len(whole) < len(needs):
            unjudged.add(key)
    return Needs(by_record=found, unjudged=frozenset(unjudged))


def judged(stream: Sequence[Ask], needs: Needs) -> tuple[Ask, ...]:
    """The stream without questions whose support cannot be told, numbered anew."""
    kept = [ask for ask in stream if (ask.record.dataset, ask.record.id) not in needs.unjudged]
    return tuple(replace(ask, number=number) for number, ask in enumerate(kept))


def held(needs: Sequence[Need], passages: Collection[str]) -> int:
    """How many of the needs some of these passages hold."""
    return sum(not need.passages.isdisjoint(passages) for need in needs)


def key_sentences(text: str, answers: Iterable[str]) -> tuple[str, ...]:
    """The sentences of a needed passage that must be served: those with an accepted answer, else the first.

    A passage of a chain holds no answer; its first sentence says what it is about.

    >>> key_sentences("The mill is old. It was built in 1784.", ["1784"])
    ('it was built in 1784.',)
    """
    spans = [_folded(text[start:end]) for start, end in sentences(text)]
    wanted = [folded for folded in map(_folded, answers) if folded]
    return tuple(span for span in spans if any(answer in span for answer in wanted)) or tuple(spans[:1])


def _need(passage: Passage, answers: Iterable[str], chunks: Sequence[Passage]) -> Need | None:
    keys = key_sentences(passage.text, answers)
    holding = frozenset(chunk.id for chunk in chunks if any(key in _folded(chunk.text) for key in keys))
    return Need(passages=holding) if holding else None


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


class _Chunks:
    """The passages of pages as the product cuts them, made once each."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[int, tuple[Passage, ...]] = {}

    def of(self, passage: Passage) -> tuple[Passage, ...]:
        number = self._world.holding[passage.id]
        if number not in self._known:
            page = self._world.pages[number]
            url = f"http://{page.host}{page.path}"
            fetched = Fetched(
                url=url,
                key=fetch_key(url),
                outcome="ok",
                final_url=url,
                status=200,
                body=page.html(0.0),
                content_type="text/html",
                requested_at=0.0,
                received_at=0.0,
            )
            self._known[number] = page_passages(extract(fetched))
        return self._known[number]
