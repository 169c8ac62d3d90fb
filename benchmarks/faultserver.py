"""A server on this machine that does what bad servers do. Each fault has hosts of its own, by the Host header."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

PAGE = b"<!doctype html><title>Ferry</title><p>The ferry of Lower Vale crosses the river twice an hour.</p>" * 40
SHIFT_JIS = "<!doctype html><p>渡し船は一時間に二回川を渡る。</p>".encode("shift_jis") * 40
HTML = {"Content-Type": "text/html; charset=utf-8"}
GZIP = HTML | {"Content-Encoding": "gzip"}
BOMB = gzip.compress(b" " * 10_000_000) * 100
"""A megabyte that expands to a gigabyte."""
FOREVER = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request."""

    path: str
    before: int
    """How often this path of this host was asked for before."""


Answer: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a host does, and what a fetcher must make of it."""

    answer: Answer
    outcome: str
    """The only outcome that is right."""
    body: bytes = b""
    """Of an `ok`: all of it, and nothing else."""
    robots: Answer | None = None
    """To robots.txt; None: there is none."""


def head(status: int, headers: Mapping[str, str]) -> bytes:
    """The head of a response."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} -\r\n{lines}\r\n".encode("latin-1")


def say(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
    """A whole response with its right length, unless `headers` say another one."""
    return send(head(status, {"Content-Length": str(len(body))} | dict(headers or {})) + body)


def send(data: bytes, *, pieces: int = 1, pause: float = 0.0, then: str = "keep") -> Answer:
    """These bytes; then the connection is kept, closed, reset, or stays silent."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        size = max(len(data) // pieces, 1)
        for at in range(0, len(data), size):
            writer.write(data[at : at + size])
            await writer.drain()
            await asyncio.sleep(pause)
        if then == "close":
            writer.close()
        elif then == "reset":
            writer.transport.abort()
        elif then == "stall":
            await asyncio.sleep(FOREVER)

    return answer


def again(piece: bytes, *, start: bytes = b"", pause: float = 0.0) -> Answer:
    """The same piece until the client has had enough."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def first(fault: Answer, then: Answer) -> Answer:
    """A fault, and at the second request for the same page no more."""

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (then if asked.before else fault)(asked, writer)

    return answer


def one_of(seed: int, *answers: Answer) -> Answer:
    """One of several, at random."""
    generator = random.Random(seed)  # noqa: S311  no secret

    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await generator.choice(answers)(asked, writer)

    return answer


def leads_to(location: str) -> Answer:
    """A redirect."""
    return say(302, b"", {"Location": location})


async def one_step(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A redirect to a page that is there."""
    await (_FINE if asked.path.endswith("/there") else leads_to(f"{asked.path}/there"))(asked, writer)


async def leads_on(asked: Asked, writer: asyncio.StreamWriter) -> None:
    """A redirect to another page of the same kind, without end."""
    await leads_to(f"{asked.path}+")(asked, writer)


_FINE = say(200, PAGE, HTML)
_CHUNKED = head(200, HTML | {"Transfer-Encoding": "chunked"})
_LONG = head(200, HTML | {"Content-Length": "100000"})
_FORBIDS = say(200, b"User-agent: *\nDisallow: /\n")


def all_faults(seed: int) -> dict[str, Fault]:
    """Every fault by its name, with pages that are fine among them."""
    bad_heads = [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/9.9 yes\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        _CHUNKED + b"zz\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000,
    ]
    return {
        "fine": Fault(answer=_FINE, outcome="ok", body=PAGE),
        "fine-gzip": Fault(answer=say(200, gzip.compress(PAGE), GZIP), outcome="ok", body=PAGE),
        "fine-in-pieces": Fault(
            answer=send(_head_of(PAGE) + PAGE, pieces=20, pause=0.01), outcome="ok", body=PAGE
        ),
        "fine-redirect": Fault(answer=one_step, outcome="ok", body=PAGE),
        "wrong-charset": Fault(answer=say(200, SHIFT_JIS, HTML), outcome="ok", body=SHIFT_JIS),
        "reset": Fault(answer=send(b"", then="reset"), outcome="error"),
        "reset-in-body": Fault(answer=send(_LONG + PAGE, then="reset"), outcome="error"),
        "reset-once": Fault(answer=first(send(_LONG + PAGE, then="reset"), _FINE), outcome="ok", body=PAGE),
        "stall-in-head": Fault(answer=send(b"HTTP/1.1 200 OK\r\n", then="stall"), outcome="timeout"),
        "stall-in-body": Fault(answer=send(_LONG + PAGE, then="stall"), outcome="timeout"),
        "drip": Fault(answer=again(b"x", start=_LONG, pause=0.1), outcome="timeout"),
        "endless-head": Fault(
            answer=again(b"A: b\r\n", start=b"HTTP/1.1 200 OK\r\n", pause=0.1), outcome="timeout"
        ),
        "endless-body": Fault(
            answer=again(b"10000\r\n" + b"x" * 65_536 + b"\r\n", start=_CHUNKED), outcome="too_large"
        ),
        "length-too-long": Fault(answer=send(_LONG + PAGE, then="close"), outcome="error"),
        "length-too-short": Fault(
            answer=send(_head_of(PAGE[:99]) + PAGE, then="close"), outcome="ok", body=PAGE[:99]
        ),
        "length-huge": Fault(answer=send(head(200, HTML | {"Content-Length": "9" * 15})), outcome="too_large"),
        "gzip-bomb": Fault(answer=say(200, BOMB, GZIP), outcome="too_large"),
        "gzip-of-nothing": Fault(answer=again(gzip.compress(b"") * 500, start=head(200, GZIP)), outcome="error"),
        "gzip-cut": Fault(answer=say(200, gzip.compress(PAGE)[:-20], GZIP), outcome="error"),
        "gzip-not": Fault(answer=say(200, PAGE, GZIP), outcome="error"),
        "coding-unknown": Fault(answer=say(200, PAGE, HTML | {"Content-Encoding": "br"}), outcome="unsupported"),
        "bad-head": Fault(answer=one_of(seed, *(send(data, then="close") for data in bad_heads)), outcome="error"),
        "binary": Fault(answer=again(b"\x00\x01\x02\x03" * 999, start=head(200, HTML)), outcome="unsupported"),
        "empty": Fault(answer=say(200, b"", HTML), outcome="low_content"),
        "redirect-circle": Fault(answer=leads_to("?"), outcome="error"),
        "redirect-endless": Fault(answer=leads_on, outcome="error"),
        "redirect-private": Fault(
            answer=one_of(seed, *map(leads_to, ("http://169.254.169.254/", "http://[::1]/", "http://0x7f.1/"))),
            outcome="blocked",
        ),
        "redirect-file": Fault(answer=leads_to("file:///etc/passwd"), outcome="blocked"),
        "402": Fault(answer=say(402, PAGE, HTML), outcome="payment_required"),
        "403": Fault(answer=say(403, PAGE, HTML), outcome="blocked"),
        "404": Fault(answer=say(404, PAGE, HTML), outcome="error"),
        "429": Fault(answer=say(429), outcome="rate_limited"),
        "429-long": Fault(answer=say(429, b"", {"Retry-After": "7200"}), outcome="rate_limited"),
        "429-once": Fault(answer=first(say(429, b"", {"Retry-After": "1"}), _FINE), outcome="ok", body=PAGE),
        "503": Fault(answer=say(503), outcome="error"),
        "503-once": Fault(answer=first(say(503), _FINE), outcome="ok", body=PAGE),
        "robots-forbids": Fault(answer=_FINE, outcome="robots_denied", robots=_FORBIDS),
        "robots-503": Fault(answer=_FINE, outcome="robots_denied", robots=say(503)),
        "robots-endless": Fault(
            answer=_FINE, outcome="ok", body=PAGE, robots=again(b"User-agent: x\n" * 99, start=head(200, {}))
        ),
    }


def _head_of(body: bytes) -> bytes:
    return head(200, HTML | {"Content-Length": str(len(body))})


def serve(seed: int, report: Any) -> None:  # noqa: ANN401  a Connection of multiprocessing, which is not generic
    """Serve until the process is ended; the port is sent on `report`. The target of a process of its own."""
    asyncio.run(_serve(all_faults(seed), report.send))


async def _serve(faults: Mapping[str, Fault], tell: Callable[[int], None]) -> None:
    seen: Counter[str] = Counter()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                host, path = _parsed(await reader.readuntil(b"\r\n\r\n"))
                fault = faults[host.partition(".")[0]]
                answer = (fault.robots or say(404)) if path == "/robots.txt" else fault.answer
                asked = Asked(path=path, before=seen[host + path.partition("?")[0]])
                seen[host + path.partition("?")[0]] += 1
                await answer(asked, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client has had enough, as it should
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=512)
    tell(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _parsed(request: bytes) -> tuple[str, str]:
    first_line, *lines = request.decode("latin-1").split("\r\n")
    host = next(line.partition(":")[2].strip() for line in lines if line.lower().startswith("host:"))
    return host, first_line.split(" ")[1]
