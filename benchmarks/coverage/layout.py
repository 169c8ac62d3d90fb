"""A stream and the world that it meets, from files of records and a seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from retrieval import Passage
from retrieval.corpora import open_corpus
from retrieval.corpora.document import passages
from retrieval.text import query_key
from retrieval.web.chunks import MAX_WORDS

from ..datasets import Record, load_records
from ..datasets.reading import fault_counts
from ..errors import DatasetError, SettingsError
from .needs import find_needs, judged
from .replay import Course, course
from .stream import Ask, make_stream
from .world import World, build_world

Half = Literal["fit", "report"]
"""Of datasets that both the fit of the bars and the report draw from: each has its own groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """What one stream is made of.

    Raises:
        SettingsError: too short a stream.
    """

    records: tuple[Path, ...]
    """Questions with the passages that they need."""
    corpus: Path | None = None
    """More passages for the sites."""
    questions: int = 200
    """Length of the stream."""
    others: int = 4_000
    """Passages of the corpus that are added, drawn by the seed."""
    interval: float = 600.0
    """Simulated seconds between two questions."""
    seed: int = 0
    halved: frozenset[str] = frozenset()
    """Datasets of which only one half of the groups is drawn from, by a hash of their names."""
    half: Half = "report"
    """Which."""

    def __post_init__(self) -> None:
        if self.questions < 4:
            raise SettingsError(f"A stream of {self.questions} questions has no halves to speak of; ask for more.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A stream in its world."""

    way: Course
    world: World
    left_out: int
    """Questions that cannot be judged: the extraction of a page does not give their support."""
    faults: list[dict[str, Any]]
    """Lines of the files that could not be read."""


def lay_out(options: StreamOptions) -> Layout:
    """Draw the stream and build its world.

    Raises:
        DatasetError, CorpusError: a file cannot be read.
        SettingsError: the records are too few.
    """
    loaded = load_records(options.records)
    wanted = [record for record in loaded.records if may_ask(record, options)]
    distinct = {query_key(record.question): record for record in reversed(wanted)}  # the first one counts
    records = list(reversed(distinct.values()))
    drawn = make_stream(records, options.questions, seed=options.seed)
    world = _world(drawn, records, options)
    needs = find_needs({(ask.record.dataset, ask.record.id): ask.record for ask in drawn}.values(), world)
    stream = judged(drawn, needs)
    return Layout(
        way=course(stream, needs, world, interval=options.interval),
        world=world,
        left_out=len(drawn) - len(stream),
        faults=fault_counts(loaded.faults),
    )


def depends_on(options: StreamOptions) -> dict[str, Any]:
    """What a stream follows from: files by content, and all options.

    Raises:
        DatasetError: a file cannot be read.
    """
    return {
        "records": {path.name: _sha256(path) for path in options.records},
        "corpus": None if options.corpus is None else _sha256(options.corpus),
        "questions": options.questions,
        "others": options.others,
        "interval": options.interval,
        "halved": dict.fromkeys(sorted(options.halved), options.half),
        "seed": options.seed,
    }


def may_ask(record: Record, options: StreamOptions) -> bool:
    """Whether a stream may draw this record: always, unless its dataset is halved and it is in the other half."""
    if record.dataset not in options.halved:
        return True
    first = hashlib.blake2b(record.group.encode(), digest_size=1).digest()[0] % 2 == 0
    return first == (options.half == "fit")


def _world(stream: Sequence[Ask], records: Sequence[Record], options: StreamOptions) -> World:
    needed = [one.passage for ask in stream for one in ask.record.support]
    others = [one.passage for record in records for one in record.passages]
    if options.corpus is not None:
        others += _drawn(options.corpus, options.others, options.seed)
    return build_world(needed, others, seed=options.seed)


@lru_cache(maxsize=1)
def _pieces(corpus: Path) -> tuple[Passage, ...]:
    """All passages of a corpus: the streams of a run draw from one."""
    return tuple(piece for document in open_corpus(corpus) for piece in passages(document, max_words=MAX_WORDS))


def _drawn(corpus: Path, count: int, seed: int) -> list[Passage]:
    """Passages of a corpus, chosen by a hash of their ids and the seed."""

    def lot(passage: Passage) -> bytes:
        return hashlib.blake2b(f"{seed} {passage.id}".encode(), digest_size=8).digest()

    return sorted(_pieces(corpus), key=lot)[:count]


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(f"Cannot read {path}: {error.strerror or error}. Name a file that is there.") from error
