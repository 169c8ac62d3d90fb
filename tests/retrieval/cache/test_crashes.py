"""Several processes on one cache, killed at random moments (case C04)."""

from __future__ import annotations

from pathlib import Path

from benchmarks.cache_crash import crash_run, lost_writes
from retrieval.cache.store import PageStore


def test_killed_writers_leave_a_whole_cache_and_lose_nothing_that_they_acknowledged(tmp_path: Path) -> None:
    """SIGKILL in the middle of transactions, index commits and checkpoints; `verify` finds nothing wrong."""
    found = crash_run(tmp_path, processes=4, seconds=3, seed=3)
    assert found.lost == ()
    assert found.faults == ()
    assert found.kills > 0
    assert found.acknowledged > 0


def test_a_lost_write_would_be_seen(tmp_path: Path) -> None:
    """The check itself: pages that were acknowledged and are not there are told."""
    (tmp_path / "acknowledged-0.txt").write_text("1\n2\n3\n")
    with PageStore(tmp_path / "cache") as store:
        assert len(lost_writes(store, tmp_path, 0)) == 3
