"""From stored readings to the head that compares questions (`rinse.odds`). No model is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..odds import Parabola, Terms
from .balance import PairKey, pair_weights
from .errors import FitError
from .groups import TrainingGroup
from .small_parts import rounded
from .small_readings import SmallGroup, SmallReading

FEWEST = 20
"""Sides of each label that sets of one passage, and of several, need for terms of their own. A convention."""
TOGETHER = frozenset({"chain"})
"""Readers of how passages hang together: of one passage they say only whether it bears a heading."""
_SIZE = ("", "size")
_FLAT = 1e-9
"""Deviation below which a feature says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    reading: SmallReading
    sufficient: bool
    single: bool
    """Whether it holds one passage, as it is or before it was padded."""
    key: PairKey


def fit_odds(
    groups: Sequence[TrainingGroup],
    readings: Sequence[SmallGroup],
    *,
    features: Mapping[str, Sequence[str]],
    penalty: float,
) -> tuple[Terms, ...]:
    """Logistic regression on records, for sets of one passage and of several; one for all if either has too few.

    Both labels weigh the same, within a label families, within a family constructions, then groups. Padded copies
    of records of several passages take part, so that a set's size is told from its label; those of one passage do
    not: a text among strange ones is no search's result.

    Args:
        groups: That the fold keeps.
        readings: Of each group, in the same order.
        features: Names of each reader's features.
        penalty: L2 against the mean loss of a record, columns in units of their deviation.

    Raises:
        FitError: a label is missing, or no feature varies.
    """
    found = _records(groups, readings)
    alone = {reader: names for reader, names in features.items() if reader not in TOGETHER}
    kinds = (([one for one in found if one.single], alone), ([one for one in found if not one.single], features))
    if all(_enough(kind) and _varies(kind, names) for kind, names in kinds):
        return tuple(_terms(kind, size, names, penalty) for size, (kind, names) in enumerate(kinds, start=1))
    if len({one.sufficient for one in found}) < 2:
        raise FitError("Log-odds need sufficient and insufficient sides that could be read. Add pairs.")
    if not _varies(found, features):
        raise FitError("No feature differs between sides, so log-odds cannot be fitted. Add other pairs.")
    return (_terms(found, 1, features, penalty),)


def _records(groups: Sequence[TrainingGroup], readings: Sequence[SmallGroup]) -> list[_Record]:
    """All but padded copies of one passage, and of sides that could not be read as they are."""
    found = []
    for group, read in zip(groups, readings, strict=True):
        plain = {one.side: one.passages for one in read.readings if not one.added}
        found += [
            _Record(
                reading=one,
                sufficient=group.sides[one.side].sufficient,
                single=plain[one.side] == 1,
                key=group.pair_key,
            )
            for one in read.readings
            if plain.get(one.side, 0) > (1 if one.added else 0)
        ]
    return found


def _enough(records: Sequence[_Record]) -> bool:
    counts = Counter(one.sufficient for one in records if not one.reading.added)
    return min(counts[True], counts[False]) >= FEWEST


def _varies(records: Sequence[_Record], features: Mapping[str, Sequence[str]]) -> bool:
    return any(column.std() > _FLAT for name, column in _values(records, features).items() if name != _SIZE)


def _terms(
    records: Sequence[_Record], passages: int, features: Mapping[str, Sequence[str]], penalty: float
) -> Terms:
    from sklearn.linear_model import LogisticRegression

    values = _values(records, features)
    columns = {name: column for name, column in values.items() if column.std() > _FLAT}
    raw = np.stack([power for column in columns.values() for power in (column, column**2)], axis=1)
    middle, unit = raw.mean(axis=0), raw.std(axis=0)
    labels = np.array([one.sufficient for one in records])
    model = LogisticRegression(C=1 / penalty, max_iter=10_000, tol=1e-8)
    model.fit((raw - middle) / unit, labels, sample_weight=_weights(records, labels))
    weights = model.coef_[0] / unit
    parabolas = {
        name: Parabola(
            weight=rounded(weights[2 * place]),
            square=rounded(weights[2 * place + 1]),
            low=rounded(column.min()),
            high=rounded(column.max()),
        )
        for place, (name, column) in enumerate(columns.items())
    }
    flat = Parabola(weight=0.0, square=0.0, low=0.0, high=0.0)
    return Terms(
        passages=passages,
        intercept=rounded(model.intercept_[0] - weights @ middle),
        size=parabolas.pop(_SIZE, flat),
        readers={
            reader: {name: parabolas[reader, name] for name in names if (reader, name) in parabolas}
            for reader, names in features.items()
            if any((reader, name) in parabolas for name in names)
        },
    )


def _values(
    records: Sequence[_Record], features: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], NDArray[np.float64]]:
    values = {
        (reader, name): np.array([one.reading.features[reader][name] for one in records])
        for reader, names in features.items()
        for name in names
    }
    return values | {_SIZE: np.log1p([one.reading.passages for one in records])}


def _weights(records: Sequence[_Record], labels: NDArray[np.bool_]) -> NDArray[np.float64]:
    weights = np.zeros(len(records))
    for label in (True, False):
        of_label = labels == label
        weights[of_label] = pair_weights([one.key for one in records if one.sufficient == label]) / 2
    return weights
