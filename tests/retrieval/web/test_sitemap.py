"""Sitemaps: pages and indexes, plain, in gzip or as a list, bounded, and nothing else."""

from __future__ import annotations

import gzip

import pytest

from retrieval.errors import ProviderError
from retrieval.web import sitemap
from retrieval.web.sitemap import read_sitemap

SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*places: str, root: str = "urlset", item: str = "url") -> bytes:
    entries = "".join(f"<{item}><loc> {place} </loc><lastmod>2024-01-01</lastmod></{item}>" for place in places)
    return f'<?xml version="1.0" encoding="UTF-8"?><{root} xmlns="{SPACE}">{entries}</{root}>'.encode()


def test_pages_and_indexes() -> None:
    assert read_sitemap(urlset("https://a.org/1?x=1&amp;y=2", "https://a.org/2")).pages == (
        "https://a.org/1?x=1&y=2",
        "https://a.org/2",
    )
    index = read_sitemap(urlset("https://a.org/s.xml", root="sitemapindex", item="sitemap"))
    assert (index.sitemaps, index.pages, index.cut) == (("https://a.org/s.xml",), (), False)


def test_without_a_namespace_with_images_and_broken_ends() -> None:
    """What sites get wrong: no namespace, foreign elements, a file that ends too early."""
    body = (
        b"<urlset><url><image><loc>https://a.org/x.png</loc></image><loc>https://a.org/1</loc></url>"
        b"<url><loc>https://a.org/2</loc></url><url><loc>https://a"
    )
    assert read_sitemap(body).pages[:2] == ("https://a.org/1", "https://a.org/2")


def test_gzip_and_lists() -> None:
    assert read_sitemap(gzip.compress(urlset("https://a.org/1"), mtime=0)).pages == ("https://a.org/1",)
    assert read_sitemap(b"\xef\xbb\xbfhttps://a.org/1\r\nhttps://a.org/2\r\n").pages == (
        "https://a.org/1",
        "https://a.org/2",
    )


def test_a_bomb_and_a_long_list_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "LARGEST", 10_000)
    bomb = gzip.compress(urlset(*(f"https://a.org/{number}" for number in range(5_000))), mtime=0)
    cut = read_sitemap(bomb)
    assert cut.cut
    assert 0 < len(cut.pages) < 200
    monkeypatch.setattr(sitemap, "MOST_ENTRIES", 3)
    assert read_sitemap(urlset(*(f"https://a.org/{number}" for number in range(9)))) == sitemap.Sitemap(
        pages=("https://a.org/0", "https://a.org/1", "https://a.org/2"), cut=True
    )


def test_entities_are_not_expanded() -> None:
    """Neither files of this machine nor a billion laughs."""
    body = b'<!DOCTYPE u [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>https://a.org/&f;</loc></url></urlset>'
    assert "root:" not in "".join(read_sitemap(body).pages)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"<html><p>Not found</p></html>",
        b"Not found",
        b"\x1f\x8b\x08broken",
        b"<",
        gzip.compress(b"no", mtime=0),
    ],
)
def test_what_is_no_sitemap_is_an_error(body: bytes) -> None:
    with pytest.raises(ProviderError, match="sitemap"):
        read_sitemap(body)
