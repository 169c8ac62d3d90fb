"""Sitemaps (sitemaps.org): XML with the pages of a site, an index of others, or a plain list; also in gzip."""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass

from ..errors import ProviderError
from .charset import decode

LARGEST = 50_000_000
"""Bytes when unpacked; the protocol allows 52,428,800."""
MOST_ENTRIES = 50_000
"""The protocol's own limit of one file."""
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """What one file lists, in its order."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    """Of an index: where the others are."""
    cut: bool = False
    """There was more than 50,000 entries or 50 MB."""


def read_sitemap(body: bytes) -> Sitemap:
    """The entries of a sitemap. Blocking. Entities are not expanded, nothing else is loaded.

    Raises:
        ProviderError: it is no sitemap.
    """
    data, cut = _unpacked(body) if body.startswith(_GZIP) else (body[:LARGEST], len(body) > LARGEST)
    if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _from_xml(data, cut=cut)
    lines = [line.strip() for line in decode(data, markup=False).text.splitlines()]
    pages = [line for line in lines if line.startswith(("http://", "https://"))]
    if not pages or len(pages) < len([line for line in lines if line]) / 2:
        raise ProviderError("The sitemap is neither XML nor a list of URLs, one a line.")
    return Sitemap(pages=tuple(pages[:MOST_ENTRIES]), cut=cut or len(pages) > MOST_ENTRIES)


def _unpacked(body: bytes) -> tuple[bytes, bool]:
    stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        data = stream.decompress(body, LARGEST)
    except zlib.error as error:
        raise ProviderError(f"The sitemap is damaged gzip: {error}.") from error
    return data, not stream.eof


def _from_xml(data: bytes, *, cut: bool) -> Sitemap:
    from lxml import etree

    pages: list[str] = []
    sitemaps: list[str] = []
    root = ""
    events = etree.iterparse(
        io.BytesIO(data), events=("start", "end"), resolve_entities=False, no_network=True, recover=True
    )
    try:
        for event, element in events:
            name = etree.QName(element).localname if isinstance(element.tag, str) else ""
            if not root:
                root = name
                if root not in {"urlset", "sitemapindex"}:
                    raise ProviderError(f"The sitemap begins with <{root}>: expected <urlset> or <sitemapindex>.")
            if event == "start" or name not in {"url", "sitemap"}:
                continue
            place = "".join(element.xpath("string(./*[local-name()='loc'])")).strip()
            if place:
                (pages if name == "url" else sitemaps).append(place)
            element.clear()
            if len(pages) + len(sitemaps) >= MOST_ENTRIES:
                return Sitemap(pages=tuple(pages), sitemaps=tuple(sitemaps), cut=True)
    except etree.XMLSyntaxError as error:
        raise ProviderError(f"The sitemap is no XML: {error}.") from error
    if not root:
        raise ProviderError("The sitemap is no XML: it holds no element.")
    return Sitemap(pages=tuple(pages), sitemaps=tuple(sitemaps), cut=cut)
