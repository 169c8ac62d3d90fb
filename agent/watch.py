"""Is the world still the one that the policy was certified in? Watches the scores at which searches stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from policies.calibration import ScoreMonitor
from retrieval import Event
from retrieval.compute import in_worker

from .certify import Certificate

_LOG = logging.getLogger(__name__)
FEWEST = 20
"""Reference scores that a watch needs."""


class ScoreWatch:
    """Compares the score at each search's stop with those of the calibration; all searches of an agent share it.

    The probability of ever raising a false alarm is bounded, see `ScoreMonitor`. It decides nothing: from the
    alarm on each search gets an event `scores_drifted`, and the log one warning.

    Args:
        reference: Stop scores of the calibration, at least `FEWEST`.
        level: Bound on the probability of a false alarm.
    """

    def __init__(self, reference: Sequence[float], *, level: float = 0.01) -> None:
        self._reference, self._level = tuple(reference), level
        self._monitor: ScoreMonitor | None = None
        self._turn = threading.Lock()
        self._told = False

    async def look(self, score: float | None) -> tuple[Event, ...]:
        """Take note of the score at which a search stopped; None where there was nothing valid."""
        message = await in_worker(self._look, score)
        if message is None:
            return ()
        if not self._told:
            self._told = True
            _LOG.warning("%s", message)
        return (Event(kind="scores_drifted", detail=message, where="policy"),)

    def _look(self, score: float | None) -> str | None:
        with self._turn:
            if self._monitor is None:  # its library takes seconds to load: not before the first search
                self._monitor = ScoreMonitor(self._reference, level=self._level)
            drift = self._monitor.add(score)
        return None if drift is None else drift.message


def watch_of(certificate: Certificate | None) -> ScoreWatch | None:
    """A watch for the searches that a certificate speaks of; None without one, or with too few scores in it."""
    if certificate is None or len(certificate.stop_scores) < FEWEST:
        return None
    return ScoreWatch(certificate.stop_scores)
