"""TLS and HTTP/2: certificates are those of the host's name, whatever address it has."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import h2.config
import h2.connection
import h2.events
import pytest
import trustme

from retrieval.web.fetch import Fetcher
from tests.retrieval.web.server import HTML, PAGE, Naps, book, local, page, serving

NAMES = {"good.test": ("127.0.0.1",), "bad.test": ("127.0.0.1",)}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def served_by(authority: trustme.CA, *protocols: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.test").configure_cert(context)
    context.set_alpn_protocols(list(protocols) or ["http/1.1"])
    return context


def fetcher_that_trusts(authority: trustme.CA | None) -> Fetcher:
    settings = local(allow_private=frozenset(NAMES), robots=False)
    tls = ssl.create_default_context()
    if authority is not None:
        authority.configure_trust(tls)
    return Fetcher(settings, sleep=Naps(), resolve=book(NAMES), tls=tls)


async def test_the_name_in_the_certificate_is_that_of_the_host(authority: trustme.CA) -> None:
    """We connect to an address, but neither the certificate nor the Host header is of an address."""
    async with (
        serving({"/a": page()}, tls=served_by(authority)) as site,
        fetcher_that_trusts(authority) as fetcher,
    ):
        good = await fetcher.fetch(site.url("/a", "good.test", "https"))
        bad = await fetcher.fetch(site.url("/a", "bad.test", "https"))
    assert (good.outcome, good.body) == ("ok", PAGE)
    assert site.requests[0].headers["host"] == f"good.test:{site.port}"
    assert (bad.outcome, bad.attempts) == ("error", 0)
    assert "certificate" in bad.detail
    assert len(site.requests) == 1


async def test_an_unknown_authority_is_not_trusted(authority: trustme.CA) -> None:
    async with serving({"/a": page()}, tls=served_by(authority)) as site, fetcher_that_trusts(None) as fetcher:
        fetched = await fetcher.fetch(site.url("/a", "good.test", "https"))
    assert (fetched.outcome, fetched.attempts) == ("error", 0)


async def test_http2_is_spoken_and_its_connection_is_shared(authority: trustme.CA) -> None:
    async with two(served_by(authority, "h2"), PAGE) as (port, streams), fetcher_that_trusts(authority) as fetcher:
        url = f"https://good.test:{port}/a"
        fetched = await asyncio.gather(*(fetcher.fetch(f"{url}?{number}") for number in range(6)))
    assert [(one.outcome, one.body) for one in fetched] == [("ok", PAGE)] * 6
    assert [number for _, number in sorted(streams)] == [1, 3, 5, 7, 9, 11]
    assert len({connection for connection, _ in streams}) == 1


async def test_a_broken_http2_is_an_error(authority: trustme.CA) -> None:
    async with two(served_by(authority, "h2"), None) as (port, _), fetcher_that_trusts(authority) as fetcher:
        fetched = await fetcher.fetch(f"https://good.test:{port}/a")
    assert fetched.outcome == "error", fetched.detail


@asynccontextmanager
async def two(tls: ssl.SSLContext, body: bytes | None) -> AsyncIterator[tuple[int, list[tuple[int, int]]]]:
    """A server of HTTP/2 that gives this body for everything, or rubbish instead of frames.

    Yields its port, and (connection, stream) of each request.
    """
    streams: list[tuple[int, int]] = []
    connections: list[asyncio.StreamWriter] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        number = len(connections)
        speaker = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        speaker.initiate_connection()
        while data := await reader.read(65_536):
            if body is None:
                writer.write(b"\xff" * 100)
                break
            for event in speaker.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    assert event.stream_id is not None
                    streams.append((number, event.stream_id))
                    fields = [(":status", "200"), ("content-type", HTML["Content-Type"])]
                    speaker.send_headers(event.stream_id, fields)
                    speaker.send_data(event.stream_id, body, end_stream=True)
            writer.write(speaker.data_to_send())
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1], streams
    finally:
        server.close()
        for writer in connections:
            writer.transport.abort()
        await server.wait_closed()
        await asyncio.sleep(0)
