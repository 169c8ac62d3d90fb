"""One request and its response: bounded in time and size, over HTTP/1.1 or 2, on reused connections.

The pool is httpcore's, the engine inside httpx: it takes the guarded network backend openly, which httpx does not,
and it leaves decompression, redirects and cookies to us: the first is capped here, the second are checked hop by
hop in `fetch`, the third do not exist.
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import anyio
import h2.exceptions
import httpcore
import httpx

from .decode_body import OFFERED, decoder_for
from .guard import GuardedBackend
from .settings import FetchSettings
from .sniff import HEAD, content_type, is_readable
from .stop import Stop
from .urls import WebURL

DRAIN_BYTES = 32_768
DRAIN_SECONDS = 1.0
"""What is read, and for how long, of a body that nobody wants: then the connection can be used again."""
KEPT_SECONDS = 15.0
"""How long an idle connection is kept."""

_LOST = ("Server disconnected", "peer closed connection", "<ConnectionTerminated", "<StreamReset")
# What httpcore says when a connection broke off, as against an answer that is no HTTP. It has one class for both.
_FAILED = (httpcore.NetworkError, httpcore.ProtocolError, h2.exceptions.H2Error, OSError)


@cache
def usual_authorities() -> ssl.SSLContext:
    """Whose certificates are trusted: the usual authorities, or those of SSL_CERT_FILE. Blocking.

    Kept: reading them takes longer than many a fetch.
    """
    return httpx.create_ssl_context()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response."""

    url: WebURL
    status: int
    headers: Mapping[str, str]
    """Names in lower case; several of a name joined by commas."""
    body: bytes = b""
    """Decoded; empty unless it was wanted."""
    content_type: str = ""
    """By the bytes; empty without a body."""
    cut: bool = False
    """Whether there was more than the cap."""
    requested_at: float
    received_at: float


@dataclass(slots=True)
class Tally:
    """What a fetch has cost so far; also when it stops half way."""

    attempts: int = 0
    """Requests that were sent; a connection that was refused, by the guard or the host, carried none."""
    bytes_received: int = 0
    requested_at: float | None = None
    """When the last request was sent; seconds since the epoch."""
    answer: Answer | None = None
    """To the last request, if one came; without its body until all of it is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What is wanted of a response."""

    seconds: float
    """For the whole exchange."""
    max_bytes: int
    """Of the body, before and after decompression."""
    statuses: frozenset[int]
    """With these the body is read."""
    page: bool = True
    """Stop as soon as the body is known to be too large, or of a type that nobody reads. False: robots.txt."""


class Wire:
    """Connections to all hosts.

    Args:
        settings: Of the fetcher.
        backend: The guarded network.
        clock: Seconds since the epoch.
        tls: How certificates are checked.
    """

    def __init__(
        self, settings: FetchSettings, backend: GuardedBackend, clock: Callable[[], float], tls: ssl.SSLContext
    ) -> None:
        self.request_headers: Mapping[str, str] = {
            "user-agent": settings.user_agent,
            "accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,*/*;q=0.5",
            "accept-encoding": OFFERED,
            "accept-language": settings.accept_language,
        }
        self._clock = clock
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=settings.total_concurrency + settings.per_host_concurrency,
            max_keepalive_connections=settings.total_concurrency,
            keepalive_expiry=KEPT_SECONDS,
            http1=True,
            http2=True,
            network_backend=backend,
        )

    async def exchange(self, url: WebURL, extra: Mapping[str, str], want: Want, tally: Tally) -> Answer:
        """Send a GET and read what is wanted of the response.

        Raises:
            Stop: `blocked`, `timeout`, `unsupported` or `error`. A body above the cap is cut instead.
        """
        try:
            with anyio.fail_after(want.seconds):
                return await self._exchange(url, extra, want, tally)
        except (TimeoutError, httpcore.TimeoutException) as error:
            # httpcore's own clocks are set to the same time; whichever comes first
            raise Stop("timeout", f"{url.netloc} was not done within {want.seconds:.1f} s.") from error
        except _FAILED as error:
            raise _failure(url, error) from error

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _exchange(self, url: WebURL, extra: Mapping[str, str], want: Want, tally: Tally) -> Answer:
        clocks = dict.fromkeys(("connect", "read", "write", "pool"), want.seconds)

        async def traced(event: str, _: Mapping[str, object]) -> None:
            tally.attempts += event.endswith("send_request_headers.started")

        tally.answer = None
        requested_at = tally.requested_at = self._clock()
        async with self._pool.stream(
            "GET",
            httpcore.URL(
                scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
            ),
            headers=[(b"host", url.netloc.encode()), *_encoded(self.request_headers), *_encoded(extra)],
            extensions={"timeout": clocks, "trace": traced},
        ) as response:
            answer = tally.answer = Answer(
                url=url,
                status=response.status,
                headers=_headers(response.headers),
                requested_at=requested_at,
                received_at=self._clock(),
            )
            if answer.status not in want.statuses:
                await _drain(response, answer.headers, tally)
                return answer
            tally.answer = await _read(response, answer, want, tally)
            return tally.answer


async def _read(response: httpcore.Response, answer: Answer, want: Want, tally: Tally) -> Answer:
    """The answer with its body, cut at the cap."""
    decoder = decoder_for(answer.headers.get("content-encoding", ""))
    declared = answer.headers.get("content-type", "")
    if want.page and (_length(answer.headers) or 0) > want.max_bytes:
        return replace(answer, cut=True)
    body, raw, kind = bytearray(), 0, ""
    async for piece in response.aiter_stream():
        raw += len(piece)
        tally.bytes_received += len(piece)
        body += decoder.decode(piece, want.max_bytes + 1 - len(body))
        if want.page and not kind and len(body) >= HEAD:
            kind = _readable_type(body, declared)
        if len(body) > want.max_bytes or raw > want.max_bytes:
            return replace(answer, body=bytes(body[: want.max_bytes]), content_type=kind, cut=True)
    decoder.finish()
    if want.page and not kind and body:
        kind = _readable_type(body, declared)
    return replace(answer, body=bytes(body), content_type=kind)


def _readable_type(body: bytearray, declared: str) -> str:
    kind = content_type(bytes(body[:HEAD]), declared)
    if not is_readable(kind):
        raise Stop(
            "unsupported", f"The bytes are {kind}, the header says {declared[:80]!r}: text or PDF are read."
        )
    return kind


async def _drain(response: httpcore.Response, headers: Mapping[str, str], tally: Tally) -> None:
    length = _length(headers)
    if length is None or length > DRAIN_BYTES:
        return
    with anyio.move_on_after(DRAIN_SECONDS), contextlib.suppress(httpcore.TimeoutException, *_FAILED):
        async for piece in response.aiter_stream():
            tally.bytes_received += len(piece)


def _length(headers: Mapping[str, str]) -> int | None:
    text = headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _failure(url: WebURL, error: Exception) -> Stop:
    text = str(error)[:200].rstrip(".") or type(error).__name__
    if isinstance(error, ssl.SSLError) or isinstance(error.__context__, ssl.SSLError):
        return Stop("error", f"The certificate or TLS of {url.netloc} is not accepted: {text}.")
    if isinstance(error, httpcore.ProtocolError) and not text.startswith(_LOST):
        return Stop("error", f"{url.netloc} does not speak HTTP: {text}.")
    return Stop("error", f"The connection to {url.netloc} broke or was refused: {text}.", again=True)
