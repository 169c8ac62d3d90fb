"""`sufficit cache`: an operator fills, audits, purges, checks and exports a cache."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agent.cli_cache import cache_app
from retrieval.corpora import open_corpus
from tests.retrieval.cache.origins import LONG, article

runner = CliRunner()


class _Handler(BaseHTTPRequestHandler):
    """Two articles, a sitemap that lists them, sitemaps that are broken, and a page that is gone."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        base = f"http://{self.headers['host']}"
        entries = "".join(f"<url><loc>{base}{path}</loc></url>" for path in ("/a", "/b"))
        known = {
            "/a": article(LONG),
            "/b": article(LONG.replace("purple", "white")),
            "/sitemap.xml": (
                f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
            ).encode(),
            "/empty.xml": b"<urlset></urlset>",
            "/page.xml": b"<html><body>Not found</body></html>",
            "/index.xml": f"<sitemapindex><sitemap><loc>{base}/none.xml</loc></sitemap></sitemapindex>".encode(),
            "/half.xml": (
                f"<sitemapindex><sitemap><loc>{base}/none.xml</loc></sitemap>"
                f"<sitemap><loc>{base}/sitemap.xml</loc></sitemap></sitemapindex>"
            ).encode(),
        }
        body = known.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/xml" if self.path.endswith("xml") else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Be silent."""


