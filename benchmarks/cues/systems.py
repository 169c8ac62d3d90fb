"""The scores of all cues on the contrasts of one dataset and construction."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval import EvidenceSet
from retrieval.text import tokenise

from ..contrasts.model import Contrast, Made, Side
from ..errors import SettingsError
from .classifier import out_of_fold
from .coverage import coverage_cues
from .features import HashedCounts
from .lexicon import Lexicon

Record: TypeAlias = tuple[tuple[str, str, str], str]
"""A contrast's key and the id of one of its sides."""
Scores: TypeAlias = dict[str, dict[Record, float]]
"""Scores by system, then by record."""

PROBABILITIES = frozenset({"cue-question-only", "cue-evidence-only"})
"""Systems whose scores are probabilities of sufficiency; those of all others only rank."""

_METADATA: Mapping[str, Callable[[Made], float | None]] = {
    "always-bm25": lambda made: float("bm25" in made.systems),
    "always-dense": lambda made: float("dense" in made.systems),
    "top-score": lambda made: made.top_score,
}
"""What tells the sides of a retrieval pair apart without reading them."""


def cue_scores(
    contrasts: Sequence[Contrast],
    *,
    added: int = 0,
    seed: int = 17,
    lexicon: Lexicon | None = None,
    known: Scores | None = None,
) -> Scores:
    """Score every side with every cue of appendix C and, for retrieval pairs, with what is known of the retrieval.

    Higher speaks for sufficient. The scores depend on the contrasts and not on their order.

    Args:
        contrasts: Of one dataset and construction, with distinct keys.
        added: Shared additions to each side; weights of words stay those of 0.
        seed: Of the folds.
        lexicon: `Lexicon.of(contrasts)` if you have it already; it remembers the words of each passage.
        known: What this function returned for the same contrasts and seed under other additions: the question-only
            classifier is the same there and is not fitted again.

    Returns:
        Only systems and records with a score: the classifiers need two groups, `top-score` is missing where the
        file gives none. No contrast: no system.

    Raises:
        SettingsError: the contrasts are of several datasets or constructions.
    """
    kinds = sorted({contrast.key[:2] for contrast in contrasts})
    if len(kinds) > 1:
        raise SettingsError(
            f"Cues are learned for one dataset and construction at a time, these are {len(kinds)}: "
            f"{', '.join('/'.join(kind) for kind in kinds[:5])}. Call once for each."
        )
    lexicon = Lexicon.of(contrasts) if lexicon is None else lexicon
    records = {(contrast.key, side.id): (contrast, side) for contrast, side in _sides(contrasts)}
    evidence = {record: contrast.evidence(side, added=added) for record, (contrast, side) in records.items()}
    scores: Scores = {}
    for record, (_, side) in records.items():
        for system, score in coverage_cues(lexicon, side.question, evidence[record]).items():
            scores.setdefault(system, {})[record] = score
    fitted = {name: known[name] for name in ("cue-question-only",) if known and name in known}
    scores |= fitted | _classified(lexicon, records, evidence, seed=seed, but=fitted)
    return scores | _metadata(records)


def cue_controlled(contrasts: Sequence[Contrast], scores: Scores) -> NDArray[np.bool_]:
    """The pairs on which minimum and mean IDF coverage each tie or point the wrong way.

    Args:
        contrasts: As they were given to `cue_scores`.
        scores: What it returned.

    Returns:
        One truth value a pair, in the order of the contrasts and of their `pairs()`.
    """
    columns = [scores.get(system, {}) for system in ("cue-min-idf", "cue-mean-idf")]
    return np.array(
        [
            all(column[contrast.key, good.id] <= column[contrast.key, bad.id] for column in columns)
            for contrast in contrasts
            for good, bad in contrast.pairs()
        ],
        dtype=np.bool_,
    )


def _sides(contrasts: Sequence[Contrast]) -> Iterator[tuple[Contrast, Side]]:
    return ((contrast, side) for contrast in contrasts for side in contrast.sides)


def _classified(
    lexicon: Lexicon,
    records: Mapping[Record, tuple[Contrast, Side]],
    evidence: Mapping[Record, EvidenceSet],
    *,
    seed: int,
    but: Container[str],
) -> Scores:
    hashed = HashedCounts()
    # Sorted, so that sums run in one order whatever the order of the file.
    names = sorted(records)
    sides = [records[name][1] for name in names]
    labels = np.array([side.sufficient for side in sides], dtype=np.bool_)
    groups = [group for (_, _, group), _ in names]
    texts = {
        "cue-question-only": ([tuple(tokenise(side.question))] for side in sides),
        "cue-evidence-only": (
            _ordered(lexicon, side.question, evidence[name]) for name, side in zip(names, sides, strict=True)
        ),
    }
    learned = {
        system: out_of_fold(hashed.matrix(words), labels, groups, seed=seed)
        for system, words in texts.items()
        if system not in but
    }
    return {
        system: dict(zip(names, found.tolist(), strict=True))
        for system, found in learned.items()
        if found is not None
    }


def _ordered(lexicon: Lexicon, question: str, evidence: EvidenceSet) -> list[tuple[str, ...]]:
    """The words of the passages in BM25 order: what they are when they are joined with blank lines."""
    words = {passage.id: lexicon.words(passage) for passage in evidence}
    return [words[key] for key, _ in lexicon.order(question, evidence)]


def _metadata(records: Mapping[Record, tuple[Contrast, Side]]) -> Scores:
    scores: Scores = {}
    for record, (contrast, side) in records.items():
        if contrast.construction == "retrieval":
            for system, score_of in _METADATA.items():
                if (score := score_of(side.made)) is not None:
                    scores.setdefault(system, {})[record] = score
    return scores
