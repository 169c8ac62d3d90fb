"""Requests to addresses that a user named himself: search APIs and sitemaps.

They pass the same guard, caps and pace as pages do, but not robots.txt: that speaks to crawlers, and an API is
made for programs (Wikipedia's robots.txt closes the folder of its own search API). Nothing is tried again: the
next provider is.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import anyio

from ...errors import ProviderError
from ..guard import GuardedBackend, Resolve, resolve_name
from ..pace import Pace, Sleep, asked_pause
from ..settings import FetchSettings
from ..status import PASSING, REDIRECTS
from ..stop import Stop
from ..urls import WebURL, join_url, parse_url
from ..wire import Answer, Tally, Want, Wire, usual_authorities

_READ = frozenset({200, 203})


class ApiClient:
    """Fetches answers of APIs. One for each event loop; close it with `aclose` or as a context manager.

    Args:
        settings: Limits and manners, as for a `Fetcher`; `robots` does not matter.
        clock: Seconds since the epoch.
        sleep: Waits so many seconds.
        resolve: All addresses of a host.
        tls: How certificates are checked. None: the usual authorities.
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
        guarded = GuardedBackend(self.settings.allow_private, resolve)
        self._pace = Pace(self.settings, sleep)
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

    async def json(
        self, provider: str, url: str, parameters: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> Any:  # noqa: ANN401  whatever the provider sends; its caller checks the shape
        """The JSON at an address.

        Args:
            provider: For messages.
            url: The endpoint, without a query.
            parameters: The query.
            headers: More of them, such as a key; they go to this address only and are in no message.

        Raises:
            ProviderError: no answer, an answer of another status, or no JSON.
        """
        body = await self.body(provider, f"{url}?{urlencode(parameters)}", headers)
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            start = body[:60].decode("utf-8", "replace")
            raise ProviderError(f"{provider} answers {start!r}: expected JSON. Is {url} its API?") from error

    async def body(self, provider: str, url: str, headers: Mapping[str, str] | None = None) -> bytes:
        """The bytes at an address, at most `FetchSettings.max_bytes`.

        Redirects are followed if no headers are given: a key goes nowhere else.

        Raises:
            ProviderError: no answer, or an answer of another status.
        """
        until = time.monotonic() + self.settings.total_seconds
        try:
            place = parse_url(url)
            for _ in range(self.settings.max_redirects + 1):
                answer = await self._exchange(place, headers or {}, until)
                location = answer.headers.get("location")
                if headers or answer.status not in REDIRECTS or not location:
                    return self._checked(provider, answer)
                place = join_url(place, location)
        except Stop as stop:
            raise ProviderError(f"{provider} gave no answer ({stop.outcome}): {stop.detail}") from stop
        raise ProviderError(f"{provider} redirects more than {self.settings.max_redirects} times.")

    async def _exchange(self, place: WebURL, headers: Mapping[str, str], until: float) -> Answer:
        async with self._pace.turn(place, until=until):
            want = Want(
                seconds=self.settings.timeout_seconds,
                max_bytes=self.settings.max_bytes,
                statuses=_READ,
                page=False,
            )
            answer = await self._wire.exchange(place, headers, want, Tally())
        pause = asked_pause(answer.headers.get("retry-after"), answer.received_at)
        if pause is not None and answer.status in PASSING:
            self._pace.pause(place, pause)
        return answer

    def _checked(self, provider: str, answer: Answer) -> bytes:
        if answer.status not in _READ:
            remedy = {401: " Check the key.", 403: " Check the key.", 429: " It asks for fewer requests."}
            raise ProviderError(
                f"{provider} answers with status {answer.status}: expected 200.{remedy.get(answer.status, '')}"
            )
        if answer.cut:
            raise ProviderError(f"{provider} answers with more than {self.settings.max_bytes} bytes.")
        return answer.body
