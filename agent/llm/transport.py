"""Requests to an endpoint: bounded in time and size, tried again where that may help."""

from __future__ import annotations

import asyncio
import hashlib
import json
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import httpx
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, stop_before_delay

from ..errors import ModelCallError
from .endpoint import Endpoint
from .faults import fault_of_status
from .retry import PassingError, SeededPauses, asked_pause

CONNECT_SECONDS = 10.0
"""Longest wait for a connection; a server that is up accepts one at once, however slow its model is."""
EXCERPT_BYTES = 4_000
"""What is read of a refusal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """The body of a reply."""

    body: bytes
    lost: int
    """Earlier attempts that may have reached the model and brought no reply: their tokens may be charged."""


class LostError(ModelCallError):
    """No usable reply; `lost` attempts may have reached the model."""

    def __init__(self, message: str, *, lost: int) -> None:
        super().__init__(message)
        self.lost = lost


class Transport:
    """POST of JSON to one endpoint, with httpx.

    Holds one connection pool an event loop, opened on first use; `aclose` closes the running loop's. Redirects
    are not followed. Proxies of the environment are used, except for this machine.

    Args:
        endpoint: Where to.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def post(self, path: str, fields: Mapping[str, Any], *, seconds: float) -> Received:
        """Send `fields` to `path` and return the body of the reply, at most `seconds` later.

        Raises:
            LostError: no usable reply; says why and what to do.
        """
        content = json.dumps(fields).encode()
        lost = 0

        async def attempt() -> bytes:
            nonlocal lost
            lost += 1  # until it is known that it cost nothing, or brought a reply
            try:
                body = await self._once(path, content)
            except _UnusableError:
                raise
            except ModelCallError as error:
                lost -= not (isinstance(error, PassingError) and error.lost)
                raise
            lost -= 1
            return body

        limit = self.endpoint.attempts
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(PassingError),
            wait=SeededPauses(self.endpoint.backoff_seconds, seed=_seed(self.endpoint, content)),
            stop=stop_after_attempt(limit) | stop_before_delay(seconds),
            reraise=True,
        )
        try:
            async with asyncio.timeout(seconds):
                return Received(body=await retrying(attempt), lost=lost)
        except TimeoutError:
            raise LostError(
                f"{self._who} did not answer within {seconds:.1f} s. Raise [llm] timeout_seconds or the search's "
                "max_seconds, or use a faster model.",
                lost=lost,
            ) from None
        except PassingError as error:
            waits = "" if error.pause is None else f" It asks to wait {error.pause:.0f} s."
            tried = f"At most {limit} attempts were made within {seconds:.1f} s."
            raise LostError(f"{error}{waits} {tried}", lost=lost) from error
        except ModelCallError as error:
            raise LostError(str(error), lost=lost) from error

    async def aclose(self) -> None:
        """Close the connections of the running event loop. A later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    @property
    def _who(self) -> str:
        return f"{self.endpoint.model} at {self.endpoint.url}"

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            if self.endpoint.key is not None:
                headers["Authorization"] = f"Bearer {self.endpoint.key.get_secret_value()}"
            client = httpx.AsyncClient(
                headers=headers,
                verify=_trusted(),
                timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
                trust_env=not self.endpoint.is_loopback,
                follow_redirects=False,
            )
            self._clients[loop] = client
        return client

    async def _once(self, path: str, content: bytes) -> bytes:
        url = f"{self.endpoint.url}/{path}"
        headers = {"Content-Type": "application/json"}
        try:
            async with self._client().stream("POST", url, content=content, headers=headers) as response:
                if response.status_code != httpx.codes.OK:
                    excerpt = await _excerpt(response)
                    pause = asked_pause(response.headers.get("Retry-After"))
                    raise fault_of_status(self.endpoint, response.status_code, excerpt, pause=pause)
                return await _read(response, self.endpoint.max_reply_bytes, self._who)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            raise PassingError(f"Cannot connect to {self._who} ({error}). Is the server running?") from error
        except httpx.TransportError as error:
            kind = type(error).__name__  # some have no text
            raise PassingError(f"The connection to {self._who} broke ({kind} {error}).", lost=True) from error


@cache
def _trusted() -> ssl.SSLContext:
    """The authorities that are trusted; reading them takes a tenth of a second, once a process."""
    return httpx.create_ssl_context()


class _UnusableError(ModelCallError):
    """A reply came, and cannot be used."""


async def _read(response: httpx.Response, limit: int, who: str) -> bytes:
    """The body, never holding more than `limit` bytes of it: httpx would unpack a whole network read at once."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {"identity", "", "gzip", "deflate"}:
        raise _UnusableError(f"{who} answers in {coding!r}, asked was for no compression.")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32) if coding in {"gzip", "deflate"} else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += chunk if unpack is None else unpack.decompress(chunk, limit - len(body) + 1)
        except zlib.error as error:
            raise _UnusableError(f"{who} sent a body that is no {coding}: {error}.") from error
        if len(body) > limit:
            raise _UnusableError(f"{who} sent more than {limit} bytes. Is the url that of a model server?")
    if unpack is not None and not unpack.eof:
        raise _UnusableError(f"{who} sent {coding} without its end.")
    return bytes(body)


async def _excerpt(response: httpx.Response) -> str:
    """The beginning of a refusal's body, empty if it cannot be read; it only helps to explain."""
    try:
        body = await _read(response, EXCERPT_BYTES, "")
    except (ModelCallError, httpx.TransportError):
        return ""
    return body.decode("utf-8", "replace")


def _seed(endpoint: Endpoint, content: bytes) -> str:
    """The same request has the same pauses; requests that are refused together come back apart."""
    return f"{endpoint.seed} {hashlib.sha256(content).hexdigest()}"
