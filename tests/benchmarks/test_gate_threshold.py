"""Where the gate stops: chosen on training records of the right families, within the loss that is allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.gate.threshold import Grounds, Point, by_test, threshold, tradeoff
from policies.calibration.conformal import fewest_numbers
from tests.benchmarks.gate_world import record

LOSSES = [0.08, 0.25, 0.5, 0.9]
scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=20)


def points(values: list[float], *, dataset: str = "a", sufficient: bool = True) -> list[Point]:
    return [Point(test=(dataset, "deletion"), sufficient=sufficient, score=value) for value in values]


@given(values=st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=20), loss=st.sampled_from(LOSSES))
def test_it_keeps_the_loss_over_exchangeable_records(values: list[float], loss: float) -> None:
    """Whichever record is the new one, all equally likely: the share that is lost is at most the demanded one."""
    lost = 0
    for place, new in enumerate(values):
        at = threshold(points(values[:place] + values[place + 1 :]), loss=loss)
        lost += at is not None and new < at
    assert lost <= loss * len(values) + 1e-9


@given(values=scores, loss=st.sampled_from(LOSSES))
def test_it_is_the_highest_that_keeps_the_loss(values: list[float], loss: float) -> None:
    """The next higher score would lose more of new records; too few records are told from enough."""
    at = threshold(points(values), loss=loss)
    assert (at is None) == (len(values) < fewest_numbers(loss))
    higher = sorted(value for value in values if at is not None and value > at)
    if higher:
        assert sum(value < higher[0] for value in values) + 1 > loss * (len(values) + 1)


def test_every_record_counts_the_same() -> None:
    """A test of few records does not decide for one of many: the fifth lowest of 24, whatever their tests are."""
    found = points([float(at) for at in range(20)]) + points([90.0, 91.0, 92.0, 93.0], dataset="b")
    assert threshold(found, loss=0.2) == 4.0


def test_insufficient_records_do_not_move_it_and_none_is_none() -> None:
    """The rule reads the sufficient side; where nothing was measured nothing is made up."""
    good = points([1.0, 2.0, 3.0])
    assert threshold(good + points([9.0] * 50, sufficient=False), loss=0.4) == threshold(good, loss=0.4)
    assert threshold(points([1.0], sufficient=False), loss=0.4) is None


def test_what_a_threshold_does_is_counted() -> None:
    """Worked by hand: 1/3 of the sufficient, 2/2 of the insufficient records lie below 1."""
    found = points([0.0, 2.0]) + points([3.0], dataset="b") + points([0.0, 0.5], sufficient=False)
    done = tradeoff(found, 1.0)
    assert (done.stopped_sufficient, done.stopped_insufficient) == (1 / 3, 1.0)
    assert (done.sufficient, done.insufficient) == (3, 2)
    assert list(by_test(found)) == [("a", "deletion"), ("b", "deletion")]
    assert tradeoff([], 0.0).stopped_sufficient is None


TRAINING = [
    record("h", sufficient=True, dataset="hotpotqa"),
    record("w", sufficient=True, dataset="2wikimultihopqa"),
    record("m", sufficient=True, dataset="musique"),
    record("n", sufficient=True, dataset="nq_open", construction="made-swap", passages=1),
    record("o", sufficient=True, dataset="drop_span", construction="made-swap", passages=1),
]


@pytest.mark.parametrize(
    ("dataset", "passages", "held_out", "groups", "without"),
    [
        ("hotpotqa", 10, False, "h", None),
        ("squad2", 1, False, "no", None),
        ("squad2", 5, False, "hwm", None),
        ("drop_span", 1, False, "o", None),
        ("drop_span", 5, False, "hwm", None),
        ("hotpotqa", 1, False, "no", None),
        ("hotpotqa", 10, True, "wm", "hotpotqa"),
        ("musique", 20, True, "hw", "musique"),
        ("musique", 1, True, "o", "musique"),
        ("squad2", 1, True, "no", "squad"),
    ],
)
def test_whose_contrasts_a_threshold_rests_on(
    dataset: str, passages: int, held_out: bool, groups: str, without: str | None
) -> None:
    """Its own family's of its size; without any, or held out, strangers': MuSiQue's lineage is no stranger."""
    asked = record("x", sufficient=True, dataset=dataset, passages=passages)
    ground = Grounds(TRAINING, held_out=held_out).of(asked)
    assert "".join(one.contrast.group for one in ground.training) == groups
    assert ground.without == without
