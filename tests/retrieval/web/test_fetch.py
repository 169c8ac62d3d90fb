"""The fetcher: each outcome, redirects hop by hop, what is sent and what is kept."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import FetchSettingsError
from retrieval.web.fetch import Fetcher
from retrieval.web.settings import FetchSettings
from tests.retrieval.web.server import (
    HTML,
    PAGE,
    Answer,
    fetching,
    local,
    page,
    raw,
    redirect,
    say,
    serving,
)


async def test_a_page_comes_with_what_caching_and_extraction_need() -> None:
    moments = iter(range(1_000, 2_000))
    headers = HTML | {"ETag": '"v1"', "Vary": "Accept-Language", "Set-Cookie": "a=b", "X-Other": "x"}
    fetcher = Fetcher(local(robots=False), clock=lambda: float(next(moments)))
    async with serving({"/a?id=1": say(200, PAGE, headers)}) as site, fetcher:
        asked = site.url("/a?id=1&utm_source=x#part")
        fetched = await fetcher.fetch(asked)
    assert fetched.outcome == "ok"
    assert (fetched.url, fetched.key, fetched.final_url) == (asked, site.url("/a?id=1"), site.url("/a?id=1"))
    assert site.paths == ["/a?id=1"]
    assert (fetched.body, fetched.content_type, fetched.status) == (PAGE, "text/html", 200)
    assert fetched.headers == {
        "content-type": HTML["Content-Type"],
        "etag": '"v1"',
        "vary": "Accept-Language",
    }
    assert fetched.request_headers["accept-language"] == "en, *;q=0.5"
    assert (fetched.requested_at, fetched.received_at) == (1000.0, 1001.0)
    assert (fetched.attempts, fetched.bytes_received, fetched.redirects) == (1, len(PAGE), ())


async def test_we_say_who_we_are_and_keep_no_cookies() -> None:
    cookie = {"Set-Cookie": "track=me; Path=/"}
    answers: dict[str, Answer | list[Answer]] = {
        "/a": page(Set_Cookie="track=me"),
        "/b": say(302, b"", {"Location": "/a"} | cookie),
    }
    async with serving(answers) as site, fetching(contact="https://example.org/bot") as fetcher:
        for path in ("/a", "/b", "/a"):
            assert (await fetcher.fetch(site.url(path))).outcome == "ok"
    assert len(site.paths) == 4
    for asked in site.requests:
        assert asked.headers["user-agent"].startswith("Sufficit/")
        assert asked.headers["user-agent"].endswith(" (+https://example.org/bot)")
        assert not {"cookie", "referer", "authorization"} & set(asked.headers)


async def test_a_connection_is_used_again() -> None:
    """Also after a redirect, a 404 with a body, and a 304."""
    answers: dict[str, Answer | list[Answer]] = {
        "/a": page(),
        "/b": redirect("/a"),
        "/c": say(404, b"no such page", HTML),
        "/d": say(304),
    }
    async with serving(answers) as site, fetching() as fetcher:
        for path in ("/a", "/b", "/c", "/d", "/a"):
            await fetcher.fetch(site.url(path), validators={"If-None-Match": '"v1"'})
    assert {asked.connection for asked in site.requests} == {0}


@pytest.mark.parametrize(
    ("status", "headers", "outcome"),
    [
        (203, {}, "ok"),
        (204, {}, "low_content"),
        (206, {}, "error"),
        (226, {}, "error"),
        (300, {}, "error"),
        (301, {}, "error"),
        (304, {}, "error"),
        (400, {}, "error"),
        (401, {}, "blocked"),
        (402, {}, "payment_required"),
        (403, {}, "blocked"),
        (404, {}, "error"),
        (410, {}, "error"),
        (429, {}, "rate_limited"),
        (451, {}, "blocked"),
        (500, {}, "error"),
        (503, {}, "error"),
        (503, {"cf-mitigated": "challenge"}, "blocked"),
        (599, {}, "error"),
        (999, {}, "error"),
    ],
)
async def test_what_each_status_means(status: int, headers: dict[str, str], outcome: str) -> None:
    """None of them is a page without evidence, and a body of a refusal is no page."""
    body = b"" if status in {204, 304} else PAGE
    async with serving({"/a": say(status, body, HTML | headers)}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert fetched.outcome == outcome
    assert fetched.status == status
    assert (fetched.body == PAGE) == (outcome == "ok")
    assert fetched.detail.endswith(f"(status {status}).") or outcome == "ok"


async def test_validators_are_sent_and_304_is_not_modified() -> None:
    """Others than the two validators, and such that would break a request, are not sent."""
    validators = {"If-None-Match": '"v1"', "If-Modified-Since": "x\r\nEvil: 1", "Cookie": "a", "Range": "bytes=0-"}
    answer = say(304, b"", {"ETag": '"v1"', "Cache-Control": "max-age=60"})
    async with serving({"/a": answer}) as site, fetching(robots=False) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"), validators=validators)
    assert fetched.outcome == "not_modified"
    assert fetched.headers == {"etag": '"v1"', "cache-control": "max-age=60"}
    assert site.requests[0].headers["if-none-match"] == '"v1"'
    assert not {"if-modified-since", "evil", "cookie", "range"} & set(site.requests[0].headers)


async def test_an_empty_page_is_low_content() -> None:
    async with serving({"/a": page(b"")}) as site, fetching() as fetcher:
        assert (await fetcher.fetch(site.url("/a"))).outcome == "low_content"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_and_noted(status: int) -> None:
    answers: dict[str, Answer | list[Answer]] = {"/a": redirect("/b#x", status), "/b": page()}
    async with serving(answers) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert (fetched.outcome, fetched.final_url, fetched.attempts) == ("ok", site.url("/b"), 2)
    assert fetched.redirects == (site.url("/a"),)


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f000002/",
        "http://inside.test/",
        "//10.0.0.1/",
        "file:///etc/passwd",
        "http://u:p@127.0.0.1/",
        "gopher://127.0.0.1/",
    ],
)
@pytest.mark.parametrize("robots", [True, False])
async def test_a_redirect_into_private_space_is_blocked(location: str, *, robots: bool) -> None:
    """Every hop is checked as if it had been asked for (case F01)."""
    names = {"inside.test": ("192.168.0.1",)}
    async with serving({"/a": redirect(location)}) as site, fetching(names=names, robots=robots) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert fetched.outcome == "blocked", fetched.detail
    assert fetched.redirects == (site.url("/a"),)
    assert fetched.status is None or fetched.status == 302
    assert fetched.body == b""


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1.nip.test/",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f000002/",
        "http://127.2/",
        "http://[::1]/",
        "file:///etc/passwd",
        "http://user:pass@example.org/",
    ],
)
@pytest.mark.parametrize("robots", [True, False])
async def test_a_url_into_private_space_is_blocked(url: str, *, robots: bool) -> None:
    """An address that is allowed, as 127.0.0.1 is here, does not allow a name that leads to it (case F01)."""
    async with fetching(names={"127.0.0.1.nip.test": ("127.0.0.1",)}, robots=robots) as fetcher:
        fetched = await fetcher.fetch(url)
    assert (fetched.outcome, fetched.status, fetched.attempts) == ("blocked", None, 0)
    assert (fetched.url, fetched.body) == (url, b"")


async def test_a_circle_and_a_long_chain_of_redirects_are_errors() -> None:
    answers: dict[str, Answer | list[Answer]] = {f"/{hop}": redirect(f"/{hop + 1}") for hop in range(20)}
    answers |= {"/a": redirect("/b"), "/b": redirect("/a"), "/c": redirect("http://[bad"), "/d": redirect("")}
    async with serving(answers) as site, fetching() as fetcher:
        circle = await fetcher.fetch(site.url("/a"))
        chain = await fetcher.fetch(site.url("/0"))
        unreadable = await fetcher.fetch(site.url("/c"))
        nowhere = await fetcher.fetch(site.url("/d"))
    assert [one.outcome for one in (circle, chain, unreadable, nowhere)] == ["error"] * 4
    assert "in a circle" in circle.detail
    assert "More than 5 redirects" in chain.detail
    assert chain.attempts == 6


@pytest.mark.parametrize(
    "answer",
    [
        raw(b""),
        raw(b"\x16\x03\x01 what\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nNo colon here\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000 + b"\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"),
        raw(b"HTTP/1.1 abc\r\n\r\n"),
        raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    ],
)
async def test_what_is_no_http_is_an_error(answer: Answer) -> None:
    async with serving({"/a": answer}) as site, fetching(robots=False) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert fetched.outcome == "error", fetched.detail
    assert fetched.body == b""


async def test_nobody_there_is_an_error_and_a_past_deadline_a_timeout() -> None:
    async with serving() as site:
        pass
    async with fetching() as fetcher:
        assert (await fetcher.fetch(site.url())).outcome == "error"
        assert (await fetcher.fetch("http://nobody.test/")).outcome == "error"
        assert (await fetcher.fetch(site.url(), deadline=time.monotonic() - 1)).outcome == "timeout"


@given(st.text(max_size=40))
async def test_no_text_makes_fetch_raise(text: str) -> None:
    async with fetching(robots=False, timeout_seconds=0.5) as fetcher:
        fetched = await fetcher.fetch(text)
    assert fetched.outcome in {"blocked", "error"}
    assert fetched.url == text


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_bytes": 0},
        {"timeout_seconds": float("nan")},
        {"total_seconds": float("inf")},
        {"per_host_interval": -1.0},
        {"retries": -1},
        {"contact": "me\r\nEvil: 1"},
        {"accept_language": "ä"},
    ],
)
def test_settings_that_cannot_work_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(FetchSettingsError, match=next(iter(wrong))):
        FetchSettings(**wrong)  # type: ignore[arg-type]
