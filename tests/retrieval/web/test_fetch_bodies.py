"""Bodies: stopped at the cap or the deadline, decoded, and named by their bytes (cases F02 and F07)."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.web.decode_body import decoder_for
from retrieval.web.sniff import content_type, is_readable
from retrieval.web.stop import Stop
from tests.retrieval.web.server import HTML, PAGE, Answer, endless, fetching, head, page, raw, say, serving

CAP = 300_000
GZIP = HTML | {"Content-Encoding": "gzip"}
BOMB = gzip.compress(b" " * 10_000_000, mtime=0) * 100
"""A megabyte that expands to a gigabyte."""
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def _named(value: str | bytes) -> str | None:
    """Bytes make no readable name of a test."""
    return "body" if isinstance(value, bytes) else None


@pytest.mark.parametrize(
    "answer",
    [
        say(200, BOMB, GZIP),
        say(200, b"x" * (CAP + 1), HTML),
        raw(head(200, HTML | {"Content-Length": "99999999999"}) + b"x"),
        raw(head(200, HTML) + b"x" * (CAP + 1)),
        endless(head(200, HTML | {"Transfer-Encoding": "chunked"}), CHUNK),
        endless(head(200, HTML), b"x" * 65_536),
    ],
    ids=["bomb", "one too many", "announced", "no length", "endless chunks", "endless"],
)
async def test_a_body_above_the_cap_is_stopped_and_memory_stays_bounded(answer: Answer) -> None:
    async with serving({"/a": answer}) as site, fetching(robots=False, max_bytes=CAP) as fetcher:
        tracemalloc.start()
        try:
            fetched = await fetcher.fetch(site.url("/a"))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert fetched.outcome == "too_large", fetched.detail
    assert fetched.body == b""
    assert fetched.bytes_received <= CAP + 65_536
    assert peak < 8 * CAP + 2_000_000  # what server and client hold in this process, of a gigabyte


async def test_a_body_at_the_cap_is_whole() -> None:
    async with serving({"/a": page(b"x" * CAP)}) as site, fetching(max_bytes=CAP) as fetcher:
        assert len((await fetcher.fetch(site.url("/a"))).body) == CAP


@pytest.mark.parametrize(
    "answer",
    [
        endless(head(200, HTML | {"Content-Length": "1000"}), b"x", pause=0.05),
        endless(head(200, HTML | {"Transfer-Encoding": "chunked"}), b"1\r\nx\r\n", pause=0.05),
        endless(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", pause=0.05),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.05),
        endless(b"", b"", pause=0.05),
    ],
    ids=["body", "chunks", "headers", "informational", "silence"],
)
async def test_drops_and_silence_end_at_the_time_limit(answer: Answer) -> None:
    """Each byte restarts the clocks that HTTP libraries have; the whole exchange has one too."""
    async with serving({"/a": answer}) as site, fetching(robots=False, timeout_seconds=0.4) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert fetched.outcome == "timeout", fetched.detail
    assert fetched.attempts == 1
    assert fetched.body == b""


@pytest.mark.parametrize("length", ["10", "1000"])
async def test_a_length_that_lies_is_no_page(length: str) -> None:
    """Too long: the connection ends early. Too short: the rest is not ours, but what is there is what was said."""
    lie = raw(head(200, HTML | {"Content-Length": length}) + PAGE)
    async with serving({"/a": lie}) as site, fetching(robots=False) as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert fetched.outcome == ("error" if length == "1000" else "ok")
    assert len(fetched.body) <= 10


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)),
        ("x-gzip", gzip.compress(PAGE[:20], mtime=0) + gzip.compress(PAGE[20:], mtime=0)),
        ("GZip", gzip.compress(PAGE, mtime=0) + b"\0\0\0padding"),
        ("deflate", zlib.compress(PAGE)),
        ("deflate", raw_deflate(PAGE)),
        ("identity", PAGE),
        ("", PAGE),
        (" , identity", PAGE),
    ],
    ids=_named,
)
async def test_codings_are_undone(coding: str, body: bytes) -> None:
    answer = say(200, body, HTML | {"Content-Encoding": coding})
    async with serving({"/a": answer}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert (fetched.outcome, fetched.body) == ("ok", PAGE)
    assert fetched.bytes_received == len(body)


@pytest.mark.parametrize(
    ("coding", "body", "outcome"),
    [
        ("gzip", gzip.compress(PAGE, mtime=0)[:-12], "error"),
        ("gzip", PAGE, "error"),
        ("gzip", gzip.compress(b"", mtime=0) * 50_000, "error"),
        ("deflate", zlib.compress(PAGE)[:-9], "error"),
        ("br", PAGE, "unsupported"),
        ("gzip, gzip", gzip.compress(gzip.compress(PAGE, mtime=0), mtime=0), "unsupported"),
    ],
    ids=_named,
)
async def test_a_coding_that_lies_or_was_not_offered_is_no_page(coding: str, body: bytes, outcome: str) -> None:
    answer = say(200, body, HTML | {"Content-Encoding": coding})
    async with serving({"/a": answer}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/a"))
    assert (fetched.outcome, fetched.body) == (outcome, b"")


@given(st.binary(max_size=3_000), st.integers(1, 4_000), st.integers(1, 700), st.booleans())
def test_a_decoder_gives_the_start_of_the_body_whatever_the_pieces(
    body: bytes, limit: int, size: int, zipped: bool
) -> None:
    packed = gzip.compress(body, mtime=0) if zipped else raw_deflate(body)
    decoder = decoder_for("gzip" if zipped else "deflate")
    stream, out = io.BytesIO(packed), b""
    while piece := stream.read(size):
        out += decoder.decode(piece, limit - len(out))
    # raw deflate that happens to begin like a zlib header is taken for one
    assert len(out) <= limit
    assert out == body[:limit]
    if len(body) < limit:
        decoder.finish()


@given(st.binary(max_size=400))
def test_rubbish_stops_a_decoder_and_nothing_worse(body: bytes) -> None:
    outcomes = set()
    for coding in ("gzip", "deflate"):
        decoder = decoder_for(coding)
        try:
            assert len(decoder.decode(body, 1_000)) <= 1_000
            decoder.finish()
        except Stop as stop:
            outcomes.add(stop.outcome)
    assert outcomes <= {"error"}


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "text/html", "application/pdf"),
        (PAGE, "application/pdf", "text/html"),
        (PAGE, "", "text/html"),
        (b"\xef\xbb\xbf\n <!-- hello -->\n<HTML>", "text/plain", "text/html"),
        (b'<?xml version="1.0"?>\n<html xmlns="x">', "application/xhtml+xml", "text/html"),
        (b'<?xml version="1.0"?>\n<rss>', "text/html", "application/xml"),
        (b"Just words.", "text/html", "text/plain"),
        (b"<x-card>words</x-card>", "text/html", "text/html"),
        (b'{"a": 1}', "application/json; charset=utf-8", "application/json"),
        (b"# Title", "text/markdown", "text/markdown"),
        (b"words", "image/png", "text/plain"),
        ("Grüße".encode("utf-16"), "text/html", "text/html"),
        ("<p>words".encode("utf-16-le"), "", "text/html"),
        ("日本語".encode("utf-16-be"), "text/html; charset=UTF-16BE", "text/html"),
        ("日本語".encode("iso-2022-jp"), "text/plain", "text/plain"),
        ("中文".encode("gb18030"), "text/plain", "text/plain"),
        (b"\x89PNG\r\n\x1a\n\0\0", "text/html", "image/png"),
        (b"PK\x03\x04\x14\0", "text/plain", "application/zip"),
        (b"\0\1\2\3words", "text/html", "application/octet-stream"),
        (b"\x7fELF\x02\x01", "text/plain", "application/octet-stream"),
    ],
)
def test_bytes_say_what_a_body_is(body: bytes, declared: str, kind: str) -> None:
    assert content_type(body, declared) == kind


@given(st.binary(max_size=300), st.text(max_size=30))
def test_every_body_has_a_type_and_binary_is_not_readable(body: bytes, declared: str) -> None:
    kind = content_type(body, declared)
    assert is_readable(kind) or kind.startswith(("application/", "image/"))


@pytest.mark.parametrize("declared", ["text/html", "application/pdf", "image/png"])
async def test_binary_is_not_fetched_to_its_end(declared: str) -> None:
    """A film under the address of a page costs its first kilobytes."""
    start = head(200, {"Content-Type": declared, "Content-Length": "4000000"})
    answer = endless(start, b"\0\1\2\3" * 1_000, pause=0.01)
    async with serving({"/view?id=1": answer}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/view?id=1"))
    assert (fetched.outcome, fetched.body) == ("unsupported", b"")
    assert fetched.bytes_received < 100_000


async def test_a_pdf_under_any_address_is_a_pdf() -> None:
    async with serving({"/view?id=1": page(b"%PDF-1.4\n...")}) as site, fetching() as fetcher:
        fetched = await fetcher.fetch(site.url("/view?id=1"))
    assert (fetched.outcome, fetched.content_type) == ("ok", "application/pdf")