@pytest.fixture(autouse=True)
def _without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The site is ours: it need not be asked once a second only."""
    monkeypatch.setenv("SUFFICIT_WEB_HOST_INTERVAL", "0")


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(*arguments: str, status: int = 0) -> dict[str, Any]:
    """What the command prints with `--json`, and nothing else on stdout."""
    done = runner.invoke(cache_app, [*arguments, "--json"])
    assert done.exit_code == status, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def cache(tmp_path: Path, site: str, tiny_backbone: Path) -> Path:
    """A cache with the pages of the sitemap, and a page that its site does not have."""
    folder = tmp_path / "pages.cache"
    found = run(
        "warm", f"http://{site}/gone", "--sitemap", f"http://{site}/sitemap.xml", "--cache", str(folder),
        "--allow-private", "127.0.0.1", "--encoder", str(tiny_backbone),
    )  # fmt: skip
    assert found == {
        "pages": 3, "outcomes": {"error": 1, "ok": 2}, "requests": 3, "from_cache": 0, "sitemap_faults": [],
    }  # fmt: skip
    return folder


def test_a_cache_is_filled_audited_checked_and_purged(cache: Path, site: str, tmp_path: Path) -> None:
    """The figures of each command agree with what the site was really asked for."""
    where = ("--cache", str(cache))
    again = run("warm", f"http://{site}/a", *where, "--allow-private", "127.0.0.1", "--no-index")
    assert (again["pages"], again["outcomes"], again["requests"], again["from_cache"]) == (1, {"ok": 1}, 0, 1)
    stats = run("stats", *where)
    assert (stats["pages"], stats["pages_not_indexed_yet"]) == (2, 0)
    (counts,) = stats["sites"]
    assert (counts["site"], counts["requests"], counts["failures"], counts["hits"]) == (site, 3, 1, 1)
    assert counts["bytes_received"] == len(article(LONG)) + len(article(LONG.replace("purple", "white")))
    checked = run("verify", *where)
    assert (checked["ok"], checked["faults"], checked["pages"]) == (True, [], 2)
    out = tmp_path / "pages.jsonl"
    assert run("export", *where, "--out", str(out))["pages"] == 2
    assert {document.id for document in open_corpus(out)} == {f"http://{site}/a", f"http://{site}/b"}
    shown = runner.invoke(cache_app, ["export", *where])
    assert [json.loads(line)["title"] for line in shown.stdout.splitlines()] == ["Heather", "Heather"]
    assert run("purge", *where, "--older-than", "1000")["pages_removed"] == 0
    assert run("purge", *where, "--site", site)["pages_removed"] == 2
    assert run("stats", *where)["sites"][0]["requests"] == 3
    assert run("purge", *where, "--all")["pages_removed"] == 0
    assert run("stats", *where)["sites"] == []
    assert run("verify", *where)["ok"]


def test_damage_has_an_exit_status(cache: Path) -> None:
    """A changed text is found by its hash, and the table names the page."""
    connection = sqlite3.connect(cache / "pages.sqlite")
    connection.execute("UPDATE passages SET text = 'Something else.' WHERE page = 1")
    connection.commit()
    connection.close()
    found = run("verify", "--cache", str(cache), status=1)
    assert found["ok"] is False
    assert "is not the one it was" in found["faults"][0]["detail"]
    done = runner.invoke(cache_app, ["verify", "--cache", str(cache)])
    assert "Purge it" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stats"], "There is no cache in"),
        (["purge"], "Nothing is named"),
        (["warm"], "Nothing to fetch"),
        (["export", "--json"], "name it with --out FILE"),
    ],
)
def test_mistakes_are_told_with_their_remedy(tmp_path: Path, arguments: list[str], message: str) -> None:
    """Usage errors end with status 2 and leave no folder behind."""
    done = runner.invoke(cache_app, [*arguments, "--cache", str(tmp_path / "none")])
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (tmp_path / "none").exists()


def test_what_we_refuse_ourselves_is_not_remembered(tmp_path: Path, site: str) -> None:
    """A private address is refused unless its host is named; once it is, its page comes at once."""
    where = ("--cache", str(tmp_path / "c"), "--no-index")
    found = run("warm", f"http://{site}/a", "file:///etc/hosts", *where, status=1)
    assert found["outcomes"] == {"blocked": 2}
    assert run("stats", "--cache", str(tmp_path / "c"))["sites"] == []
    allowed = run("warm", f"http://{site}/a", *where, "--allow-private", "127.0.0.1")
    assert (allowed["outcomes"], allowed["requests"]) == ({"ok": 1}, 1)


@pytest.mark.parametrize("sitemap", ["none.xml", "empty.xml", "page.xml", "index.xml"])
def test_a_sitemap_that_gives_nothing_is_a_failure(tmp_path: Path, site: str, sitemap: str) -> None:
    """What is wrong stands on stderr with the sitemap's address; pages that are named are fetched all the same."""
    where = ("--cache", str(tmp_path / "c"), "--no-index", "--allow-private", "127.0.0.1")
    place = f"http://{site}/{sitemap}"
    done = runner.invoke(cache_app, ["warm", "--sitemap", place, *where])
    assert done.exit_code == 1
    assert "Error: Not one page could be had." in done.stderr
    assert f"http://{site}/" in done.stderr
    found = run("warm", f"http://{site}/a", "--sitemap", place, *where, status=1)
    assert (found["outcomes"], len(found["sitemap_faults"])) == ({"ok": 1}, 1)


def test_a_part_of_a_sitemap_that_is_missing_is_told(tmp_path: Path, site: str) -> None:
    """Nobody knows which pages are missing then: the status is 1, though the others are there."""
    where = ("--cache", str(tmp_path / "c"), "--no-index", "--allow-private", "127.0.0.1")
    found = run("warm", "--sitemap", f"http://{site}/half.xml", *where, status=1)
    assert found["outcomes"] == {"ok": 2}
    assert "none.xml" in found["sitemap_faults"][0]


def test_nothing_to_purge_is_told(cache: Path) -> None:
    """Exit status 0, since what was wanted holds; a mistyped site shows."""
    done = runner.invoke(cache_app, ["purge", "--site", "unknown.example", "--cache", str(cache)])
    assert (done.exit_code, "no such page of unknown.example is stored" in done.stderr) == (0, True)
    done = runner.invoke(cache_app, ["purge", "--all", "--cache", str(cache)])
    assert (done.exit_code, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["warm", "stats", "purge", "verify", "export"])
def test_help_teaches(command: str) -> None:
    """Every command shows an example."""
    done = runner.invoke(cache_app, [command, "--help"])
    assert done.exit_code == 0
    assert f"Example: sufficit cache {command}" in " ".join(done.output.split())
