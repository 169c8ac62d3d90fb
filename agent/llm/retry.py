"""When a call is tried again, and after how long."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tenacity import RetryCallState

from ..errors import ModelCallError

LONGEST_PAUSE = 30.0
"""Seconds; of our own pauses, not of those that a server asks for."""


class PassingError(ModelCallError):
    """A failure that may pass: the same request can be sent again.

    Args:
        message: What happened.
        pause: Seconds that the server asks to wait; None: it does not say.
        lost: Whether the request reached the server, so that its tokens may be charged.
    """

    def __init__(self, message: str, *, pause: float | None = None, lost: bool = False) -> None:
        super().__init__(message)
        self.pause = pause
        self.lost = lost


class SeededPauses:
    """Exponential back-off with jitter: half to all of `first`, doubled with each attempt; or what a server asks.

    A `wait` of tenacity, whose own jitter cannot be seeded.
    """

    def __init__(self, first: float, *, seed: str) -> None:
        self._first = first
        self._random = random.Random(seed)  # noqa: S311  spreads load, hides nothing

    def __call__(self, state: RetryCallState) -> float:
        """Seconds until the next attempt."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, PassingError) and error.pause is not None:
            return error.pause
        pause = min(self._first * 2.0 ** min(state.attempt_number - 1, 30), LONGEST_PAUSE)
        return pause * self._random.uniform(0.5, 1.0)


def asked_pause(header: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` header asks for: a number or an HTTP date (RFC 9110, section 10.2.3).

    None if there is no header, or one that is neither. A date in the past is 0.

    >>> asked_pause("2.5")
    2.5
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        return _until(header, now or datetime.now(UTC))
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)
