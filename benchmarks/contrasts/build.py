"""From records and a corpus to contrasts, with counts of what was eligible and what was kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.index import LocalIndex, TransformerEncoder

from ..corpus import cache_folder, cached_index
from ..datasets.families import family_of
from ..datasets.lines import Fault
from ..datasets.reading import fault_counts
from ..datasets.records import Record
from ..errors import DatasetError, SettingsError
from ..output import Row
from ..store import KeyedStore
from . import deletion, native, substitution
from .additions import with_additions
from .model import CONSTRUCTIONS, ON_DEMAND, Construction, Contrast
from .pool import Pool
from .retrieval import SYSTEMS, one_a_group, retrieval
from .searches import Job, Searches, corpus_key
from .sides import Dropped

ADDITIONS = 20
"""Shared additions that a contrast carries (RINSE, appendix F)."""
NO_DELETION = frozenset({"hotpotqa"})
"""Families without deletion unless it is asked for: HotpotQA is the paper's test of substitution."""
NEED_CORPUS: frozenset[Construction] = frozenset({"substitution", "hard-substitution", "retrieval"})

Made = Contrast | Dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What to build.

    Raises:
        SettingsError: a construction needs a corpus and there is none; counts out of range.
    """

    constructions: tuple[Construction, ...] | None = None
    """Which; None = all that apply but those on demand, without those that need a corpus where there is none."""
    corpus: Path | None = None
    """Where distractors and retrieval pairs come from; its index is built once and kept in a cache."""
    index: Path | None = None
    """An index instead of it."""
    additions: int = ADDITIONS
    """For each contrast but those on demand: nobody measures under additions what is there to fit on."""
    retrieval_limit: int | None = 100
    """Questions of each dataset that are searched for; None = all. A search takes one to two seconds."""
    seed: int = 17
    processes: int = 2
    """Searches at once. Changes times, nothing else."""

    @property
    def chosen(self) -> tuple[Construction, ...]:
        """The constructions that are built."""
        if self.constructions is not None:
            return self.constructions
        without = ON_DEMAND if self.corpus or self.index else ON_DEMAND | NEED_CORPUS
        return tuple(name for name in CONSTRUCTIONS if name not in without)

    def __post_init__(self) -> None:
        if self.corpus and self.index:
            raise SettingsError("--corpus and --index both say where distractors come from. Give one of them.")
        limit = self.retrieval_limit
        if self.additions < 0 or self.processes < 1 or (limit is not None and limit < 1):
            raise SettingsError(
                "Expected additions >= 0, processes >= 1 and retrieval_limit >= 1 or None, got "
                f"{self.additions}, {self.processes} and {limit}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Contrasts and their counts."""

    contrasts: tuple[Contrast, ...]
    """By dataset, construction and group, in alphabetical order."""
    rows: tuple[Row, ...]
    """One a dataset and construction: eligible, kept, sides, pairs, and why others were dropped."""
    searched: str | None
    """Identifies corpus and encoder by content; None where nothing was searched."""


def build_contrasts(records: Sequence[Record], options: BuildOptions) -> Built:
    """Build all constructions that apply to these records. Deterministic; independent of the records' order.

    Raises:
        SettingsError: a construction needs a corpus and there is none.
        CorpusError, IndexFolderError, BackboneError: the corpus, its index or the model cannot be used.
        RunFileError: another run is searching the same corpus.
    """
    makers: dict[str, Callable[[], list[Made]]] = {
        "deletion": lambda: _deletion(records, options),
        "question-swap": lambda: _annotated(records, "question-swap"),
        "native": lambda: _annotated(records, "native"),
        "unrelated-swap": lambda: _unrelated(records, options),
        "substitution": lambda: _substitution(records, options),
        "made-swap": lambda: _made_swaps(records, options),
    }
    made = [one for name in options.chosen if name in makers for one in _named(name, makers[name]())]
    searched = None
    if {"hard-substitution", "retrieval"} & set(options.chosen):
        found, searched = _searched(records, options)
        made += found
    contrasts = [one for _, one in made if isinstance(one, Contrast)]
    tests = sorted((one for one in contrasts if one.construction not in ON_DEMAND), key=lambda one: one.key)
    built = with_additions(tests, options.additions, seed=options.seed)
    built += [one for one in contrasts if one.construction in ON_DEMAND]
    return Built(
        contrasts=tuple(sorted(built, key=lambda one: one.key)), rows=tuple(_rows(made)), searched=searched
    )


def _named(name: str, made: Iterable[Made]) -> list[tuple[str, Made]]:
    return [(name, one) for one in made]


def _deletion(records: Sequence[Record], options: BuildOptions) -> list[Made]:
    wanted = [
        record
        for record in records
        if deletion.eligible(record)
        and (options.constructions is not None or family_of(record.dataset) not in NO_DELETION)
    ]
    return [deletion.deletion(record, seed=options.seed, alone=alone) for record, alone in _alone(wanted)]


def _annotated(records: Sequence[Record], construction: Construction) -> list[Made]:
    groups = [group for group in native.by_group(records).values() if native.mixed(group)]
    return [one for one in map(native.annotated, groups) if one.construction == construction]


