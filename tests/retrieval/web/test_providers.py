"""Search providers over a real server: requests, answers, and answers that cannot be used (case F09)."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from retrieval.errors import ProviderError
from retrieval.web.providers import (
    ApiClient,
    BraveSearch,
    FoundLink,
    MediaWikiSearch,
    SearchProvider,
    SearxngSearch,
)
from retrieval.web.providers.seam import shortened, site_filter
from tests.retrieval.web.server import Answer, Naps, Site, book, local, redirect, say, serving
from tests.retrieval.web.webs import TLS

KEY = "bsk-secret-4711"
ENVIRONMENT = {"SUFFICIT_BRAVE_KEY": KEY}
LONG = "which river flows through the town " * 15


class ByPath(dict[str, Answer | list[Answer]]):
    """Answers by path, whatever the query."""

    def get(self, path: str, default: Any = None) -> Any:
        return super().get(path.partition("?")[0], default)


@pytest.fixture
async def client() -> AsyncIterator[ApiClient]:
    async with ApiClient(local(), sleep=Naps(), resolve=book({}), tls=TLS) as client:
        yield client


Make = Callable[[Site, ApiClient], SearchProvider]


def by_action(site: Site, client: ApiClient) -> SearchProvider:
    return MediaWikiSearch(site="https://wiki.test/wiki/{}", endpoint=site.url("/api"), client=client)


def by_rest(site: Site, client: ApiClient) -> SearchProvider:
    return MediaWikiSearch(site="https://wiki.test/wiki/{}", endpoint=site.url(""), client=client, api="rest")


def searxng(site: Site, client: ApiClient) -> SearchProvider:
    return SearxngSearch(site.url(""), client=client, sites=["a.test", "b.test"])


def brave(site: Site, client: ApiClient) -> SearchProvider:
    return BraveSearch(client=client, endpoint=site.url("/brave"), environment=ENVIRONMENT)


PAGE = "https://wiki.test/wiki/River_Tessel"
FOUND = FoundLink(url=PAGE, title="River Tessel", snippet="a river & more")
EXCERPT = "a <b class='x'>river</b> &amp; more"
KINDS: list[tuple[Make, str, str, object]] = [
    (by_action, "/api", "srsearch", {"query": {"search": [{"title": "River Tessel", "snippet": EXCERPT}]}}),
    (
        by_rest,
        "/search/page",
        "q",
        {"pages": [{"key": "River_Tessel", "title": "River Tessel", "excerpt": EXCERPT}]},
    ),
    (searxng, "/search", "q", {"results": [{"url": PAGE, "title": "River Tessel", "content": "a river & more"}]}),
    (
        brave,
        "/brave",
        "q",
        {
            "type": "search",
            "web": {"results": [{"url": PAGE, "title": "River <b>Tessel</b>", "description": EXCERPT}]},
        },
    ),
]
EACH = pytest.mark.parametrize(
    ("make", "path", "name", "answer"), KINDS, ids=["action", "rest", "searxng", "brave"]
)


def said(answer: object) -> Answer:
    return say(200, json.dumps(answer).encode(), {"Content-Type": "application/json"})


@EACH
async def test_links_with_plain_words(client: ApiClient, make: Make, path: str, name: str, answer: object) -> None:
    """Markup and entities of titles and snippets are gone; the query went out as asked."""
    async with serving(ByPath({path: said(answer)})) as site:
        found = await make(site, client).search("the  Tessel?", 5)
        sent = parse_qs(urlsplit(site.requests[0].path).query)
    assert found == (FOUND,)
    assert sent[name][0].startswith("the Tessel?")
    assert "/robots.txt" not in [asked.path for asked in site.requests]


@EACH
async def test_f09_a_long_query_is_cut_at_a_word(
    client: ApiClient, make: Make, path: str, name: str, answer: object
) -> None:
    async with serving(ByPath({path: said(answer)})) as site:
        assert await make(site, client).search(LONG, 5)
        sent = parse_qs(urlsplit(site.requests[0].path).query)[name][0]
    query = sent.partition(" (site:")[0]
    assert LONG.startswith(query)
    assert 250 < len(query) <= 400
    assert query.split()[-1] in LONG.split()


@pytest.mark.parametrize(
    "bad",
    [
        said({}),
        said([]),
        said(None),
        said({"query": {}, "pages": None, "results": "none", "web": 3}),
        said({"query": {"search": [{"no": 1}]}, "pages": [{}], "results": [{}], "type": 1}),
        said({"error": {"code": "x", "info": "The search is down."}}),
        say(200, b"<!doctype html><title>Sign in</title>", {"Content-Type": "text/html"}),
        say(200, b'{"query": {"search": [', {"Content-Type": "application/json"}),
        say(200, b"[" * 100_000, {"Content-Type": "application/json"}),
        say(200, b"\xff\xfe\x00", {"Content-Type": "application/json"}),
        say(200, b""),
        say(401),
        say(429, b"", {"Retry-After": "7"}),
        say(500, b"{}"),
        say(404),
    ],
)
@EACH
async def test_f09_what_cannot_be_used_is_an_error(  # noqa: PLR0917  pytest passes them by name
    client: ApiClient, make: Make, path: str, name: str, answer: object, bad: Answer
) -> None:
    """Never an empty list: that would mean that there is nothing to find."""
    async with serving(ByPath({path: bad})) as site:
        with pytest.raises(ProviderError, match=r"expected|of another shape|no answer|status") as caught:
            await make(site, client).search("Tessel", 5)
    assert KEY not in str(caught.value)


@EACH
async def test_nothing_found_is_no_error(
    client: ApiClient, make: Make, path: str, name: str, answer: object
) -> None:
    nothing: dict[str, Any] = {"query": {"search": []}, "pages": [], "results": [], "type": "search"}
    async with serving(ByPath({path: said(nothing)})) as site:
        provider = make(site, client)
        assert await provider.search("Tessel", 5) == ()
        assert await provider.search(" ", 5) == ()
        assert len(site.requests) == 1


async def test_links_that_are_no_pages_and_repeats_are_left_out(client: ApiClient) -> None:
    """Other schemes, no host, tracking variants of one page (case F08); the first address is kept."""
    places: Sequence[str] = [
        "javascript:alert(1)", "file:///etc/passwd", "https:///x", "http://[", "https://a.test/1?utm_source=x",
        "https://a.test/1", "https://a.test/1?id=2", "https://a.test/3",
    ]  # fmt: skip
    async with serving(ByPath({"/search": said({"results": [{"url": place} for place in places]})})) as site:
        found = await SearxngSearch(site.url("/"), client=client).search("x", 2)
    assert [link.url for link in found] == ["https://a.test/1?utm_source=x", "https://a.test/1?id=2"]


async def test_the_key_goes_to_its_endpoint_only(client: ApiClient, caplog: pytest.LogCaptureFixture) -> None:
    """In a header, from the environment; not after a redirect, not in errors, logs or the object."""
    caplog.set_level(logging.DEBUG)
    async with serving({}) as other, serving() as site:
        site.answers = ByPath({"/brave": redirect(other.url("/steal"))})
        provider = brave(site, client)
        with pytest.raises(ProviderError, match="status 302") as caught:
            await provider.search("Tessel", 5)
        assert site.requests[0].headers["x-subscription-token"] == KEY
        assert other.requests == []
    assert KEY not in f"{caught.value!r}{caught.value.__cause__!r}{caplog.text}{vars(client)}"


@pytest.mark.parametrize("key", [None, "", "  ", "a\nb", "schlüssel"])
async def test_without_a_key_the_provider_says_which_variable(client: ApiClient, key: str | None) -> None:
    environment = {} if key is None else {"SUFFICIT_BRAVE_KEY": key}
    with pytest.raises(ProviderError, match="SUFFICIT_BRAVE_KEY"):
        await BraveSearch(client=client, environment=environment).search("x", 5)


async def test_a_private_endpoint_must_be_allowed() -> None:
    """The guard of pages holds for APIs as well (case F01)."""
    async with serving() as site, ApiClient(local(allow_private=frozenset()), resolve=book({}), tls=TLS) as strict:
        with pytest.raises(ProviderError, match="blocked"):
            await searxng(site, strict).search("x", 5)
        assert site.requests == []


@pytest.mark.parametrize(
    ("query", "longest", "cut"),
    [
        ("", 5, ""),
        ("one two", 7, "one two"),
        ("one two", 5, "one"),
        ("one two", 3, "one"),
        ("onetwo", 3, "one"),
        (" a \n b ", 9, "a b"),
    ],
)
def test_f09_where_a_query_is_cut(query: str, longest: int, cut: str) -> None:
    assert shortened(query, longest) == cut


def test_site_operators() -> None:
    assert [site_filter(sites) for sites in ([], ["a.test"])] == ["", " site:a.test"]


def test_a_wiki_needs_a_place_for_its_titles() -> None:
    with pytest.raises(ValueError, match="title stands"):
        MediaWikiSearch(site="https://wiki.test/", client=ApiClient(local(), tls=TLS))
