"""The origin: an HTTP server in a process of its own that counts what it serves, with a search as of MediaWiki."""

from __future__ import annotations

import http.client
import ipaddress
import json
import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from email.utils import formatdate, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import parse_qs, urlsplit

from retrieval.web.guard import Address
from retrieval.web.ranking import WordRanking

from ..errors import SettingsError
from .world import SEARCH_HOST, World, delay_of

START_SECONDS = 60.0
CONTROL = "control.test"
ROBOTS = b"User-agent: *\nDisallow: /closed/\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What the origin saw, by its own count; the truth that a cache's counters are held against."""

    pages: int = 0
    """Requests for pages, conditional ones and errors included."""
    not_modified: int = 0
    """Of these, answered with 304."""
    refused: int = 0
    """Of these, answered with 404 or 503."""
    searches: int = 0
    robots: int = 0
    bytes: int = 0
    """Sent in bodies of pages."""

    def since(self, before: Counts) -> Counts:
        """What came after an earlier count."""
        return Counts(**{f.name: getattr(self, f.name) - getattr(before, f.name) for f in fields(Counts)})


class Origin:
    """A running origin, as the simulation sees it.

    Args:
        port: Of all its hosts, on 127.0.0.1.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    def url(self, host: str, path: str) -> str:
        """The address of a page."""
        return f"http://{host}:{self.port}{path}"

    def set_clock(self, now: float) -> None:
        """Set the simulated clock that dates, revisions and lives go by."""
        self._ask(f"/clock?now={now}")

    def counts(self) -> Counts:
        """All counts since the last `reset`."""
        return Counts(**self._ask("/counts")["all"])

    def by_site(self) -> Mapping[str, Counts]:
        """The counts of each host."""
        return {host: Counts(**counts) for host, counts in self._ask("/counts")["sites"].items()}

    def reset(self) -> None:
        """Forget all counts and which pages were asked for."""
        self._ask("/reset")

    def _ask(self, path: str) -> Any:  # noqa: ANN401  what our own server says
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path, headers={"Host": CONTROL})
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()


@contextmanager
def running(world: World) -> Iterator[Origin]:
    """The server, for as long as the block lasts.

    Raises:
        SettingsError: it did not start within a minute.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=serve, args=(world, there), daemon=True)
    process.start()
    try:
        if not here.poll(START_SECONDS):
            raise SettingsError(f"The origin did not start within {START_SECONDS:.0f} s; is this machine busy?")
        yield Origin(here.recv())
    finally:
        process.terminate()
        process.join()


async def here(host: str, _port: int) -> Sequence[Address]:
    """A resolver: all hosts of the simulation are on this machine, and there are no others.

    Raises:
        OSError: another host.
    """
    if not host.endswith(".test"):
        raise OSError(f"{host} is no host of this simulation")
    return [ipaddress.ip_address("127.0.0.1")]


def serve(world: World, port: Connection) -> None:
    """Serve for ever; sends its port. The body of the process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(_State(world)))
    server.daemon_threads = True
    port.send(server.server_address[1])
    server.serve_forever()


class _State:
    """What all connections share."""

    def __init__(self, world: World) -> None:
        self.pages = {(page.host, page.path): page for page in world.pages}
        self.order = world.pages
        self.ranking = WordRanking([f"{page.title} {' '.join(page.paragraphs)}" for page in world.pages])
        self.now = 0.0
        self.lock = threading.Lock()
        self.counts: dict[str, Counter[str]] = {}
        self.asked: Counter[tuple[str, str]] = Counter()

    def count(self, host: str, **numbers: int) -> None:
        with self.lock:
            self.counts.setdefault(host, Counter()).update(numbers)

    def times(self, host: str, path: str) -> int:
        with self.lock:
            self.asked[host, path] += 1
            return self.asked[host, path]

    def told(self) -> dict[str, Any]:
        with self.lock:
            total: Counter[str] = Counter()
            for counts in self.counts.values():
                total.update(counts)
            return {
                "all": asdict(Counts(**total)),
                "sites": {host: asdict(Counts(**counts)) for host, counts in self.counts.items()},
            }

    def reset(self) -> None:
        with self.lock:
            self.counts.clear()
            self.asked.clear()


def _handler(state: _State) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            """Answer by host and path."""
            host = self.headers.get("Host", "").partition(":")[0]
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            if host == CONTROL:
                self._control(parts.path, asked)
            elif host == SEARCH_HOST:
                self._search(asked)
            elif parts.path == "/robots.txt":
                state.count(host, robots=1)
                self._say(200, ROBOTS, {"Content-Type": "text/plain", "Cache-Control": "max-age=86400"})
            else:
                self._page(host, parts.path)

        def _control(self, path: str, asked: dict[str, str]) -> None:
            if path == "/clock":
                state.now = float(asked["now"])
            elif path == "/reset":
                state.reset()
            self._json(state.told())

        def _search(self, asked: dict[str, str]) -> None:
            state.count(SEARCH_HOST, searches=1)
            ranked = state.ranking.search(asked.get("srsearch", ""))[: int(asked.get("srlimit", "10"))]
            port = self.connection.getsockname()[1]
            found = [state.order[number] for number, _ in ranked]
            titles = [{"title": f"{page.host}:{port}{page.path}", "snippet": ""} for page in found]
            self._json({"query": {"search": titles}})

        def _page(self, host: str, path: str) -> None:
            times = state.times(host, path)
            time.sleep(delay_of(path, times))
            page = state.pages.get((host, path))
            if page is None or page.gone:
                self._refuse(host, 404, b"gone")
            elif page.flaky and times == 1:
                self._refuse(host, 503, b"later")
            else:
                now = state.now
                tag = f'"{page.revision(now)}"'
                headers = {
                    "Content-Type": "text/html; charset=utf-8",
                    "ETag": tag,
                    "Last-Modified": formatdate(page.modified(now), usegmt=True),
                }
                if page.site.cache_control:
                    headers["Cache-Control"] = page.site.cache_control
                if self._holds(tag, page.modified(now)):
                    state.count(host, pages=1, not_modified=1)
                    self._say(304, b"", headers)
                else:
                    body = page.html(now)
                    state.count(host, pages=1, bytes=len(body))
                    self._say(200, body, headers)

        def _refuse(self, host: str, status: int, body: bytes) -> None:
            state.count(host, pages=1, refused=1, bytes=len(body))
            self._say(status, body, {"Content-Type": "text/plain"})

        def _holds(self, tag: str, modified: float) -> bool:
            """Whether the asker's copy is current; If-None-Match goes first (RFC 9110, section 13.2.2)."""
            known = self.headers.get("If-None-Match")
            if known is not None:
                return known == tag
            since = self.headers.get("If-Modified-Since")
            return since is not None and parsedate_to_datetime(since).timestamp() >= int(modified)

        def _json(self, answer: object) -> None:
            self._say(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})

        def _say(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Date", formatdate(state.now, usegmt=True))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: the counts are the log."""

    return Handler
