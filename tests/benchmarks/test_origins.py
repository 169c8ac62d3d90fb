"""nginx as an origin: the site that is written for it, its log, and the server itself where it is installed."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from benchmarks.origins.nginx import LIFE, nginx, read_log
from benchmarks.origins.pages import StaticSite, write_site
from retrieval.web.extract import extract
from retrieval.web.fetch import Fetcher
from retrieval.web.settings import FetchSettings
from retrieval.web.sitemap import read_sitemap

PATH = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin"


def _site(folder: Path, root: str) -> StaticSite:
    notes = folder / "notes"
    notes.mkdir()
    for number in range(10):
        body = (
            f"Mill {number} grinds barley & rye on the Tessel.\n\nIt has {number} sails and a miller of its own."
        )
        (notes / f"{number}.md").write_text(f"# Mill {number}\n\n{body}\n")
    return write_site(folder / "pages", [notes], root=root)


def test_a_site_names_all_pages_and_closes_a_tenth(tmp_path: Path) -> None:
    """The sitemap names the closed page too: only robots.txt keeps a fetcher out."""
    site = _site(tmp_path, "http://127.0.0.1:1")
    assert (site.pages, site.closed) == (10, 1)
    named = read_sitemap((site.folder / "sitemap.xml").read_bytes()).pages
    assert len(named) == 10
    assert "http://127.0.0.1:1/closed/Mill_9.html" in named
    assert "Disallow: /closed/" in (site.folder / "robots.txt").read_text()
    assert "barley &amp; rye" in (site.folder / "Mill_3.html").read_text()


def test_a_log_is_summed_up_by_hand() -> None:
    seen = read_log(["200 500 /a.html", "304 0 /a.html", "404 9 /b.html", "200 40 /robots.txt",
                     "200 70 /sitemap.xml", "200 30 /closed/c.html"])  # fmt: skip
    assert dict(seen.statuses) == {200: 2, 304: 1, 404: 1}
    assert (seen.bytes, seen.robots, seen.sitemaps, seen.closed) == (539, 1, 1, 1)


@pytest.mark.anyio
@pytest.mark.skipif(shutil.which("nginx", path=PATH) is None, reason="nginx is not installed")
async def test_nginx_serves_validates_and_is_obeyed(tmp_path: Path) -> None:
    """200 with a stated life, 304 for its validator, and no request for what robots.txt closes."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    root = f"http://127.0.0.1:{port}"
    _site(tmp_path, root)
    manners = FetchSettings(allow_private=frozenset({"127.0.0.1"}), per_host_interval=0.0)
    with nginx(tmp_path, port):
        async with Fetcher(manners) as fetcher:
            first = await fetcher.fetch(f"{root}/Mill_3.html")
            second = await fetcher.fetch(
                f"{root}/Mill_3.html", validators={"if-none-match": first.headers["etag"]}
            )
            closed = await fetcher.fetch(f"{root}/closed/Mill_9.html")
    assert (first.outcome, second.outcome, closed.outcome) == ("ok", "not_modified", "robots_denied")
    assert first.headers["cache-control"] == f"max-age={LIFE}"
    assert extract(first).title == "Mill 3"
    seen = read_log((tmp_path / "access.log").read_text().splitlines())
    assert (dict(seen.statuses), seen.robots, seen.closed) == ({200: 1, 304: 1}, 1, 0)