def _unrelated(records: Sequence[Record], options: BuildOptions) -> list[Made]:
    by_dataset: dict[str, list[Record]] = defaultdict(list)
    for record in native.by_id(records):
        by_dataset[record.dataset].append(record)
    return [
        native.unrelated(group, by_dataset[group[0].dataset], seed=options.seed)
        for group in native.by_group(records).values()
        if native.mixed(group) and native.one_set(group)
    ]


def _substitution(records: Sequence[Record], options: BuildOptions) -> list[Made]:
    wanted = [record for record in records if substitution.eligible(record)]
    if not wanted:
        return []
    pool = _pool(options)
    return [
        substitution.substitution(record, pool, seed=options.seed, alone=alone) for record, alone in _alone(wanted)
    ]


def _made_swaps(records: Sequence[Record], options: BuildOptions) -> list[Made]:
    from . import swaps

    wanted = [record for record in records if swaps.eligible(record)]
    return swaps.made_swaps(wanted, TransformerEncoder.named(), seed=options.seed) if wanted else []


def _pool(options: BuildOptions) -> Pool:
    if options.corpus:
        return Pool.read(options.corpus)
    if options.index:
        with LocalIndex.open(options.index) as index:
            return Pool(index)
    raise SettingsError("Substitution needs a corpus to draw from. Add --corpus FILE, or leave it out.")


def _searched(records: Sequence[Record], options: BuildOptions) -> tuple[list[tuple[str, Made]], str | None]:
    """Constructions that need an index."""
    hard = _hard_records(records) if "hard-substitution" in options.chosen else []
    asked = _asked(records, options) if "retrieval" in options.chosen else []
    if not hard and not asked:
        return [], None
    with LocalIndex.open(_index_folder(options)) as index:
        key = corpus_key(index)
        with KeyedStore(cache_folder() / "benchmarks" / f"searches-{key[:12]}.jsonl") as store:
            searches = Searches(index, store, processes=options.processes)
            jobs = [Job(question=record.question, systems=()) for record in hard]
            searches.run([*jobs, *(Job(question=record.question, systems=SYSTEMS) for record in asked)])
            made = _named(
                "hard-substitution",
                (
                    substitution.hard(record, searches.near, seed=options.seed, alone=alone)
                    for record, alone in _alone(hard)
                ),
            )
            made += _named(
                "retrieval", (retrieval(record, searches.found(record.question, SYSTEMS)) for record in asked)
            )
    return made, key


def _index_folder(options: BuildOptions) -> Path:
    if options.index:
        return options.index
    if options.corpus:
        return cached_index(options.corpus).folder
    raise SettingsError(
        "Hard substitution and retrieval pairs need a corpus to search. Add --corpus FILE, or leave them out."
    )


def _hard_records(records: Sequence[Record]) -> list[Record]:
    """Of datasets with distractors of their own all records, of those with one passage a question none."""
    return [record for record in records if substitution.eligible(record)]


def _alone(records: Sequence[Record]) -> Iterator[tuple[Record, bool]]:
    """Each record, and whether it is the only one of its group: else its contrast needs a name of its own."""
    sizes = Counter((record.dataset, record.group) for record in records)
    return ((record, sizes[record.dataset, record.group] == 1) for record in records)


def _asked(records: Sequence[Record], options: BuildOptions) -> list[Record]:
    """The questions to search for: one a group, `retrieval_limit` of each dataset, drawn by the seed."""
    from ..datasets.sample import draw_groups

    return list(draw_groups(one_a_group(records, seed=options.seed), options.retrieval_limit, seed=options.seed))


def nothing_built(built: Built, records: int, faults: Sequence[Fault]) -> DatasetError:
    """Why there is no contrast: what was eligible and dropped, and what could not be read."""
    dropped = [
        f"{row['dataset']}, {row['construction']}: {row['eligible']} eligible, dropped "
        + ", ".join(f"{name.removeprefix('dropped_')} {row[name]}" for name in row if name.startswith("dropped_"))
        for row in built.rows
    ]
    unread = [f"{one['count']} x {one['kind']} ({one['detail']})" for one in fault_counts(faults)]
    reasons = "; ".join(dropped) or (
        "none is eligible: substitution needs two supporting passages and four in all, deletion two and four "
        "distractors, question-swap and native a group with both labels, made-swap a single passage that holds "
        "the answer"
    )
    return DatasetError(
        f"No contrast could be built from {records} records: {reasons}."
        + (f" Not read: {'; '.join(unread)}." if unread else "")
    )


def _rows(made: Iterable[tuple[str, Made]]) -> list[Row]:
    by_kind: dict[tuple[str, str], list[Made]] = defaultdict(list)
    for construction, one in made:
        by_kind[one.dataset, construction].append(one)
    return [_row(dataset, construction, found) for (dataset, construction), found in sorted(by_kind.items())]


def _row(dataset: str, construction: str, made: Sequence[Made]) -> Row:
    kept = [one for one in made if isinstance(one, Contrast)]
    dropped: Mapping[str, int] = Counter(one.reason for one in made if isinstance(one, Dropped))
    sides = [side for one in kept for side in one.sides]
    return {
        "dataset": dataset,
        "construction": construction,
        "eligible": len(made),
        "kept": len(kept),
        "sides": len(sides),
        "pairs": sum(1 for one in kept for _ in one.pairs()),
        "passages_per_side": sum(len(side.passages) for side in sides) / len(sides) if sides else None,
        **{f"dropped_{reason}": count for reason, count in sorted(dropped.items())},
    }
