"""A real HTTP server on this machine that does whatever a test wants, in the loop of the test."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, TypeAlias

from retrieval.web.fetch import Fetcher
from retrieval.web.guard import Address
from retrieval.web.settings import FetchSettings

PAGE = b"<!doctype html><title>Vale</title><p>The mill of Vale stands by the river.</p>"
HTML = {"Content-Type": "text/html; charset=utf-8"}


@dataclass(frozen=True)
class Asked:
    """A request that came."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    connection: int
    at: float


Answer: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Site:
    """A running server. Paths without an answer are 404, robots.txt too."""

    port: int
    answers: dict[str, Answer | list[Answer]]
    """By path with query; of a list one after the other, the last one also for all that follow."""
    requests: list[Asked] = field(default_factory=list)
    open: set[asyncio.StreamWriter] = field(default_factory=set)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    @property
    def paths(self) -> list[str]:
        """What was asked for, without robots.txt."""
        return [asked.path for asked in self.requests if asked.path != "/robots.txt"]

    def answer(self, path: str) -> Answer:
        answers = self.answers.get(path, say(404))
        if not isinstance(answers, list):
            return answers
        return answers.pop(0) if len(answers) > 1 else answers[0]


@asynccontextmanager
async def serving(
    answers: dict[str, Answer | list[Answer]] | None = None, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Site]:
    """Answer requests until the block ends."""
    numbers = itertools.count()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(numbers)
        site.open.add(writer)
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                asked = _parsed(head, number)
                site.requests.append(asked)
                await site.answer(asked.path)(asked, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            site.open.discard(writer)
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    site = Site(port=server.sockets[0].getsockname()[1], answers=answers or {})
    try:
        yield site
    finally:
        server.close()
        for writer in list(site.open):
            writer.transport.abort()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(server.wait_closed(), 2)
        await asyncio.sleep(0)


def _parsed(head: bytes, connection: int) -> Asked:
    first, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return Asked(path=first.split(" ")[1], headers=headers, connection=connection, at=time.monotonic())


def say(status: int = 200, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
    """A whole, honest answer; `headers` may still lie."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(head(status, {"Content-Length": str(len(body))} | (headers or {})) + body)

    return answer


def page(body: bytes = PAGE, **headers: str) -> Answer:
    """A page of HTML."""
    return say(200, body, HTML | {name.replace("_", "-"): value for name, value in headers.items()})


def redirect(location: str, status: int = 302) -> Answer:
    return say(status, b"", {"Location": location})


def raw(*pieces: bytes, pause: float = 0.0, reset: bool = False) -> Answer:
    """These bytes, then the end of the connection; `reset`: an impolite one."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if reset:
            writer.transport.abort()
        else:
            writer.close()

    return answer


def endless(start: bytes, piece: bytes, pause: float = 0.0) -> Answer:
    """`start`, then `piece` again and again."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def late(seconds: float, then: Answer) -> Answer:
    """An answer after a while."""

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await then(asked, writer)

    return answer


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode("latin-1")


def local(**settings: Any) -> FetchSettings:
    """Settings for tests: this machine is allowed, nothing is waited for but what the test is about."""
    chosen: dict[str, Any] = {
        "allow_private": frozenset({"127.0.0.1"}),
        "per_host_interval": 0.0,
        "timeout_seconds": 10.0,
    }
    return FetchSettings(**chosen | settings)


def fetching(*, names: Mapping[str, Sequence[str]] | None = None, **settings: Any) -> Fetcher:
    """A fetcher with `local` settings that pauses no longer than an instant; `names` resolve as given."""
    return Fetcher(local(**settings), sleep=Naps(), resolve=book(names or {}))


class Naps:
    """A sleep that only notes how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)
        await asyncio.sleep(0)


def book(names: Mapping[str, Sequence[str]]) -> Callable[[str, int], Awaitable[Sequence[Address]]]:
    """A resolver with the names of a test; addresses are their own names."""

    async def resolve(host: str, port: int) -> Sequence[Address]:
        try:
            return [ip_address(address) for address in names.get(host, (host,))]
        except ValueError:
            raise OSError(f"{host} is not in the book") from None

    return resolve
