"""When a host may be asked: so many requests at once, so far apart, and not before it said (case F03)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeAlias

import anyio
from asyncio_throttle.throttler import Throttler

from .settings import FetchSettings
from .stop import Stop
from .urls import PORTS, WebURL

Sleep: TypeAlias = Callable[[float], Awaitable[None]]

LONGEST_PAUSE = 86_400.0
"""Seconds; what a host may ask for at most. A longer wish would outlive the process anyway."""
HOSTS = 4_096
"""Hosts that are remembered; beyond it, idle ones are forgotten."""
_POLL = 0.02


class Pace:
    """The turns of all hosts, and of the whole fetcher.

    Args:
        settings: Concurrency and interval.
        sleep: Waits so many seconds. Used for the pauses that hosts ask for.
    """

    def __init__(self, settings: FetchSettings, sleep: Sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        self._total = anyio.Semaphore(settings.total_concurrency)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def turn(
        self, url: WebURL, *, until: float, delay: float = 0.0, paced: bool = True
    ) -> AsyncIterator[None]:
        """Wait for a turn at the host, then hold it for one exchange.

        Args:
            url: What will be requested.
            until: Moment of `time.monotonic`; a pause that ends later is not begun.
            delay: Seconds between requests that the host's robots.txt asks for.
            paced: False: no interval is kept, and none begins. For robots.txt: one request a day and origin.

        Raises:
            Stop: `rate_limited`, if the host asked for a pause that ends after `until`.
        """
        host = self._host(url)
        async with host.slots:
            await self._open(host, url, until)
            if paced:
                await host.spaced(max(delay, self._settings.per_host_interval))
            async with self._total:
                yield

    def pause(self, url: WebURL, seconds: float) -> None:
        """The host asks for no requests for so long. Other hosts are not concerned."""
        host = self._host(url)
        host.closed_until = max(host.closed_until, time.monotonic() + min(seconds, LONGEST_PAUSE))

    def paused_for(self, url: WebURL) -> float:
        """Seconds until the host may be asked again."""
        return max(self._host(url).closed_until - time.monotonic(), 0.0)

    async def _open(self, host: _Host, url: WebURL, until: float) -> None:
        waited_until = time.monotonic()
        while (opens := host.closed_until) > waited_until:
            left = opens - max(time.monotonic(), waited_until)
            if opens > until:
                detail = f"{url.host} asks for no requests for {left:.0f} s more: longer than the time left."
                raise Stop("rate_limited", detail, retry_after=left)
            await self._sleep(left)
            waited_until = opens

    def _host(self, url: WebURL) -> _Host:
        # http and https of a host are one server; another port is often another one
        name = url.host if url.port in PORTS.values() else url.netloc
        found = self._hosts.get(name)
        if found is None:
            if len(self._hosts) >= HOSTS:
                self._hosts = {name: host for name, host in self._hosts.items() if not host.idle}
            found = self._hosts[name] = _Host(self._settings.per_host_concurrency)
        return found


class _Host:
    """What is known of one host."""

    def __init__(self, concurrency: int) -> None:
        self.slots = anyio.Semaphore(concurrency)
        self.closed_until = 0.0
        self._spaced_until = 0.0
        self._concurrency = concurrency
        self._throttle = Throttler(rate_limit=1, period=0.0, retry_interval=_POLL)

    async def spaced(self, interval: float) -> None:
        if interval > 0:
            self._throttle.period = interval
            await self._throttle.acquire()  # type: ignore[no-untyped-call]
            self._spaced_until = time.monotonic() + interval

    @property
    def idle(self) -> bool:
        """Nobody asks, and nothing that is known would matter to the next who does."""
        free = self.slots.value == self._concurrency and not self.slots.statistics().tasks_waiting
        return free and max(self.closed_until, self._spaced_until) <= time.monotonic()


def asked_pause(header: str | None, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, sec. 10.2.3); None: nothing that can be understood.

    Args:
        header: Seconds in digits, or an HTTP date. A date in the past is 0.
        now: Seconds since the epoch.

    >>> asked_pause("120", now=0.0)
    120.0
    """
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), LONGEST_PAUSE)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - datetime.fromtimestamp(now, UTC)).total_seconds()
    except (ValueError, OverflowError, OSError):
        return None
    return min(max(seconds, 0.0), LONGEST_PAUSE)
