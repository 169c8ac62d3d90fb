"""`python -m benchmarks retrieval`: from questions and a corpus to the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.ranking import shipped_families
from retrieval.index import IndexInfo, LocalIndex, index_info

from ..contrasts.searches import corpus_key
from ..corpus import cache_folder, cached_index, demo_index, require_one_source
from ..datasets.demo import QUESTIONS
from ..datasets.families import family_of
from ..datasets.reading import fault_counts
from ..datasets.sample import draw, load_all
from ..errors import SettingsError
from ..lanes import Lost
from ..output import Report, Row
from ..store import KeyedStore
from .kinds import Kinds, load_kinds
from .rows import Measured, oracle_rows, system_rows
from .search import SINGLE_SHOT, SYSTEMS, Found, Job, search_all
from .targets import Target, find_targets
from .variants import with_filler, without_titles

NOTE = (
    "A corpus that was put together from the passages of question sets, as corpus_wiki_pool is, holds "
    "question-related passages only: its figures say how well support is told from distractors, not how well it "
    "is found in all of an encyclopedia. --filler tells what other text costs."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """What to measure. See `python -m benchmarks retrieval --help`.

    Raises:
        SettingsError: options that do not go together, or a number below its least value.
    """

    questions: tuple[Path, ...] = ()
    """Files of questions; none: the demo's own."""
    corpus: Path | None = None
    """What to search; its index is built once and kept in a cache."""
    index: Path | None = None
    """An index to search instead."""
    systems: tuple[str, ...] = SYSTEMS
    turns: int = 4
    """Most turns of `hop`."""
    k: int = 10
    """Passages that one call of `hop` asks for."""
    scorer: str = "rinse-small"
    """Whose gaps `hop` follows, see `collector`."""
    titles: bool = True
    """False: titles are taken out of the index."""
    filler: int = 0
    """Invented passages that are mixed in; the same is measured without them, too."""
    limit: int | None = None
    """Most questions of each dataset."""
    seed: int = 0
    """Chooses them; seeds the filler and the intervals."""
    processes: int = 1
    """Searches at once."""

    def __post_init__(self) -> None:
        require_one_source(self.questions, self.corpus, self.index)
        unknown = sorted(set(self.systems) - set(SYSTEMS))
        if unknown or not self.systems:
            raise SettingsError(f"Unknown system {', '.join(unknown) or '(none)'}. Known: {', '.join(SYSTEMS)}.")
        if min(self.turns, self.k, self.processes) < 1 or self.filler < 0:
            raise SettingsError(
                "Expected at least 1 turn, passage a call and process, and no negative filler; got "
                f"{self.turns}, {self.k}, {self.processes} and {self.filler}."
            )


def run_retrieval(options: RetrievalOptions) -> Report:
    """Search with every system and compare with the annotated support. Blocking; progress goes to stderr.

    Raises:
        DatasetError, RunFileError: see there.
        CorpusError, IndexFolderError, BackboneError: the corpus, its index or the model cannot be used.
        SettingsError: no question has support.
    """
    files = options.questions or (QUESTIONS,)
    loaded = load_all(files)
    judged = [question for question in loaded.questions if question.answerable and question.support]
    if not judged:
        raise SettingsError("No question has annotated support, so nothing can be missed. Check --questions.")
    base = _index(options)
    with LocalIndex.open(base.folder) as opened:
        targets = find_targets(draw(judged, options.limit, seed=options.seed), opened)
    kinds = load_kinds(files)
    searched = base if options.titles else without_titles(base)
    places = [(0, searched)]
    if options.filler:
        places.append((options.filler, with_filler(searched, options.filler, seed=options.seed)))
    labels: Row = {"titles": options.titles}
    rows = oracle_rows(targets, _of(targets, kinds), labels={"titles": True, "filler": 0}, seed=options.seed)
    failures: list[dict[str, Any]] = []
    before: dict[tuple[str, str, str], Found] = {}
    for filler, info in places:
        measured, lost = _measure(options, targets, kinds, info)
        compared = [replace(one, without_filler=before.get(_key(one))) for one in measured]
        before = {_key(one): one.found for one in measured}
        rows += map(_held_out, system_rows(compared, labels=labels | {"filler": filler}, seed=options.seed))
        failures += [failure | {"filler": filler} for failure in lost]
    return Report(
        benchmark="retrieval",
        settings=_settings(options, files, searched),
        seed=options.seed,
        rows=rows,
        failures=[*fault_counts(loaded.faults), *failures],
    )


def _index(options: RetrievalOptions) -> IndexInfo:
    if options.index:
        return index_info(options.index)
    return cached_index(options.corpus) if options.corpus else demo_index()


def _of(targets: Sequence[Target], kinds: Kinds) -> list[str]:
    return [kinds.get((target.question.dataset, target.question.id), "") for target in targets]


def _measure(
    options: RetrievalOptions, targets: Sequence[Target], kinds: Kinds, info: IndexInfo
) -> tuple[list[Measured], list[dict[str, Any]]]:
    """What every system found for every question, and the searches that failed."""
    with LocalIndex.open(info.folder) as index:
        key = corpus_key(index)
    jobs = {
        (system, at): Job(
            question=target.question.question,
            system=system,
            turns=options.turns,
            k=options.k,
            scorer=options.scorer,
            without=_unseen(target) if system == "hop" else None,
        )
        for system in options.systems
        for at, target in enumerate(targets)
    }
    with KeyedStore(cache_folder() / "benchmarks" / f"retrieval-{key[:12]}.jsonl") as store:
        found, lost = search_all(
            tuple(dict.fromkeys(jobs.values())), info.folder, index=key, store=store, processes=options.processes
        )
    names = _of(targets, kinds)
    measured = [
        Measured(target=targets[at], kind=names[at], system=system, found=found[job])
        for (system, at), job in jobs.items()
        if job in found
    ]
    failed = [failure_of(targets[at], system, lost[job]) for (system, at), job in jobs.items() if job in lost]
    return measured, failed


def _unseen(target: Target) -> str | None:
    """The family that the weights must not have seen; None where they were not fitted on it anyway."""
    family = family_of(target.question.dataset)
    return family if family in shipped_families() else None


def _held_out(row: Row) -> Row:
    """The one system with fitted weights says that they have not seen the family of the row."""
    return row | {"held_out": True} if row["system"] == "hop" else row


def _key(one: Measured) -> tuple[str, str, str]:
    return one.target.question.dataset, one.target.question.id, one.system


def failure_of(target: Target, system: str, lost: Lost) -> dict[str, Any]:
    """A search that failed, as a report tells it."""
    question = target.question
    return {
        "dataset": question.dataset,
        "split": question.split,
        "id": question.id,
        "system": system,
        "kind": lost.kind,
        "reason": lost.detail,
    }


def _settings(options: RetrievalOptions, files: Sequence[Path], info: IndexInfo) -> dict[str, Any]:
    manifest = info.manifest
    return {
        "questions": [path.name for path in files],
        "corpus": manifest.corpus.model_dump(),
        "passages": manifest.counts.passages,
        "encoder": manifest.encoder.model_dump(),
        "chunks": manifest.settings.model_dump(),
        "systems": list(options.systems),
        "turns": options.turns,
        "k": options.k,
        "scorer": options.scorer,
        "single_shot_k": SINGLE_SHOT,
        "titles": options.titles,
        "filler": options.filler,
        "limit": options.limit,
        "processes": options.processes,
        "threads_per_process": 1,
        "note": NOTE,
    }
