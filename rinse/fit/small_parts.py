"""From stored readings to what is fitted of the readers of `small`. No model is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..profile import FittedReader
from ..size import SizeCorrection, fit_padded_correction
from .balance import pair_weights
from .conditional import fit_conditional_head, size_of_differences
from .errors import FitError
from .groups import TrainingGroup
from .readable import ReadPairs, read_pairs
from .small_readings import SmallGroup, SmallReading

DIGITS = 6
"""Significant digits of what is fitted: more would differ between machines and say nothing."""
LINES = frozenset({"content"})
"""Readers whose size trend is a line without end, as the paper's content reader; others follow the padded copies
beyond the largest training set (RINSE, section 4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallParts:
    """What one fold fits."""

    readers: Mapping[str, FittedReader]
    silent: tuple[str, ...]
    """Readers that tell no pair apart; they are not among `readers`."""
    questions: int
    """Questions in the pairs, counted once a family."""
    pairs: int


def fit_small_parts(
    groups: Sequence[TrainingGroup],
    readings: Sequence[SmallGroup],
    *,
    features: Mapping[str, Sequence[str]],
    penalty: float,
) -> SmallParts:
    """Fit head, size trend and scale of every reader.

    A head sees the pairs as they are; its weights are not below 0, for every feature is a coverage, of which more
    never speaks against sufficiency. For line, curve, mean and deviation see `fit_padded_correction`. Pairs of
    which one side could not be read are left out.

    Args:
        groups: That the fold keeps.
        readings: Of each group, in the same order.
        features: Names of each reader's features.
        penalty: See `rinse.fit.small.PENALTY`.

    Raises:
        FitError: there is no pair, no reader tells any apart, or a size trend cannot be fitted; says what to add.
    """
    pairs = read_pairs(groups, [read.readings for read in readings])
    if not pairs.good:
        raise FitError("No pair could be read on both sides, so there is nothing to fit. Add pairs.")
    weights = pair_weights(pairs.keys)
    fitted = {}
    for reader, names in features.items():
        head = _head(pairs, weights, reader, names, penalty)
        if any(head.values()):
            fitted[reader] = _fitted(head, _correction(readings, reader, head))
    if not fitted:
        raise FitError("No reader tells sufficient sides from insufficient ones. Are they the wrong way round?")
    return SmallParts(
        readers=fitted,
        silent=tuple(reader for reader in features if reader not in fitted),
        questions=len({(family, group) for family, _, group in pairs.keys}),
        pairs=len(pairs.good),
    )


def _head(
    pairs: ReadPairs[SmallReading], weights: NDArray[np.float64], reader: str, names: Sequence[str], penalty: float
) -> dict[str, float]:
    good, bad = (
        np.array([[one.features[reader][name] for name in names] for one in side], dtype=np.float64)
        for side in (pairs.good, pairs.bad)
    )
    head = fit_conditional_head(
        good,
        bad,
        weights=weights,
        scale=size_of_differences(good, bad, weights),
        penalty=penalty,
        lower_bound=0.0,
    )
    return {name: rounded(weight) for name, weight in zip(names, head, strict=True)}


def _correction(readings: Sequence[SmallGroup], reader: str, head: Mapping[str, float]) -> SizeCorrection:
    flat = [(f"{number}:{one.side}", one) for number, read in enumerate(readings) for one in read.readings]
    try:
        return fit_padded_correction(
            [sum(weight * one.features[reader][name] for name, weight in head.items()) for _, one in flat],
            [one.passages for _, one in flat],
            [name for name, _ in flat],
            padded=[one.added > 0 for _, one in flat],
            curve=reader not in LINES,
        )
    except ValueError as error:
        raise FitError(
            f"The size correction of the {reader} reader cannot be fitted: {error} Padding draws from other "
            "questions of a family: give more questions, or smaller sizes with --padding."
        ) from error


def _fitted(head: dict[str, float], found: SizeCorrection) -> FittedReader:
    return FittedReader(
        head=head,
        alpha=rounded(found.alpha),
        beta=rounded(found.beta),
        mu=rounded(found.mu),
        sigma=rounded(found.sigma),
        limit=found.limit,
        knots=tuple(map(rounded, found.knots)),
        values=tuple(map(rounded, found.values)),
    )


def rounded(value: float) -> float:
    """To the digits in which what is fitted is written."""
    return float(f"{value:.{DIGITS}g}")
