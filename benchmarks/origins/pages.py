"""A static site: our own documentation and the Wikipedia excerpt of the demo, with a sitemap and robots.txt."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.corpora import Document, open_corpus

CLOSED = "closed"
"""Folder that robots.txt closes; every tenth page of the documentation lies there."""
_LINK = re.compile(r"[^A-Za-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticSite:
    """What was written."""

    folder: Path
    sitemap: str
    """Path of the sitemap's URL."""
    pages: int
    closed: int
    """Of these, closed by robots.txt, though the sitemap names them."""


def write_site(folder: Path, sources: Iterable[Path], *, root: str) -> StaticSite:
    """Write each document of some corpora as a page.

    Args:
        folder: Document root; made where needed.
        sources: Folders of Markdown, or files that `open_corpus` reads.
        root: Where the server will serve it: `http://127.0.0.1:8080`.

    Raises:
        CorpusError: a source cannot be read.
    """
    paths: list[str] = []
    for source in sources:
        for number, document in enumerate(open_corpus(source)):
            closed = f"{CLOSED}/" if source.is_dir() and number % 10 == 9 else ""
            path = f"/{closed}{_LINK.sub('_', document.title or document.id).strip('_')}.html"
            target = folder / path[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(page(document), encoding="utf-8")
            paths.append(path)
    (folder / "robots.txt").write_text(f"User-agent: *\nDisallow: /{CLOSED}/\nSitemap: {root}/sitemap.xml\n")
    (folder / "sitemap.xml").write_text(sitemap([root + path for path in paths]))
    return StaticSite(
        folder=folder,
        sitemap="/sitemap.xml",
        pages=len(paths),
        closed=sum(path.startswith(f"/{CLOSED}/") for path in paths),
    )


def page(document: Document) -> str:
    """A document as HTML, each section under its heading."""
    parts = [
        f"<h2>{html.escape(section.title)}</h2>\n{_paragraphs(section.text)}"
        if section.title
        else _paragraphs(section.text)
        for section in document.sections
    ]
    title, body = html.escape(document.title or document.id), "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body><main><article><h1>{title}</h1>\n{body}\n</article></main></body></html>\n"
    )


def sitemap(addresses: Sequence[str]) -> str:
    """A sitemap by sitemaps.org."""
    entries = "\n".join(f"<url><loc>{html.escape(address)}</loc></url>" for address in addresses)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}\n</urlset>\n"
    )


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{html.escape(part)}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())
