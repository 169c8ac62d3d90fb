"""The watch over scores at the stop."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from policies.calibration import ScoreMonitor
from policies.errors import CalibrationDataError, PolicyParameterError


def test_false_alarms_stay_below_the_level() -> None:
    """100 streams of 100 scores from the same source, looked at after each score."""
    rng = np.random.default_rng(0)
    alarms = 0
    for stream in range(100):
        monitor = ScoreMonitor(rng.normal(size=60).tolist(), level=0.05, seed=stream)
        alarms += any(monitor.add(float(score)) for score in rng.normal(size=100))
    assert alarms / 100 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


@pytest.mark.parametrize(("shift", "direction", "word"), [(-1.5, "lower", "lower"), (1.5, "higher", "higher")])
def test_a_shift_is_seen_and_described(shift: float, direction: str, word: str) -> None:
    """Direction and size in words and numbers; the alarm stays on."""
    rng = np.random.default_rng(1)
    monitor = ScoreMonitor(rng.normal(size=200).tolist())
    drifts = [monitor.add(float(score)) for score in rng.normal(shift, 1, size=120)]
    first = next(place for place, drift in enumerate(drifts) if drift)
    assert all(drifts[first:])
    last = drifts[-1]
    assert last is not None
    assert last.direction == direction
    assert last.shift == pytest.approx(shift, abs=0.4)
    assert f"they are {word}" in last.message
    assert "calibrate again" in last.message
    assert last.evidence >= 100
    assert (last.seen, monitor.seen) == (120, 120)


def test_invalid_scores_are_counted_and_nothing_else() -> None:
    """Case S04: no alarm rests on them, and the rest is as if they had not come."""
    scores = np.random.default_rng(2).normal(-2, 1, size=100)
    one, other = ScoreMonitor(list(range(30))), ScoreMonitor([*range(30), None, math.nan])
    drifts = []
    for score in scores:
        drifts.append(one.add(float(score)))
        assert other.add(math.nan) is None
        assert other.add(None) is None
        assert other.add(float(score)) == drifts[-1]
    assert (other.seen, other.invalid) == (100, 200)


def test_the_same_seed_gives_the_same_alarm() -> None:
    """Ties are broken at random, by the seed."""
    streams = []
    for seed in (3, 3):
        monitor = ScoreMonitor([0.0, 1.0] * 20, seed=seed)
        streams.append([monitor.add(1.0) for _ in range(120)])
    assert streams[0] == streams[1]


def test_a_long_drift_overflows_nothing() -> None:
    """A martingale that grew on would leave what a float holds."""
    monitor = ScoreMonitor(list(range(50)))
    assert [monitor.add(1000.0 + score) for score in range(2_500)][-1] is not None


def test_what_cannot_be_watched_is_refused() -> None:
    with pytest.raises(CalibrationDataError, match="at least 20 valid"):
        ScoreMonitor([1.0] * 19 + [math.nan])
    with pytest.raises(PolicyParameterError, match="between 0 and 1"):
        ScoreMonitor([1.0] * 20, level=0.0)


def test_importing_the_package_loads_no_statistics_library() -> None:
    """Two seconds that `sufficit --help` must not wait."""
    code = "import sys, policies, policies.calibration; print({'sklearn', 'mapie', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
