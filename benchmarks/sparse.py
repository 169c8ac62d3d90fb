"""Which engine for the sparse index? `python -m benchmarks.sparse --corpus FILE --questions FILE ... [--json]`.

Every engine indexes the corpus and is asked every question. Three kinds of rows come out: figures of retrieval by
dataset (`construction` is `retrieval`), costs of building (`case` is `build`), and whether deleted documents leave
a trace (`case` is `delete-random` or `delete-longer`): half of the documents are deleted, and the hits compared
with those of an index that never held them. docs/decisions/001-sparse-index.md sums up.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console

from retrieval.corpora import open_corpus, passages

from .datasets import GoldPassage, Question
from .datasets.reading import fault_counts
from .datasets.sample import draw, load_all
from .environment import versions
from .errors import SettingsError
from .metrics import all_support_at, mean, recall_at
from .output import Report, Row, emit
from .sparse_engines import Engine, Fts5, LowLengths, Own, RankBm25, Tantivy, WholeWords, engine_versions

WHOLE_WORDS = 10_000
"""Passages stay whole: a gold passage in two halves could not be found."""
DEPTH = 10
"""Hits that are compared."""
FEW_QUESTIONS = 100
"""About so many questions are asked of the slow oracle, and after deleting."""

ENGINES: dict[str, Callable[[Path], Engine]] = {"bm25": Own, "tantivy": Tantivy, "fts5": Fts5}
VARIANTS: dict[str, Callable[[Path], Engine]] = {
    "bm25, k1 0.9, b 0.4": lambda folder: Own(folder, LowLengths),
    "bm25, whole words": lambda folder: Own(folder, WholeWords),
}
"""Compared as to what they find, not what they cost."""

Items = Sequence[tuple[str, str]]
_console = Console(stderr=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What every engine goes through."""

    items: Items
    questions: Sequence[Question]
    exact: Mapping[str, Sequence[str]]
    """The oracle's hits for some of the questions, by the question's text."""
    orders: Mapping[str, Sequence[int]]
    """By case: positions of items, of which the first half is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a system found for one question."""

    question: Question
    found: list[str]
    milliseconds: float


