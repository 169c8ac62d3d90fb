"""`python -m benchmarks coverage`: every strategy over one stream, then the figures."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.config import Settings, load_settings
from retrieval import Passage
from retrieval.cache.records import Tally
from retrieval.corpora import open_corpus
from retrieval.corpora.document import passages
from retrieval.index.encoder import TransformerEncoder
from retrieval.text import query_key
from retrieval.web.chunks import MAX_WORDS

from ..datasets import Record, load_records
from ..datasets.reading import fault_counts
from ..environment import versions
from ..errors import SettingsError
from ..output import Report, Row
from ..progress import counted
from .desk import Clock, Desk
from .figures import MATCHED, best_similarity, comparison_rows, strategy_rows
from .lines import CoverageFile, Line
from .needs import find_needs, judged
from .origin import Counts, Origin, running
from .replay import Course, course, replay
from .shared_work import SharedWork
from .strategies import NEVER, Always, CoverageVerdict, Nearest, OnlyTtl, Oracle, Similarity, Strategy
from .stream import Ask, make_stream
from .tuning import best_threshold, support_recall
from .world import World, build_world

COVERAGE = "coverage"
HTTP = "http"
"""Asks the web for every question, pages through the HTTP cache."""
SIMILARITY = "similarity"
NEAREST: tuple[Nearest, ...] = ("question", "passage")
_HALF = "half"
PLAIN: Mapping[str, Callable[[Desk], Strategy]] = {
    "always": Always,
    COVERAGE: CoverageVerdict,
    "ttl": OnlyTtl,
    "oracle": Oracle,
}
"""In this order; similarity comes last, since it is tuned to the support recall of coverage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageOptions:
    """What is simulated.

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
    out: Path | None = None
    """Run file; strategies that it holds whole are not run again."""

    def __post_init__(self) -> None:
        if self.questions < 4:
            raise SettingsError(f"A stream of {self.questions} questions has no halves to speak of; ask for more.")


def run_coverage(options: CoverageOptions, *, settings: Settings | None = None) -> Report:
    """Simulate, judge and sum up. Blocking; progress goes to stderr.

    Raises:
        DatasetError, CorpusError, RunFileError, BackboneError: see there.
        SettingsError: the records are too few, or the origin did not start.
    """
    settings = settings or _settings()
    loaded = load_records(options.records)
    distinct = {query_key(record.question): record for record in reversed(loaded.records)}  # the first one counts
    drawn, world = _laid_out(list(reversed(distinct.values())), options)
    needs = find_needs({(ask.record.dataset, ask.record.id): ask.record for ask in drawn}.values(), world)
    stream = judged(drawn, needs)
    way = course(stream, needs, world, interval=options.interval)
    depends_on = _depends_on(options, settings)
    file = None if options.out is None else CoverageFile(options.out, depends_on)
    with running(world) as origin, tempfile.TemporaryDirectory() as folder:
        encoder = TransformerEncoder.named()
        encoder.encode(["The model is loaded before anybody waits for it."])
        work = SharedWork(encoder)
        runs = _Runs(origin=origin, work=work, settings=settings, way=way, folder=Path(folder), file=file)
        lines, thresholds = runs.all()
    second = {name: own[len(own) // 2 :] for name, own in lines.items()}
    best = best_similarity(second, COVERAGE, [name for name in second if name.startswith(SIMILARITY)])
    pairs = [(COVERAGE, name) for name in second if name != COVERAGE]
    rows: list[Row] = [
        *strategy_rows(second, seed=options.seed),
        *comparison_rows(second, pairs, seed=options.seed),
    ]
    chosen = {
        "thresholds": thresholds,
        "best_similarity": best,
        "pages": len(world.pages),
        "left_out": len(drawn) - len(stream),
    }
    return Report(
        benchmark="coverage",
        settings=depends_on | chosen,
        seed=options.seed,
        rows=rows,
        failures=[*fault_counts(loaded.faults), *runs.faults],
    )


def _settings() -> Settings:
    """The user's settings with no limit on time: a slow machine must not change an outcome."""
    return load_settings().model_copy(update={"max_seconds": None})


def _laid_out(records: Sequence[Record], options: CoverageOptions) -> tuple[tuple[Ask, ...], World]:
    stream = make_stream(records, options.questions, seed=options.seed)
    needed = [one.passage for ask in stream for one in ask.record.support]
    others = [one.passage for record in records for one in record.passages]
    if options.corpus is not None:
        others += _drawn(options.corpus, options.others, options.seed)
    return stream, build_world(needed, others, seed=options.seed)


def _drawn(corpus: Path, count: int, seed: int) -> list[Passage]:
    """Passages of a corpus, chosen by a hash of their ids and the seed."""
    found = [piece for document in open_corpus(corpus) for piece in passages(document, max_words=MAX_WORDS)]

    def lot(passage: Passage) -> bytes:
        return hashlib.blake2b(f"{seed} {passage.id}".encode(), digest_size=8).digest()

    return sorted(found, key=lot)[:count]


