"""`python -m benchmarks record`: searches to their end, with labels, for `replay` and `sufficit calibrate`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agent.build import open_agent
from agent.episodes import Episode
from retrieval import Passage
from retrieval.index import IndexInfo, LocalIndex, index_info

from ..corpus import cached_index, demo_index, require_one_source
from ..datasets import GoldPassage, Question
from ..datasets.demo import load_demo_questions
from ..datasets.reading import fault_counts
from ..datasets.sample import draw, load_all
from ..environment import code_digest, versions
from ..errors import SettingsError
from ..lanes import Lanes, Lost
from ..output import Report, Row
from ..progress import counted
from ..runfile import HeadedLines
from .recording import Job, horizon_settings, open_recorder
from .twins import find_masks

SECONDS = 300.0
"""Deadline of one search."""
_READ_AT_ONCE = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """What to record. See `python -m benchmarks record --help`.

    Raises:
        SettingsError: options that do not go together, or a number below its least value.
    """

    out: Path
    """The run file."""
    questions: tuple[Path, ...] = ()
    """Files of questions; none: the demo's own."""
    corpus: Path | None = None
    """What to search; its index is built once and kept in a cache."""
    index: Path | None = None
    """An index to search instead."""
    calls: int = 6
    """Horizon: calls of each search."""
    k: int = 5
    """Passages that one call asks for."""
    twins: bool = True
    """Record each question a second time without its support."""
    limit: int | None = None
    """Most questions of each dataset."""
    seed: int = 0
    """Chooses them."""
    processes: int = 1
    """Searches at once."""

    def __post_init__(self) -> None:
        require_one_source(self.questions, self.corpus, self.index)
        if min(self.calls, self.k, self.processes) < 1:
            raise SettingsError(
                f"Expected at least 1 call, passage a call and process, got {self.calls}, {self.k} and "
                f"{self.processes}."
            )


class EpisodeFile(HeadedLines[Episode]):
    """A run file of episodes: a search counts once, its first line is kept."""

    def __init__(self, path: Path, depends_on: Mapping[str, Any]) -> None:
        self.known: set[tuple[str, str, bool]] = set()
        super().__init__(path, depends_on)

    def read(self, line: bytes) -> Episode:
        """An episode."""
        return Episode.model_validate_json(line)

    def take(self, record: Episode, number: int) -> None:
        """Remember which search it is."""
        if record.key in self.known:
            self.fault(number, "repeated_id", f"{record.key} stands in an earlier line, which counts.")
        self.known.add(record.key)


def run_record(options: RecordOptions) -> Report:
    """Record what is not in the file yet. Blocking; progress goes to stderr.

    Raises:
        DatasetError, RunFileError: see there.
        CorpusError, IndexFolderError, BackboneError: the corpus, its index or the model cannot be used.
        BenchmarkError: no process could begin.
    """
    loaded = load_all(options.questions) if options.questions else load_demo_questions()
    questions = draw(loaded.questions, options.limit, seed=options.seed)
    if options.index:
        info = index_info(options.index)
    else:
        info = cached_index(options.corpus) if options.corpus else demo_index()
    depends_on = _depends_on(options, info)
    file = EpisodeFile(options.out, depends_on)
    batches = _batches(questions, info, twins=options.twins, known=file.known)
    failures = _record(batches, file, info, options)
    return Report(
        benchmark="record",
        settings=depends_on | {"out": options.out.name, "limit": options.limit, "twins": options.twins},
        seed=options.seed,
        rows=_rows(questions, file.known),
        failures=[*fault_counts(loaded.faults), *map(vars, file.faults), *failures],
    )


def _record(
    batches: Sequence[Sequence[Job]], file: EpisodeFile, info: IndexInfo, options: RecordOptions
) -> list[dict[str, Any]]:
    """Search; write each search down as it ends. Returns those that failed: a second run tries them again."""
    failures: list[dict[str, Any]] = []
    if not batches:
        return failures
    with counted("searches", total=sum(map(len, batches))) as advance:

        def on_done(job: Job, result: dict[str, Any] | Lost) -> None:
            if isinstance(result, Lost):
                failures.append(
                    {
                        "dataset": job.question.dataset,
                        "id": job.question.id,
                        "twin": job.twin,
                        "error": result.detail,
                    }
                )
            else:
                episode = Episode.model_validate(result, strict=False)
                file.append(episode)
                file.known.add(episode.key)
            advance()

        make = partial(open_recorder, info.folder, horizon_settings(calls=options.calls, k=options.k))
        lanes: Lanes[Job, dict[str, Any]] = Lanes(
            make, processes=options.processes, seconds=SECONDS, what="searches"
        )
        lanes.run(batches, on_done)
    return failures


def _batches(
    questions: Sequence[Question], info: IndexInfo, *, twins: bool, known: set[tuple[str, str, bool]]
) -> list[list[Job]]:
    """What is still to do, a question and its twin together: they share most of what is computed."""
    missing = [
        (question, twin)
        for question in questions
        for twin in (False, True)[: 1 + twins]
        if (question.dataset, question.id, twin) not in known and (question.support or not twin)
    ]
    if not missing:
        return []
    passages = list(_passages(info.folder))
    masks = find_masks([question for question, twin in missing if twin], passages)
    texts = {passage.id: passage for passage in passages}
    batches: dict[tuple[str, str], list[Job]] = {}
    for question, twin in missing:
        key = (question.dataset, question.id)
        masked = tuple(sorted(masks[key])) if twin else ()
        gold = () if twin else _gold(question, texts)
        batches.setdefault(key, []).append(Job(question=question, twin=twin, masked=masked, gold=gold))
    return list(batches.values())


def _gold(question: Question, texts: Mapping[str, Passage]) -> tuple[Passage, ...]:
    """The annotated passages, if all of them are passages of the corpus."""
    ids = [one.passage_id for one in question.support if isinstance(one, GoldPassage)]
    found = tuple(texts[key] for key in ids if key in texts)
    return found if len(found) == len(question.support) else ()


def _passages(folder: Path) -> Iterator[Passage]:
    """All passages of an index."""
    with LocalIndex.open(folder) as index, index.view() as view:
        last = 0
        while batch := view.after(last, _READ_AT_ONCE):
            yield from batch.values()
            last = max(batch)


def _depends_on(options: RecordOptions, info: IndexInfo) -> dict[str, Any]:
    """All that a recorded search depends on, without paths: they tell where files lay, not what was in them."""
    agent = open_agent(info.folder, settings=horizon_settings(calls=options.calls, k=options.k))
    return {
        **agent.parts.identity,
        "questions": {path.name: _sha256(path) for path in options.questions} or "demo",
        "code": {"sufficit": versions()["sufficit"], "digest": code_digest("agent", "retrieval", "rinse")},
    }


def _rows(questions: Sequence[Question], known: set[tuple[str, str, bool]]) -> list[Row]:
    """How many searches of each dataset the file holds, twins apart."""
    rows: list[Row] = []
    for dataset in sorted({question.dataset for question in questions}):
        mine = [question for question in questions if question.dataset == dataset]
        for twin in (False, True):
            done = sum((question.dataset, question.id, twin) in known for question in mine)
            if done:
                rows.append({"dataset": dataset, "subset": "twin" if twin else "original", "n": done})
    return rows


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