def run_sparse(
    *,
    corpus: Path,
    questions: Sequence[Path],
    systems: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> Report:
    """Compare the engines.

    Args:
        corpus: What is searched; its passages stay whole.
        systems: Names in `ENGINES` or `VARIANTS`; none: all of them.
        questions: Files whose support are passages of the corpus.
        limit: Most questions of each dataset, drawn by the seed.
        seed: Chooses them, and the documents that are deleted.

    Raises:
        SettingsError: an unknown system, or no question has all of its support in the corpus.
        DatasetError, CorpusError: a file cannot be read.
    """
    known = ENGINES | VARIANTS
    if unknown := set(systems) - set(known):
        raise SettingsError(f"Unknown systems: {sorted(unknown)}. Choose from {sorted(known)}.")
    items = list(dict(_texts(corpus)).items())
    loaded = load_all(questions)
    drawn, held = draw(loaded.questions, limit, seed=seed), {key for key, _ in items}
    usable = [question for question in drawn if _gold(question) and _gold(question) <= held]
    if not usable:
        raise SettingsError(f"No question has all its support in {corpus.name}. Pass the corpus it was made for.")
    _console.log("rank-bm25, the oracle")
    oracle = RankBm25(items)
    exact = {one.question: oracle.search(one.question, DEPTH) for one in _few(usable)}
    orders = {
        "delete-random": np.random.default_rng(seed).permutation(len(items)).tolist(),
        "delete-longer": sorted(range(len(items)), key=lambda number: (-len(items[number][1]), items[number][0])),
    }
    trial = Trial(items=items, questions=usable, exact=exact, orders=orders)
    rows: list[Row] = []
    failures = fault_counts(loaded.faults)
    for system in systems or known:
        _console.log(system)
        try:
            rows += _tried(system, known[system], trial)
        except ImportError as error:
            failures.append({"system": system, "reason": f"{error}. Install it with: pip install {system}"})
    return Report(
        benchmark="sparse",
        settings={
            "corpus": corpus.name,
            "questions": [path.name for path in questions],
            "systems": list(systems or known),
            "limit": limit,
        },
        seed=seed,
        rows=rows,
        failures=failures,
        versions=versions() | engine_versions(),
    )


def _texts(corpus: Path) -> Iterator[tuple[str, str]]:
    for document in open_corpus(corpus):
        for passage in passages(document, max_words=WHOLE_WORDS):
            yield passage.id, passage.full_text


def _gold(question: Question) -> set[str]:
    return {gold.passage_id for gold in question.support if isinstance(gold, GoldPassage)}


def _asked(engine: Engine, questions: Sequence[Question]) -> Iterator[Answer]:
    for question in questions:
        start = time.perf_counter()
        found = engine.search(question.question, DEPTH)
        yield Answer(question=question, found=found, milliseconds=(time.perf_counter() - start) * 1000)


def _tried(system: str, make: Callable[[Path], Engine], trial: Trial) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        start = time.perf_counter()
        with closing(make(folder / "all")) as engine:
            engine.add(trial.items)
            seconds = time.perf_counter() - start
            answers = list(_asked(engine, trial.questions))
        yield from _retrieval(system, answers, trial.exact)
        if system in VARIANTS:
            return
        megabytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
        costs: Row = {"build_seconds": seconds, "megabytes": megabytes}
        yield {"system": system, "case": "build", "n": len(trial.items), **costs}
        for case, order in trial.orders.items():
            yield {"system": system, "case": case, **_after_deleting(order, make, folder / case, trial)}


def _retrieval(system: str, answers: Iterable[Answer], exact: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """A row for each dataset."""
    ordered = sorted(answers, key=lambda answer: answer.question.dataset)
    for dataset, group in groupby(ordered, key=lambda answer: answer.question.dataset):
        some = list(group)
        ranks = [_ranks(answer) for answer in some]
        times = [answer.milliseconds for answer in some]
        checked = [
            (set(one.found), set(exact[one.question.question])) for one in some if one.question.question in exact
        ]
        yield {
            "dataset": dataset,
            "system": system,
            "construction": "retrieval",
            "split": some[0].question.split,
            "n": len(some),
            "recall@5": mean(recall_at(one, 5) for one in ranks),
            "recall@10": mean(recall_at(one, 10) for one in ranks),
            "all_support@10": mean(all_support_at(one, 10) for one in ranks),
            "checked": len(checked),
            "same_ten_as_exact": mean(found == best for found, best in checked),
            "overlap_with_exact@10": mean(len(found & best) / len(best) for found, best in checked if best),
            "ms_p50": float(np.quantile(times, 0.5)),
            "ms_p95": float(np.quantile(times, 0.95)),
        }


def _few(questions: Sequence[Question]) -> Sequence[Question]:
    return questions[:: max(1, len(questions) // FEW_QUESTIONS)]


def _ranks(answer: Answer) -> list[int | None]:
    return [answer.found.index(key) + 1 if key in answer.found else None for key in sorted(_gold(answer.question))]


def _after_deleting(order: Sequence[int], make: Callable[[Path], Engine], folder: Path, trial: Trial) -> Row:
    """Delete the first half in `order` from one index, build another of the rest, and compare their answers."""
    asked = _few(trial.questions)
    half = len(trial.items) // 2
    with closing(make(folder / "churned")) as churned, closing(make(folder / "fresh")) as fresh:
        churned.add(trial.items)
        start = time.perf_counter()
        churned.delete(trial.items[number][0] for number in order[:half])
        seconds = time.perf_counter() - start
        fresh.add([trial.items[number] for number in sorted(order[half:])])
        pairs = [
            (old.found, new.found) for old, new in zip(_asked(churned, asked), _asked(fresh, asked), strict=True)
        ]
    return {
        "n": len(asked),
        "deleted": half,
        "delete_seconds": seconds,
        "same_order_as_fresh": mean(old == new for old, new in pairs),
        "same_ten_as_fresh": mean(set(old) == set(new) for old, new in pairs),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="JSON lines, plain or .gz")
    parser.add_argument("--questions", type=Path, action="append", required=True, help="may be repeated")
    parser.add_argument(
        "--system", action="append", choices=[*ENGINES, *VARIANTS], help="may be repeated; default: all"
    )
    parser.add_argument("--limit", type=int, help="most questions of each dataset; default: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="one JSON object and nothing else on stdout")
    options = parser.parse_args(arguments)
    report = run_sparse(
        corpus=options.corpus,
        questions=options.questions,
        systems=options.system or (),
        limit=options.limit,
        seed=options.seed,
    )
    emit(report, as_json=options.json)


if __name__ == "__main__":
    main()
