"""The sites of the simulation: passages as HTML pages, and what each site says about freshness and robots."""

from __future__ import annotations

import hashlib
import html
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval import Passage

HOUR, DAY = 3_600, 86_400
PARAGRAPHS = 4
"""Passages of one article on one page at most; longer articles have several pages."""
SEARCH_HOST = "search.test"
FORBIDDEN, GONE, FLAKY = 0.02, 0.02, 0.02
"""Shares of pages: closed by robots.txt, gone, and answered with 503 the first time. Never of needed pages but the
last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One host and its manners."""

    host: str
    share: float
    """Of all pages."""
    cache_control: str
    """Empty: none is sent, only Last-Modified."""
    period: float
    """Seconds between two revisions of a page."""


SITES = (
    Site(host="daily.test", share=0.55, cache_control=f"max-age={DAY}", period=3 * DAY),
    Site(
        host="hourly.test",
        share=0.2,
        cache_control=f"max-age={6 * HOUR}, stale-while-revalidate={HOUR}",
        period=DAY,
    ),
    Site(host="archive.test", share=0.2, cache_control="", period=60 * DAY),
    Site(host="board.test", share=0.05, cache_control="no-store", period=HOUR),
)
_BY_HOST = {site.host: site for site in SITES}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page, whatever its revision: a revision changes what stands around the text, as most edits do."""

    host: str
    path: str
    title: str
    paragraphs: tuple[str, ...]
    forbidden: bool = False
    """robots.txt closes it."""
    gone: bool = False
    """It answers 404, though the search still finds it."""
    flaky: bool = False
    """Its first request of a run is answered with 503."""

    @property
    def site(self) -> Site:
        """Its site."""
        return _BY_HOST[self.host]

    def revision(self, now: float) -> int:
        """The number of the revision that is current at a moment of the simulated clock."""
        return int((now + _share(self.path, "phase") * self.site.period) // self.site.period)

    def modified(self, now: float) -> float:
        """When that revision was made."""
        return self.revision(now) * self.site.period - _share(self.path, "phase") * self.site.period

    def html(self, now: float) -> bytes:
        """The page at a moment."""
        text = "\n".join(f"<p>{html.escape(paragraph)}</p>" for paragraph in self.paragraphs)
        title = html.escape(self.title)
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
            f"<nav><a href='/'>Start</a></nav><main><article><h1>{title}</h1>\n{text}\n</article></main>"
            f"<footer>Revision {self.revision(now)}</footer></body></html>"
        ).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All pages. Plain data: it goes to the server's process as it is."""

    pages: tuple[WebPage, ...]
    holding: Mapping[str, int]
    """By passage id: the page that shows the passage."""


def build_world(needed: Sequence[Passage], others: Sequence[Passage], *, seed: int) -> World:
    """Put passages on pages by article, and pages on sites.

    Args:
        needed: Passages that some question needs: their pages are neither closed nor gone.
        others: What else there is.
        seed: Chooses sites and faults; each page's do not depend on the other pages.
    """
    by_id = {passage.id: passage for passage in (*needed, *others)}
    wanted = {passage.id for passage in needed}
    articles: dict[str, list[Passage]] = {}
    for passage in by_id.values():
        articles.setdefault(passage.title or passage.id, []).append(passage)
    pages: list[WebPage] = []
    holding: dict[str, int] = {}
    for members in articles.values():
        for start in range(0, len(members), PARAGRAPHS):
            some = members[start : start + PARAGRAPHS]
            number = len(pages)
            holding |= {passage.id: number for passage in some}
            spared = any(passage.id in wanted for passage in some)
            pages.append(_page(some, number, spared=spared, seed=seed))
    return World(pages=tuple(pages), holding=holding)


def _page(members: Sequence[Passage], number: int, *, spared: bool, seed: int) -> WebPage:
    title = members[0].title or " ".join(members[0].text.split()[:6])
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "page"
    path = f"/wiki/{slug}-{number}"
    chance = random.Random(f"{seed} {members[0].id}")  # noqa: S311  no secret
    site = chance.choices(SITES, [each.share for each in SITES])[0]
    forbidden, gone, flaky = (chance.random() < share for share in (FORBIDDEN, GONE, FLAKY))
    return WebPage(
        host=site.host,
        path=f"/closed{path}" if forbidden and not spared else path,
        title=title,
        paragraphs=tuple(passage.text for passage in members),
        forbidden=forbidden and not spared,
        gone=gone and not spared,
        flaky=flaky,
    )


def _share(*names: str) -> float:
    """A number in [0, 1) that these names alone decide."""
    digest = hashlib.blake2b("\0".join(names).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def delay_of(path: str, times: int) -> float:
    """Seconds that an answer takes, by page and by how often it was asked for: 5 to 60 ms, every tenth 300 ms."""
    chance = _share(path, str(times), "delay")
    return 0.3 if chance > 0.9 else 0.005 + 0.06 * chance
