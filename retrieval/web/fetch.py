"""The fetcher: one URL to one outcome, politely and safely."""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result

from .guard import GuardedBackend, Resolve, resolve_name
from .outcome import Fetched, Kind
from .pace import Pace, Sleep, asked_pause
from .robots import LARGEST, Robots
from .settings import FetchSettings
from .status import REDIRECTS, WHOLE, is_passing, meaning
from .stop import Stop
from .trail import Trail, usable_validators
from .urls import WebURL, join_url, parse_url
from .wire import Answer, Tally, Want, Wire, usual_authorities

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
"""Seconds between retries, doubled each time, of which half to all is waited; a host may ask for more."""


class Fetcher:
    """Fetches pages of the web. One for each process and event loop: it knows when each host may be asked again.

    An async context manager; or call `aclose`.

    Args:
        settings: Limits and manners.
        clock: Seconds since the epoch, for caching, HTTP dates and the age of robots.txt.
        sleep: Waits so many seconds: between retries, and when a host asks for a pause.
        resolve: All addresses of a host.
        tls: How certificates are checked. None: the usual authorities, or those of SSL_CERT_FILE.
    """

    def __init__(
        self,
        settings: FetchSettings | None = None,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Sleep = anyio.sleep,
        resolve: Resolve = resolve_name,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.settings = settings or FetchSettings()
        self._clock = clock
        self._sleep = sleep
        self._random = random.Random(self.settings.seed)  # noqa: S311  spreads load, hides nothing
        self._pace = Pace(self.settings, sleep)
        self._robots = Robots(self._get_robots, clock)
        guarded = GuardedBackend(self.settings.allow_private, resolve)
        self._wire = Wire(self.settings, guarded, clock, tls or usual_authorities())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._wire.aclose()

    async def fetch(
        self, url: str, *, validators: Mapping[str, str] | None = None, deadline: float | None = None
    ) -> Fetched:
        """Fetch one page. Whatever the URL, the site and the network do is an outcome, never an exception.

        Args:
            url: What to fetch; its normal form is requested, see `fetch_key`.
            validators: `if-none-match` and `if-modified-since` of a copy; then 304 is `not_modified`.
            deadline: Moment of `time.monotonic` by which the fetch ends, in any case.
        """
        until = time.monotonic() + self.settings.total_seconds
        trail = Trail(
            asked_for=url,
            until=until if deadline is None else min(until, deadline),
            retries_left=self.settings.retries,
            validators=usable_validators(validators or {}),
            request_headers=self._wire.request_headers,
            now=self._clock,
        )
        try:
            with anyio.move_on_after(max(trail.seconds_left, 0.0)):
                answer = await self._follow(parse_url(url), trail)
                return trail.ended(*_judged(answer, trail))
        except Stop as stop:
            return trail.ended(stop.outcome, stop.detail, stop.retry_after)
        spent = time.monotonic() - trail.began
        return trail.ended(
            "timeout", f"Its time was over after {spent:.1f} s; raise total_seconds or the deadline."
        )

    async def _follow(self, url: WebURL, trail: Trail) -> Answer:
        """The last answer of a chain of redirects. Each hop is checked as if it had been asked for."""
        for _ in range(self.settings.max_redirects + 1):
            trail.url, trail.tally.answer = str(url), None
            self._refuse_paused(url, trail)
            delay = await self._allowed(url, trail)
            answer = await self._tried(url, trail, delay)
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or not location:
                return answer
            trail.redirects.append(str(url))
            url = join_url(url, location)
            if str(url) in trail.redirects:
                raise Stop("error", f"The site redirects in a circle, back to {url}; sites that want cookies do.")
        raise Stop("error", f"More than {self.settings.max_redirects} redirects; the last leads to {url}.")

    def _refuse_paused(self, url: WebURL, trail: Trail) -> None:
        paused = self._pace.paused_for(url)
        if paused > max(trail.seconds_left, 0.0):
            detail = f"{url.host} asks for no requests for {paused:.0f} s more: longer than the time left."
            raise Stop("rate_limited", detail, retry_after=paused)

    async def _allowed(self, url: WebURL, trail: Trail) -> float:
        """Seconds between requests that the origin's robots.txt asks for, if it allows the URL."""
        if not self.settings.robots:
            return 0.0
        verdict = await self._robots.verdict(url)
        trail.robots = verdict.detail
        if verdict.refused is not None:
            raise Stop(verdict.refused, verdict.detail)
        return verdict.delay

    async def _tried(self, url: WebURL, trail: Trail, delay: float) -> Answer:
        """The answer of one hop, asked for again while that may help and there is time."""

        async def once() -> Answer:
            async with self._pace.turn(url, until=trail.until, delay=delay):
                want = Want(
                    seconds=min(self.settings.timeout_seconds, trail.seconds_left),
                    max_bytes=self.settings.max_bytes,
                    statuses=WHOLE,
                )
                answer = await self._wire.exchange(url, trail.validators, want, trail.tally)
            self._heed(answer)
            return answer

        def is_over(state: RetryCallState) -> bool:
            wait = max(state.upcoming_sleep, self._pace.paused_for(url))
            return trail.retries_left <= 0 or wait > trail.seconds_left

        def count(_: RetryCallState) -> None:
            trail.retries_left -= 1

        return await self._retrying(is_over, count)(once)

    async def _get_robots(self, url: WebURL) -> Answer:
        """One hop of a robots.txt, with its own time: its result is shared by all who ask."""
        tally = Tally()

        async def once() -> Answer:
            async with self._pace.turn(url, until=float("inf"), paced=False):
                want = Want(seconds=self.settings.timeout_seconds, max_bytes=LARGEST, statuses=WHOLE, page=False)
                answer = await self._wire.exchange(url, {}, want, tally)
            self._heed(answer)
            return answer

        return await self._retrying(lambda state: state.attempt_number > self.settings.retries)(once)

    def _retrying(
        self,
        is_over: Callable[[RetryCallState], bool],
        before_sleep: Callable[[RetryCallState], None] | None = None,
    ) -> AsyncRetrying:
        return AsyncRetrying(
            sleep=self._sleep,
            stop=is_over,
            wait=self._backoff,
            before_sleep=before_sleep,
            retry=retry_if_exception(_may_pass) | retry_if_result(_is_passing),
            retry_error_callback=_as_it_was,
        )

    def _backoff(self, state: RetryCallState) -> float:
        pause = min(FIRST_PAUSE * 2.0 ** (state.attempt_number - 1), LONGEST_PAUSE)
        return pause * self._random.uniform(0.5, 1.0)

    def _heed(self, answer: Answer) -> None:
        """A pause that the host asks for holds for all that want something of it."""
        asked = asked_pause(answer.headers.get("retry-after"), answer.received_at)
        if asked is not None and is_passing(answer.status, answer.headers):
            self._pace.pause(answer.url, asked)


def _judged(answer: Answer, trail: Trail) -> tuple[Kind, str]:
    if answer.cut:
        return "too_large", "The body is larger than max_bytes, before or after decompression."
    outcome, detail = meaning(answer.status, answer.headers, conditional=bool(trail.validators))
    if outcome == "ok" and not answer.body:
        return "low_content", "The site answers with an empty body."
    return outcome, detail or trail.robots


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, Stop) and error.again


def _is_passing(answer: Answer) -> bool:
    return is_passing(answer.status, answer.headers)


def _as_it_was(state: RetryCallState) -> Answer:
    """What the last attempt brought, or raised."""
    if state.outcome is None:
        raise AssertionError("tenacity gives up after an attempt")
    answer: Answer = state.outcome.result()
    return answer