def _depends_on(options: CoverageOptions, settings: Settings) -> dict[str, Any]:
    return {
        "records": {path.name: _sha256(path) for path in options.records},
        "corpus": None if options.corpus is None else _sha256(options.corpus),
        "questions": options.questions,
        "others": options.others,
        "interval": options.interval,
        "seed": options.seed,
        "search": settings.model_dump(mode="json", include={"k", "policy", "max_turns", "max_calls", "planner"}),
        "code": {name: versions()[name] for name in ("sufficit", "commit")},
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def miscounts(name: str, before: Tally, after: Tally, truth: Counts) -> list[dict[str, Any]]:
    """Where a cache counted otherwise than the origin did while a strategy ran."""
    pairs = {"requests": truth.pages, "revalidations": truth.not_modified, "bytes": truth.bytes}
    counted = {key: getattr(after, key) - getattr(before, key) for key in pairs}
    return [
        {"strategy": name, "miscounted": key, "by_cache": counted[key], "by_origin": pairs[key]}
        for key in pairs
        if counted[key] != pairs[key]
    ]


class _Runs:
    """One strategy after the other, each with a folder, a clock and an origin that know nothing of the others."""

    def __init__(
        self,
        *,
        origin: Origin,
        work: SharedWork,
        settings: Settings,
        way: Course,
        folder: Path,
        file: CoverageFile | None,
    ) -> None:
        self._origin, self._work, self._settings, self._way = origin, work, settings, way
        self._folder, self._file = folder, file
        self._half = len(way.stream) // 2
        self.faults: list[dict[str, Any]] = []
        """Where the cache's own counts are not those of the origin."""

    def all(self) -> tuple[dict[str, tuple[Line, ...]], dict[str, float]]:
        """The lines of every strategy, and the thresholds of similarity."""
        lines = {name: self._known(name) or self._plain(name) for name in PLAIN}
        lines[HTTP] = self._known(HTTP) or self._http()
        parts = {"tuned": slice(None, self._half), "matched": slice(self._half, None)}
        thresholds: dict[str, float] = {}
        for nearest in NEAREST:
            for how, part in parts.items():
                name = f"{SIMILARITY}-{nearest}-{how}"
                target = support_recall(lines[COVERAGE][part]) - MATCHED
                thresholds[name] = best_threshold(lines[HTTP][part], nearest, recall=target)
                known = self._known(name)
                lines[name] = known or self._similarity(name, nearest, thresholds[name], lines[HTTP])
        return lines, thresholds

    def _known(self, name: str) -> tuple[Line, ...] | None:
        return None if self._file is None else self._file.whole(name, len(self._way.stream))

    def _keep(self, lines: Sequence[Line]) -> tuple[Line, ...]:
        if self._file is not None:
            self._file.write(lines)
        return tuple(lines)

    def _plain(self, name: str) -> tuple[Line, ...]:
        return self._keep(
            self._run(name, PLAIN[name], self._way.stream, self._folder / name, caches=name != "always")
        )

    def _http(self) -> tuple[Line, ...]:
        """Similarity that nothing reaches: fills the cache, and notes what a hit would have served."""
        return self._keep([*self._first_half(), *self._from_half(HTTP, "question", NEVER)])

    def _similarity(
        self, name: str, nearest: Nearest, threshold: float, never: Sequence[Line]
    ) -> tuple[Line, ...]:
        """Similarity with its threshold, from what the first half left in the cache."""
        if not (self._folder / _HALF).exists():
            self._first_half()
        first = [line.model_copy(update={"strategy": name}) for line in never[: self._half]]
        return self._keep([*first, *self._from_half(name, nearest, threshold)])

    def _first_half(self) -> list[Line]:
        def strategy(desk: Desk) -> Strategy:
            return Similarity(desk, nearest="question", threshold=NEVER)

        return self._run(HTTP, strategy, self._way.stream[: self._half], self._folder / _HALF)

    def _from_half(self, name: str, nearest: Nearest, threshold: float) -> list[Line]:
        earlier = [ask.record.question for ask in self._way.stream[: self._half]]

        def strategy(desk: Desk) -> Strategy:
            return Similarity(desk, nearest=nearest, threshold=threshold, earlier=earlier)

        shutil.copytree(self._folder / _HALF, self._folder / name)
        return self._run(name, strategy, self._way.stream[self._half :], self._folder / name)

    def _run(
        self,
        name: str,
        strategy: Callable[[Desk], Strategy],
        asks: Sequence[Ask],
        folder: Path,
        *,
        caches: bool = True,
    ) -> list[Line]:
        async def run(done: Callable[[], None]) -> list[Line]:
            clock = Clock()
            clock.now = self._way.moment(asks[0])
            async with Desk(folder, self._origin, self._work, clock, self._settings, caches=caches) as desk:
                before = desk.counted()
                lines = await replay(
                    name, strategy(desk), desk, origin=self._origin, asks=asks, course=self._way, done=done
                )
                if caches:
                    self.faults += miscounts(name, before, desk.counted(), self._origin.counts())
                return lines

        self._origin.reset()
        with counted(name, total=len(asks)) as done:
            return asyncio.run(run(done))
