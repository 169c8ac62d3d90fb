"""The cache and the web in front of nginx: what does a server that we did not write see?

`python -m benchmarks.origins.nginx --json`. Needs nginx (Debian: `apt install nginx-light`) and what `make demo`
fetches. Nothing of the system's nginx is touched: folder, port, log and configuration are of this run.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from agent.build import open_agent
from agent.config import Settings, load_settings
from agent.result import SearchResult
from retrieval.cache.report import report
from retrieval.cache.store import PageStore
from retrieval.compute import in_worker

from ..cli import reporting
from ..corpus import cache_folder
from ..datasets.demo import load_demo_questions
from ..errors import SettingsError
from ..output import Report, Row
from .pages import write_site

LIFE = 600
"""Seconds that the server states."""
START_SECONDS = 10.0
OWN_QUESTIONS = (
    "Which file of the coverage cache holds pages and passages?",
    "How many seconds does a search wait for the index of the cache?",
    "Which policy stops a search by default?",
)
CONFIGURATION = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  types {{ text/html html; text/plain txt; application/xml xml; }}
  log_format counted '$status $body_bytes_sent $request_uri';
  access_log {folder}/access.log counted;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  gzip on; gzip_types text/plain application/xml; etag on;
  server {{ listen 127.0.0.1:{port}; root {folder}/pages; add_header Cache-Control "max-age={life}"; }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What the server's own log says of one part of the run."""

    statuses: Counter[int]
    """Of requests for pages."""
    bytes: int
    robots: int
    sitemaps: int
    closed: int
    """Requests for pages that robots.txt closes; must be 0."""


@contextmanager
def nginx(folder: Path, port: int) -> Iterator[None]:
    """Run nginx over `folder/pages`, for as long as the block lasts.

    Raises:
        SettingsError: it is not installed, or does not start.
    """
    program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        raise SettingsError("nginx is not installed. Install it, e.g. with: apt install nginx-light")
    configuration = folder / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder, port=port, life=LIFE))
    command = [program, "-c", str(configuration), "-p", str(folder), "-e", str(folder / "error.log")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  no shell
    try:
        _wait(port, folder)
        yield
    finally:
        process.terminate()
        process.wait()


def read_log(lines: Sequence[str]) -> Seen:
    """Sum up lines of the access log: status, bytes, URI.

    >>> read_log(["200 512 /a.html", "304 0 /a.html", "200 40 /robots.txt"]).statuses
    Counter({200: 1, 304: 1})
    """
    parts = [line.split(" ", 2) for line in lines]
    pages = [(int(status), int(size)) for status, size, uri in parts if uri.endswith(".html")]
    return Seen(
        statuses=Counter(status for status, _ in pages),
        bytes=sum(size for _, size in pages),
        robots=sum(uri == "/robots.txt" for *_, uri in parts),
        sitemaps=sum(uri == "/sitemap.xml" for *_, uri in parts),
        closed=sum(uri.startswith("/closed/") for *_, uri in parts),
    )


def run(sources: Sequence[Path], questions: Sequence[str]) -> Report:
    """Ask the questions three times: with an empty cache, again at once, and for pages of one second at most."""
    port = _free_port()
    root = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        site = write_site(folder / "pages", sources, root=root)
        settings = load_settings(
            {
                "tiers": "cache,web",
                "web": {
                    "sitemaps": [root + site.sitemap],
                    "sites": ["127.0.0.1"],
                    "allow_private": ["127.0.0.1"],
                    "host_interval": 0.0,
                },
                "cache": {"folder": folder / "cache"},
            }
        ).model_copy(update={"max_seconds": None})
        with nginx(folder, port):
            rows = asyncio.run(_passes(settings, questions, folder / "access.log"))
        with PageStore(folder / "cache") as store:
            rows.append(_own_counts(store))
    settings_shown = {"pages": site.pages, "closed": site.closed, "questions": len(questions), "max_age": LIFE}
    return Report(benchmark="nginx", settings=settings_shown, seed=0, rows=rows)


async def _passes(settings: Settings, questions: Sequence[str], log: Path) -> list[Row]:
    rows: list[Row] = []
    read = 0
    async with open_agent(settings=settings) as agent:
        for name, max_age in (("empty cache", None), ("again", None), ("at most a second old", 1.0)):
            began = time.perf_counter()
            results = [await agent.run(question, max_age=max_age) for question in questions]
            seconds = time.perf_counter() - began
            lines = await in_worker(_lines, log)
            rows.append({"pass": name, **_figures(results, read_log(lines[read:]), seconds)})
            read = len(lines)
    return rows


def _figures(results: Sequence[SearchResult], seen: Seen, seconds: float) -> Row:
    events = Counter(event.kind for result in results for turn in result.turns for event in turn.events)
    asked = [{turn.tier for turn in result.turns if turn.queries} for result in results]
    return {
        "questions": len(results),
        "answered_from_cache": sum(
            result.action == "answer" and tiers == {"cache"} for result, tiers in zip(results, asked, strict=True)
        ),
        "asked_web": sum("web" in tiers for tiers in asked),
        "status_200": seen.statuses[200],
        "status_304": seen.statuses[304],
        "other_status": sum(seen.statuses.values()) - seen.statuses[200] - seen.statuses[304],
        "bytes": seen.bytes,
        "robots": seen.robots,
        "sitemaps": seen.sitemaps,
        "closed_pages_asked": seen.closed,
        "closed_pages_left_out": events["fetch_robots_denied"],
        "fetches_by_spend": sum(result.spend.fetches for result in results),
        "seconds": seconds / len(results),
    }


def _own_counts(store: PageStore) -> Row:
    """What the cache itself counted, to be held against the log."""
    found = report(store)
    tallies = [site.tally for site in found.sites]
    return {
        "pass": "by the cache's own count",
        "requests": sum(tally.requests for tally in tallies),
        "status_304": sum(tally.revalidations for tally in tallies),
        "bytes": sum(tally.bytes for tally in tallies),
        "refusals": sum(tally.refusals for tally in tallies),
        "pages": found.pages,
    }


def _lines(log: Path) -> list[str]:
    return log.read_text().splitlines()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait(port: int, folder: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    log = folder / "error.log"
    said = log.read_text()[-300:] if log.exists() else "nothing"
    raise SettingsError(f"nginx did not start within {START_SECONDS:.0f} s; it says: {said}")


def main(
    *,
    docs: Annotated[Path, typer.Option("--docs", help="Folder of Markdown files.")] = Path("docs"),
    corpus: Annotated[
        Path | None, typer.Option("--corpus", help="Default: the excerpt that make demo fetches.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Of the demo's questions.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Search through the cache and the web on an nginx of our own pages, and read its log."""
    with reporting(as_json=as_json) as reports:
        excerpt = corpus or cache_folder() / "demo" / "enwiki-excerpt.xml.bz2"
        if not excerpt.is_file():
            raise SettingsError(f"{excerpt} is not there. Fetch it with: make demo")
        asked = [question.question for question in load_demo_questions().questions][:limit]
        reports.append(run([docs, excerpt], [*OWN_QUESTIONS, *asked]))


if __name__ == "__main__":
    typer.run(main)
