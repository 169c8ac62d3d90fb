"""`sufficit fetch`, and `sufficit ask` over cache and web: whole commands against a server on this machine."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent.cli import app
from tests.retrieval.web.pages import article, html
from tests.towns import CORPUS, need_model

PAGES = {f"/{title.split()[0].lower()}": html(article(text), title=title) for title, text in CORPUS}
QUESTION = "In which town was Orla Venn born?"
runner = CliRunner()


class _Handler(BaseHTTPRequestHandler):
    """The towns, and a wall."""

    asked: list[str] = []  # noqa: RUF012  the handler's class is made anew for each server

    def do_GET(self) -> None:
        self.asked.append(self.path)
        wall = html("<h1>Just a moment...</h1><p>Checking your browser.</p>", title="Just a moment...")
        body = (wall if self.path == "/wall" else PAGES.get(self.path, "")).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture
def asked() -> list[str]:
    """The paths that the site was asked for."""
    return []


@pytest.fixture
def site(asked: list[str]) -> Iterator[str]:
    handler = type("Handler", (_Handler,), {"asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("SUFFICIT_")]:
        monkeypatch.delenv(name)


def test_fetch_shows_what_a_search_would_see(site: str) -> None:
    done = runner.invoke(app, ["fetch", f"{site}/orla#top", "--allow-private", "127.0.0.1", "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert (data["outcome"], data["title"], data["status"], data["requests"]) == ("ok", "Orla Venn", 200, 1)
    assert data["final_url"] == f"{site}/orla"
    assert data["flags"] == []
    (passage,) = data["passages"]
    assert "born in Marrowby" in passage["text"]
    assert passage["url"].startswith(f"{site}/orla")
    assert ":~:text=" in passage["url"]


@pytest.mark.parametrize(("path", "outcome"), [("/wall", ("blocked", "low_content")), ("/none", ("error",))])
def test_fetch_without_a_page_says_why_and_fails(site: str, path: str, outcome: tuple[str, ...]) -> None:
    done = runner.invoke(app, ["fetch", f"{site}{path}", "--allow-private", "127.0.0.1", "--json"])
    data = json.loads(done.stdout)
    assert done.exit_code == 1
    assert data["outcome"] in outcome
    assert data["detail"]
    assert data["passages"] == []


def test_a_private_address_is_refused_unless_it_is_named(site: str, asked: list[str]) -> None:
    done = runner.invoke(app, ["fetch", f"{site}/orla"])
    assert done.exit_code == 1
    assert "blocked" in done.stdout
    assert asked == []


def test_ask_over_cache_and_web_fetches_once_and_answers_from_the_cache_afterwards(
    site: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an index. The second process-like run finds the page, its index and its age in the folder."""
    need_model()
    Path("sufficit.toml").write_text(
        f'[web]\nseeds = ["{site}/orla"]\nallow_private = ["127.0.0.1"]\nhost_interval = 0.0\n'
    )
    monkeypatch.setenv("SUFFICIT_CACHE_FOLDER", "pages.cache")
    command = ["ask", QUESTION, "--tiers", "cache,web", "--sites", "127.0.0.1", "--answer-at=0", "--json"]
    command += ["--abstain-below=-3", "--max-fetches", "2", "--max-age", "3000"]
    results = []
    for _ in range(2):
        done = runner.invoke(app, command)
        assert done.exit_code == 0, done.output
        results.append(json.loads(done.stdout))
    first, second = results
    assert (first["answer"], second["answer"]) == ("Marrowby", "Marrowby")
    assert (first["coverage"]["verdict"], first["spend"]["fetches"]) == ("miss", 1)
    assert (second["coverage"]["verdict"], second["spend"]["fetches"]) == ("hit", 0)
    assert asked == ["/robots.txt", "/orla"]
    stats = runner.invoke(app, ["cache", "stats", "--json"])
    (counted,) = json.loads(stats.stdout)["sites"]
    assert (counted["pages"], counted["requests"]) == (1, 1)
