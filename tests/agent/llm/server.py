"""A real HTTP server on this machine that plays a model server by script."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from pydantic import SecretStr

from agent.llm.endpoint import Endpoint


@dataclass(frozen=True)
class Step:
    """One reply."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    waits: bool = False
    """Say nothing until the client hangs up or the server stops."""
    cut: bool = False
    """Close the connection in the middle of the body."""
    blocks: int = 0
    """After the body, as many blocks of 64 KiB, without a length."""


@dataclass(frozen=True)
class Seen:
    """One request."""

    path: str
    headers: Mapping[str, str]
    fields: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """The last message."""
        return str(self.fields["messages"][-1]["content"])


def says(text: str, *, usage: tuple[int, int] | None = (10, 5), finish: str = "stop") -> Step:
    """A chat completion."""
    reply: dict[str, Any] = {
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]
    }
    if usage is not None:
        reply["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Step(json.dumps(reply).encode())


def says_json(value: object) -> Step:
    """A chat completion whose text is JSON."""
    return says(json.dumps(value))


class ModelServer:
    """Answers by script: one step a request; the last one repeats."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = list(steps)
        self.seen: list[Seen] = []
        self.arrived = threading.Event()
        self.hung_up = threading.Event()
        self.stopped = threading.Event()
        self.url = ""

    def endpoint(self, *, key: str | None = None, **options: Any) -> Endpoint:
        """Short pauses, so that tests are fast."""
        usual: dict[str, Any] = {"url": self.url, "model": "scripted-1", "backoff_seconds": 0.01}
        return Endpoint(**(usual | {"key": key if key is None else SecretStr(key)} | options))

    def next_step(self, seen: Seen) -> Step:
        self.seen.append(seen)
        self.arrived.set()
        return self.steps[min(len(self.seen), len(self.steps)) - 1]


@contextmanager
def serving(*steps: Step) -> Iterator[ModelServer]:
    """A server in a thread of its own."""
    script = ModelServer(steps)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            step = script.next_step(Seen(self.path, dict(self.headers), json.loads(raw)))
            if step.waits:
                self._wait()
                self.close_connection = True
                return
            try:
                self._answer(step)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _answer(self, step: Step) -> None:
            self.send_response(step.status)
            for name, value in step.headers.items():
                self.send_header(name, value)
            if step.blocks:
                self.close_connection = True
            else:
                self.send_header("Content-Length", str(len(step.body) + (1000 if step.cut else 0)))
            self.end_headers()
            self.wfile.write(step.body)
            for _ in range(step.blocks):
                self.wfile.write(b" " * 65_536)
            self.close_connection |= step.cut

        def _wait(self) -> None:
            self.connection.settimeout(0.02)
            while not script.stopped.is_set():
                try:
                    if not self.connection.recv(1, socket.MSG_PEEK):
                        script.hung_up.set()
                        return
                except TimeoutError:
                    continue
                except OSError:
                    script.hung_up.set()
                    return

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
            """Tests are quiet."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    script.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        script.stopped.set()
        http.shutdown()
        http.server_close()
        thread.join()
