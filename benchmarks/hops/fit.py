"""`python -m benchmarks retrieval-fit`: what each sign of a chain is worth, found on train questions.

The search runs as it is shipped. In what it finds, each passage that holds support is compared with each other
one of the same question by conditional-logistic regression: the weights that put the first before the second.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agent.chains import FEATURES
from agent.ranking import ALL, Compared, Weights, compare
from agent.views import Views
from retrieval import EvidenceSet
from retrieval.index import IndexInfo, LocalIndex, index_info

from ..contrasts.searches import corpus_key
from ..corpus import cache_folder, cached_index
from ..datasets import Question
from ..datasets.families import family_of, left_out_with
from ..datasets.reading import fault_counts
from ..datasets.sample import draw, load_all
from ..errors import BenchmarkError, SettingsError
from ..lanes import Lost
from ..output import Report, Row
from ..progress import counted
from ..store import KeyedStore
from .collector import UNSCORED
from .command import failure_of
from .rows import Measured, system_rows
from .search import Found, Job, search_all
from .targets import Target, find_targets

PENALTY = 0.003
"""Of the squared weights, features measured in their standard deviations."""
_DIGITS = 3  # of a weight


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """What to fit on. See `python -m benchmarks retrieval-fit --help`.

    Raises:
        SettingsError: not exactly one of corpus and index, or a number below its least value.
    """

    questions: tuple[Path, ...]
    """Files of train questions."""
    out: Path
    """Where the weights are written; replaced in one step."""
    corpus: Path | None = None
    index: Path | None = None
    turns: int = 4
    k: int = 10
    limit: int | None = None
    """Most questions of each dataset."""
    seed: int = 0
    """Chooses them, and seeds the intervals."""
    processes: int = 1

    def __post_init__(self) -> None:
        if (self.corpus is None) == (self.index is None):
            raise SettingsError("Give one of --corpus FILE and --index DIR: what the questions are searched in.")
        if min(self.turns, self.k, self.processes) < 1:
            raise SettingsError(
                f"Expected at least 1 turn, passage a call and process, got {self.turns}, {self.k} and "
                f"{self.processes}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question with what was found for it."""

    target: Target
    found: Found
    compared: Compared

    @property
    def family(self) -> str:
        """The family of its dataset."""
        return family_of(self.target.question.dataset)

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Which of the compared passages hold support, shape `(len(compared.near),)`."""
        held = frozenset[str]().union(*self.target.holders)
        return np.array([key in held for key in self.compared.near], dtype=np.bool_)


def run_retrieval_fit(options: FitOptions) -> Report:
    """Search, fit, write the weights, and say how well they rank what was found. Blocking; progress on stderr.

    Raises:
        DatasetError, RunFileError: see there.
        CorpusError, IndexFolderError, BackboneError: the corpus, its index or the model cannot be used.
        SettingsError: a file has other questions than train, none has support, or all are of one family.
        FitError: no minimum was found.
        BenchmarkError: the weights cannot be written.
    """
    loaded = load_all(options.questions)
    judged = _judged(loaded.questions)
    info = cached_index(options.corpus) if options.corpus else index_info(options.index or Path())
    with LocalIndex.open(info.folder) as opened:
        targets = find_targets(draw(judged, options.limit, seed=options.seed), opened)
    found, lost = _search(options, targets, info)
    cases = _cases(found, info)
    weights = fit_families(cases)
    _write(options.out, weights)
    return Report(
        benchmark="retrieval-fit",
        settings={
            "questions": [path.name for path in options.questions],
            "corpus": info.manifest.corpus.model_dump(),
            "turns": options.turns,
            "k": options.k,
            "scorer": UNSCORED,
            "limit": options.limit,
            "penalty": PENALTY,
            "note": "Rows say how well weights rank what the shipped search found; held_out: the family of a row "
            "was left out of the fit.",
        },
        seed=options.seed,
        rows=[*_weight_rows(cases, weights), *_figure_rows(cases, weights, seed=options.seed)],
        failures=[*fault_counts(loaded.faults), *lost],
    )


def fit_families(cases: Sequence[Case]) -> dict[str, Weights]:
    """Weights on all families (`ALL`), and for each family those that have not seen it or what it is made of.

    Raises:
        SettingsError: nothing to compare in the families that are left for one of the fits.
        FitError: see `fit_conditional_head`.
    """
    fitted = {ALL: fit_weights(cases)}
    for family in sorted({case.family for case in cases}):
        fitted[family] = fit_weights(_without(cases, family))
    return fitted


def fit_weights(cases: Sequence[Case]) -> Weights:
    """Weights that put passages with support first. Families count the same, and so do questions of a family.

    Raises:
        SettingsError: no question has both a passage with support and one without.
        FitError: see `fit_conditional_head`.
    """
    from rinse.fit.conditional import fit_conditional_head

    usable = [case for case in cases if 0 < case.gold.sum() < len(case.gold)]
    if not usable:
        raise SettingsError(
            "No search found a passage with support beside one without, so nothing can be compared. Check that "
            "--corpus holds the support of --questions, or raise --limit."
        )
    questions = Counter(case.family for case in usable)
    better, worse, weights = [], [], []
    for case in usable:
        gold, other = case.compared.features[case.gold], case.compared.features[~case.gold]
        better.append(np.repeat(gold, len(other), axis=0))
        worse.append(np.tile(other, (len(gold), 1)))
        pairs = len(gold) * len(other)
        weights.append(np.full(pairs, 1.0 / (pairs * questions[case.family] * len(questions))))
    found = fit_conditional_head(
        np.concatenate(better),
        np.concatenate(worse),
        weights=np.concatenate(weights),
        scale=np.concatenate([case.compared.features for case in usable]).std(axis=0),
        penalty=PENALTY,
    )
    return dict(zip(FEATURES, np.round(found, _DIGITS).tolist(), strict=True))


def _judged(questions: Sequence[Question]) -> list[Question]:
    """Those that have support.

    Raises:
        SettingsError: see `run_retrieval_fit`.
    """
    other = sorted({question.split for question in questions} - {"train"})
    if other:
        raise SettingsError(
            f"--questions hold the split {', '.join(map(repr, other))}: figures are reported on it, so nothing is "
            "fitted on it. Give files of the split 'train'."
        )
    judged = [question for question in questions if question.answerable and question.support]
    families = sorted({family_of(question.dataset) for question in judged})
    if len(families) < 2:
        raise SettingsError(
            f"Questions with support are of the families {families}; weights that have not seen a family need "
            "another one. Add --questions of a second family."
        )
    return judged


def _search(
    options: FitOptions, targets: Sequence[Target], info: IndexInfo
) -> tuple[list[tuple[Target, Found]], list[dict[str, str]]]:
    """What the shipped search finds for each question, and the searches that failed."""
    with LocalIndex.open(info.folder) as index:
        key = corpus_key(index)
    jobs = [
        Job(question=one.question.question, system="hop", turns=options.turns, k=options.k, scorer=UNSCORED)
        for one in targets
    ]
    with KeyedStore(cache_folder() / "benchmarks" / f"retrieval-fit-{key[:12]}.jsonl") as store:
        found, lost = search_all(
            tuple(dict.fromkeys(jobs)), info.folder, index=key, store=store, processes=options.processes
        )
    both = list(zip(targets, jobs, strict=True))
    failed: dict[Job, Lost] = lost
    return (
        [(target, found[job]) for target, job in both if job in found],
        [failure_of(target, "hop", failed[job]) for target, job in both if job in failed],
    )


def _cases(found: Sequence[tuple[Target, Found]], info: IndexInfo) -> list[Case]:
    """Look at what was found as the ranking does."""
    views, cases = Views(), []
    with LocalIndex.open(info.folder) as index, counted("features", total=len(found)) as advance:
        for target, one in found:
            evidence = EvidenceSet.of(index.passages(one.ids))
            compared = compare(target.question.question, evidence, one.rankings, views)
            cases.append(Case(target=target, found=one, compared=compared))
            advance()
    return cases


def _without(cases: Sequence[Case], family: str) -> list[Case]:
    unseen = left_out_with(family)
    return [case for case in cases if case.family not in unseen]


def _weight_rows(cases: Sequence[Case], weights: Mapping[str, Weights]) -> list[Row]:
    """The weights themselves, and on how many questions they were fitted."""
    return [
        {"system": "weights", "without": left_out, "n": len(_without(cases, left_out)), **found}
        for left_out, found in weights.items()
    ]


def _figure_rows(cases: Sequence[Case], weights: Mapping[str, Weights], *, seed: int) -> list[Row]:
    """Figures of the shipped order and of the fitted ones, held out and not."""
    orders: list[tuple[str, bool, list[tuple[str, ...]]]] = [
        ("shipped", False, [case.found.ids for case in cases]),
        ("fitted", False, [_order(case, weights[ALL]) for case in cases]),
        ("fitted", True, [_order(case, weights[case.family]) for case in cases]),
    ]
    return [
        row | {"construction": "retrieval-fit", "held_out": held_out}
        for system, held_out, order in orders
        for row in system_rows(
            [
                Measured(target=case.target, kind="", system=system, found=replace(case.found, ids=ids))
                for case, ids in zip(cases, order, strict=True)
            ],
            labels={},
            seed=seed,
        )
    ]


def _order(case: Case, weights: Weights) -> tuple[str, ...]:
    return case.compared.ranking(np.array([weights[name] for name in FEATURES])).ids


def _write(path: Path, weights: Mapping[str, Weights]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(weights, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise BenchmarkError(
            f"Cannot write the weights to {path}: {error}. Make room or name another file."
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()
