"""Below which score the generator is not called: chosen on training contrasts, never on what is judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policies.calibration.conformal import conformal_place

from ..datasets.families import left_out_with
from .draw import Drawn, Test


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A training record with its score."""

    test: Test
    sufficient: bool
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What the threshold of some records rests on."""

    name: str
    """For people: whose contrasts they are."""
    without: str | None
    """The family that the scorer must not have been fitted on; None = fitted on all."""
    training: tuple[Drawn, ...]


class Grounds:
    """For each record the training contrasts that its threshold is chosen on.

    Over sets of one passage where it holds one, else over sets of several, for scores of the two lie apart: those
    of its own family; where there are none, and always with `held_out`, those of all families that share no
    lineage with it.

    Args:
        training: Records of training files.
        held_out: Whether nothing that is fitted or chosen may have seen a record's family.
    """

    def __init__(self, training: Sequence[Drawn], *, held_out: bool) -> None:
        self._training = training
        self._held_out = held_out

    def of(self, record: Drawn) -> Ground:
        """The ground of a record; records with equal names share it."""
        family = record.family
        size = "one passage" if record.single else "several passages"
        alike = [one for one in self._training if one.single == record.single]
        own = tuple(one for one in alike if one.family == family)
        if own and not self._held_out:
            return Ground(name=f"{family}, {size}", without=None, training=own)
        return Ground(
            name=f"all but {family}, {size}",
            without=family if self._held_out else None,
            training=tuple(one for one in alike if one.family not in left_out_with(family)),
        )


def threshold(points: Sequence[Point], *, loss: float) -> float | None:
    """The highest threshold below which a new sufficient record lies with probability at most `loss`.

    Split conformal, see `conformal_place`: it holds for records that are drawn as these were. The higher a
    threshold, the fewer insufficient records pass: this is the largest cut at this loss. A record is stopped where
    its score is *below* the threshold.

    Args:
        points: Training records; only the sufficient ones are read, each counting the same.
        loss: In (0, 1).

    Returns:
        None: with fewer than `fewest_numbers(loss)` sufficient records no threshold keeps such a loss.

    >>> points = [Point(test=("a", "native"), sufficient=True, score=float(at)) for at in range(9)]
    >>> threshold(points, loss=0.3)
    2.0
    """
    good = sorted(point.score for point in points if point.sufficient)
    place = conformal_place(len(good), at_most=loss)
    return good[place - 1] if place else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """What a threshold does to training records."""

    sufficient: int
    insufficient: int
    stopped_sufficient: float | None
    """Share, in [0, 1]; None without a record."""
    stopped_insufficient: float | None


def tradeoff(points: Sequence[Point], at: float) -> Tradeoff:
    """What the threshold stops of these records."""
    labels = {label: [point for point in points if point.sufficient == label] for label in (True, False)}
    return Tradeoff(
        sufficient=len(labels[True]),
        insufficient=len(labels[False]),
        stopped_sufficient=_stopped(labels[True], at),
        stopped_insufficient=_stopped(labels[False], at),
    )


def by_test(points: Sequence[Point]) -> Mapping[Test, list[Point]]:
    """The points of each test, tests in alphabetical order."""
    found: dict[Test, list[Point]] = defaultdict(list)
    for point in sorted(points, key=lambda point: point.test):
        found[point.test].append(point)
    return found


def _stopped(points: Sequence[Point], at: float) -> float | None:
    return sum(point.score < at for point in points) / len(points) if points else None
