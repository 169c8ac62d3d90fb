"""An operator's own pages and sitemaps as a provider."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import pytest

from retrieval.errors import ProviderError
from retrieval.web.providers import ApiClient, FoundLink, Seeds
from tests.retrieval.web.server import Naps, book, local, redirect, say, serving
from tests.retrieval.web.test_sitemap import urlset
from tests.retrieval.web.webs import TLS


@pytest.fixture
async def client() -> AsyncIterator[ApiClient]:
    async with ApiClient(local(), sleep=Naps(), resolve=book({}), tls=TLS) as client:
        yield client


async def test_fixed_pages_come_first_if_they_match_and_always(client: ApiClient) -> None:
    """By title or by the words of the address."""
    seeds = Seeds(
        [
            "https://a.test/12",
            FoundLink(url="https://a.test/13", title="Bridges of Marrowby"),
            "https://a.test/moor_birds",
        ],
        client=client,
    )
    assert [link.url[15:] for link in await seeds.search("old bridge", 3)] == ["13", "12", "moor_birds"]
    assert [link.url[15:] for link in await seeds.search("birds of the moor", 1)] == ["moor_birds"]


async def test_sitemaps_indexes_and_gzip(client: ApiClient) -> None:
    """Read once, circles end, and only pages that match are found."""
    async with serving() as site:
        index = urlset(
            site.url("/a.xml.gz"),
            site.url("/moved.xml"),
            site.url("/index.xml"),
            root="sitemapindex",
            item="sitemap",
        )
        site.answers = {
            "/index.xml": say(200, index),
            "/a.xml.gz": say(
                200,
                gzip.compress(urlset("https://a.test/mossBogs", "https://a.test/fen")),
                {"Content-Type": "application/gzip"},
            ),
            "/moved.xml": redirect("/b.xml", 301),
            "/b.xml": say(200, urlset("https://a.test/lake", "https://a.test/fen?utm_source=map")),
        }
        seeds = Seeds(client=client, sitemaps=[site.url("/index.xml")])
        assert [link.url for link in await seeds.search("bog", 5)] == ["https://a.test/mossBogs"]
        assert [link.url for link in await seeds.search("lakes and fens", 5)] == [
            "https://a.test/fen",
            "https://a.test/lake",
        ]
        assert list(await seeds.search("castle", 5)) == []
        assert site.paths == ["/index.xml", "/a.xml.gz", "/moved.xml", "/b.xml"]


async def test_a_sitemap_that_fails_is_no_empty_one(client: ApiClient) -> None:
    """What the others list is still found; nothing found is an error as long as one failed; it is tried again."""
    clock = [0.0]
    async with serving() as site:
        site.answers = {
            "/good.xml": say(200, urlset("https://a.test/lake")),
            "/bad.xml": [say(500), say(200, urlset("https://a.test/castle"))],
        }
        seeds = Seeds(
            client=client, sitemaps=[site.url("/bad.xml"), site.url("/good.xml")], clock=lambda: clock[0]
        )
        assert [link.url for link in await seeds.search("lake", 5)] == ["https://a.test/lake"]
        with pytest.raises(ProviderError, match="status 500"):
            await seeds.search("castle", 5)
        clock[0] = 61.0
        assert [link.url for link in await seeds.search("castle", 5)] == ["https://a.test/castle"]


async def test_caps(client: ApiClient) -> None:
    async with serving() as site:
        many = urlset(*(f"https://a.test/lake-{number}" for number in range(50)))
        site.answers = {"/1.xml": say(200, many), "/2.xml": say(200, urlset("https://a.test/lake"))}
        maps = [site.url("/1.xml"), site.url("/2.xml")]
        few = Seeds(client=client, sitemaps=maps, most_links=7)
        assert len(await few.search("lake", 100)) == 7
        assert len(await Seeds(client=client, sitemaps=maps, most_sitemaps=1).search("lake", 100)) == 50
