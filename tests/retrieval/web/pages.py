"""Fetches and pages, made by hand."""

from __future__ import annotations

from retrieval.web.extract import Page, extract
from retrieval.web.outcome import Fetched

MOMENT = 1_700_000_000.0
"""14 November 2023."""
RIVER = "The Tessel is a river of 140 kilometres. It rises in the Aven hills and ends in the bay of Dunmouth."
TOWN = "Marrowby is a market town on the Tessel. Its bridge was built in 1784 and has seven arches of grey stone."


def fetched(
    body: str | bytes, *, kind: str = "text/html", header: str = "", url: str = "https://example.org/tessel"
) -> Fetched:
    """A fetch that went well."""
    return Fetched(
        url=url,
        key=url,
        outcome="ok",
        final_url=url,
        status=200,
        headers={"content-type": header} if header else {},
        body=body.encode() if isinstance(body, str) else body,
        content_type=kind,
        requested_at=MOMENT,
        received_at=MOMENT,
        attempts=1,
    )


def html(body: str, *, title: str = "Tessel", head: str = "", root: str = "") -> str:
    """A page of HTML."""
    return f"<!doctype html><html{root}><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def article(*paragraphs: str) -> str:
    """A heading and paragraphs, as the main part of a page."""
    return f"<article><h1>Tessel</h1>{''.join(f'<p>{paragraph}</p>' for paragraph in paragraphs)}</article>"


def read(body: str, *, title: str = "Tessel", head: str = "", root: str = "") -> Page:
    """What is extracted of a page of HTML."""
    return extract(fetched(html(body, title=title, head=head, root=root)))
