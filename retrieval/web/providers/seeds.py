"""A list of pages, or the sitemaps of one's own sites, as a search provider."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from ...compute import in_worker
from ...errors import ProviderError
from ..ranking import WordRanking
from ..sitemap import read_sitemap
from ..urls import fetch_key
from .answers import links
from .client import ApiClient
from .seam import FoundLink, shortened

LONGEST_QUERY = 1_000
_SIGNS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """What the sitemaps gave, ready for search."""

    links: tuple[FoundLink, ...]
    ranking: WordRanking
    faults: tuple[str, ...]
    until: float
    """Moment of the clock at which it is read again."""


class Seeds:
    """A `SearchProvider` over fixed pages and sitemaps: ranked by BM25 of title and words of the URL.

    Fixed pages are always found, those that match first, since somebody chose them; pages of a sitemap only if a
    word matches. Sitemaps are read at the first search and again after a day; one that failed after a minute.

    Args:
        urls: Fixed pages; with titles they are found by these too.
        sitemaps: Addresses of sitemaps or of indexes of them.
        client: Reads the sitemaps.
        name: For traces.
        most_links: Pages kept of all sitemaps together.
        most_sitemaps: Files read, those of an index included.
        clock: Seconds; only differences count.
    """

    def __init__(
        self,
        urls: Sequence[str | FoundLink] = (),
        *,
        client: ApiClient,
        sitemaps: Sequence[str] = (),
        name: str = "seeds",
        most_links: int = 50_000,
        most_sitemaps: int = 50,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        given = (FoundLink(url=item) if isinstance(item, str) else item for item in urls)
        self._fixed = tuple(links(given, len(urls)))
        self._sitemaps, self._client, self._clock = tuple(sitemaps), client, clock
        self._most_links, self._most_sitemaps = most_links, most_sitemaps
        self._loaded: _Loaded | None = None
        self._loading = asyncio.Lock()

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        """The pages that match best; queries are cut to 1,000 characters.

        Raises:
            ProviderError: a sitemap could not be read, and nothing else was found.
        """
        loaded = await self._load()
        ranked = await in_worker(loaded.ranking.search, shortened(query, LONGEST_QUERY))
        matching = [loaded.links[number] for number, _ in ranked]
        found = links([*matching, *self._fixed], limit)
        if not found and loaded.faults:
            raise ProviderError(f"{self.name}: {loaded.faults[0]}")
        return found

    async def _load(self) -> _Loaded:
        async with self._loading:
            if self._loaded is None or self._clock() >= self._loaded.until:
                pages, faults = await self._read_all()
                known = {fetch_key(link.url): link for link in self._fixed}
                for page in pages:
                    known.setdefault(fetch_key(page), FoundLink(url=page))
                found = links(known.values(), len(known))
                ranking = await in_worker(WordRanking, [_words(link) for link in found])
                until = self._clock() + (60 if faults else 86_400)
                self._loaded = _Loaded(links=tuple(found), ranking=ranking, faults=tuple(faults), until=until)
            return self._loaded

    async def _read_all(self) -> tuple[list[str], list[str]]:
        """Pages of the sitemaps and what went wrong; each file is read once, so that a circle ends."""
        pages: list[str] = []
        faults: list[str] = []
        waiting = list(self._sitemaps)
        seen = set(map(fetch_key, waiting))
        read = 0
        while waiting and read < self._most_sitemaps and len(pages) < self._most_links:
            place = waiting.pop(0)
            read += 1
            try:
                sitemap = await in_worker(read_sitemap, await self._client.body(self.name, place))
            except ProviderError as error:
                faults.append(f"{place}: {error}")
                continue
            pages.extend(sitemap.pages)
            fresh = [other for other in sitemap.sitemaps if fetch_key(other) not in seen]
            seen.update(map(fetch_key, fresh))
            waiting.extend(fresh)
        return pages[: self._most_links], faults


def _words(link: FoundLink) -> str:
    """Title and what the URL's path and query say: `/moor_birds/redShank.html` as `moor birds red Shank html`."""
    parts = urlsplit(link.url)
    return f"{link.title} {link.snippet} {_SIGNS.sub(' ', unquote(f'{parts.path} {parts.query}'))}"
