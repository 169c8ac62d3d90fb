"""A real HTTP server on this machine that gives one file, in all the ways that servers do it, and that file."""

from __future__ import annotations

import contextlib
import hashlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.datasets.download import Fetched, Patience, download
from benchmarks.datasets.sources import Source

DATA = b"{" + np.random.default_rng(7).bytes(400_000)
OTHER = b"{" + np.random.default_rng(8).bytes(400_000)
SHA256 = hashlib.sha256(DATA).hexdigest()
KNOWN: dict[str, Any] = {"bytes": len(DATA), "sha256": SHA256}
UNKNOWN: dict[str, Any] = {"max_bytes": 1_000_000}
AT_ONCE = Patience(stall_seconds=10.0, waits=(0.0, 0.0, 0.0))

Answer: TypeAlias = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Server:
    """What the server did; `answers` may be changed while it runs."""

    address: str
    answers: list[Answer]
    """One for each request, in order; the last one also for all that follow."""
    requests: list[dict[str, str]] = field(default_factory=list)
    """The headers of each request, names in lower case."""

    @property
    def ranges(self) -> list[str | None]:
        """The range that each request asked for."""
        return [request.get("range") for request in self.requests]


def toy_source(server: Server, **fields: Any) -> Source:
    """A dataset of one JSON file at the server's address, `KNOWN` unless fields are given."""
    file = {"name": "toy.json", "url": f"{server.address}/toy.json", "format": "json"} | (fields or KNOWN)
    about = {"name": "toy", "title": "A toy", "licence": "CC0-1.0", "homepage": "http://toy.test", "citation": "-"}
    return Source.model_validate(about | {"files": [file]})


def fetch(source: Source, to: Path, patience: Patience = AT_ONCE) -> Fetched:
    """Download the only file of `source`."""
    (file,) = download(source, to, patience=patience)
    return file


def unpublished(to: Path, *, part: bool) -> bool:
    """Whether the file has not got its name; `part`: and what arrived is kept, or is not."""
    return not (to / "toy.json").exists() and (to / "toy.json.part").exists() == part


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    """Answer requests until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = server.answers[min(len(server.requests), len(server.answers) - 1)]
            server.requests.append({name.lower(): value for name, value in self.headers.items()})
            with contextlib.suppress(ConnectionError):
                answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that went away is what these tests are about."""

    http = Quiet(("127.0.0.1", 0), Handler)
    server = Server(address=f"http://127.0.0.1:{http.server_address[1]}", answers=list(answers))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def give(
    data: bytes,
    *,
    ranges: bool = True,
    etag: str | None = '"one"',
    if_range: bool = True,
    cut: int | None = None,
    length: int | str | None = "right",
    pause: float = 0.0,
) -> Answer:
    """Send `data`, or the part that is asked for.

    Args:
        data: The file.
        ranges: False: always all of it.
        etag: None: the server names no validator.
        if_range: False: a range is given even if the validator is another one.
        cut: Drop the connection after so many bytes of the body.
        length: The Content-Length that is announced: the right one, another one, or None = not at all.
        pause: Seconds between pieces of 64 KiB.
    """

    def answer(handler: BaseHTTPRequestHandler) -> None:
        start = _asked(handler, etag=etag, if_range=if_range) if ranges else None
        if start is not None and start >= len(data):
            _head(handler, 416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
            return
        body = data[start or 0 :]
        headers = {"Content-Type": "application/octet-stream"} | ({"ETag": etag} if etag else {})
        if start is not None:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        if length is None:
            headers["Connection"] = "close"
        else:
            headers["Content-Length"] = str(len(body) if length == "right" else length)
        _head(handler, 200 if start is None else 206, headers)
        _body(handler, body if cut is None else body[:cut], pause=pause)
        if cut is not None or length not in {"right", None}:
            drop(handler)

    return answer


def say(status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
    """Send this and nothing else."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        _head(handler, status, {"Content-Length": str(len(body))} | (headers or {}))
        handler.wfile.write(body)

    return answer


def endless(handler: BaseHTTPRequestHandler) -> None:
    """Send braces until the client has had enough."""
    _head(handler, 200, {"Connection": "close"})
    while True:
        handler.wfile.write(b"{" * 65536)


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Begin a body and then send nothing more."""
    _head(handler, 200, {"Content-Length": "1000"})
    handler.wfile.write(b"{")
    handler.wfile.flush()
    handler.connection.settimeout(5)
    with contextlib.suppress(OSError):
        handler.connection.recv(1)
    handler.close_connection = True


def drop(handler: BaseHTTPRequestHandler) -> None:
    """Break the connection."""
    handler.wfile.flush()
    with contextlib.suppress(OSError):
        handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def _asked(handler: BaseHTTPRequestHandler, *, etag: str | None, if_range: bool) -> int | None:
    """The first byte that is asked for; None = the whole file, also if the client's version is another one."""
    found = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
    if found is None or (if_range and handler.headers.get("If-Range", etag) != etag):
        return None
    return int(found[1])


def _head(handler: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if headers.get("Connection") == "close":
        handler.close_connection = True


def _body(handler: BaseHTTPRequestHandler, body: bytes, *, pause: float) -> None:
    for at in range(0, len(body), 65536):
        handler.wfile.write(body[at : at + 65536])
        handler.wfile.flush()
        time.sleep(pause)
