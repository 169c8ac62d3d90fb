"""Search in a MediaWiki, such as Wikipedia. Needs no key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from urllib.parse import quote

from .answers import MediaWikiAnswer, MediaWikiRestAnswer, checked, links
from .client import ApiClient
from .seam import FoundLink, shortened

LONGEST_QUERY = 300
"""Characters; CirrusSearch, the search of Wikipedia, takes no more."""


class MediaWikiSearch:
    """A `SearchProvider` on the action API (`list=search`), or on the REST API (`/search/page`).

    Args:
        site: Where pages are read, with `{}` for the title: `https://en.wikipedia.org/wiki/{}`.
        endpoint: `https://en.wikipedia.org/w/api.php`, or for REST `https://en.wikipedia.org/w/rest.php/v1`.
        client: Sends the requests.
        api: Which API the endpoint is.
        name: For traces.

    Raises:
        ValueError: `site` has no place for the title.
    """

    def __init__(
        self,
        *,
        site: str = "https://en.wikipedia.org/wiki/{}",
        endpoint: str = "https://en.wikipedia.org/w/api.php",
        client: ApiClient,
        api: Literal["action", "rest"] = "action",
        name: str = "mediawiki",
    ) -> None:
        if "{}" not in site:
            raise ValueError(f"site is {site!r}: expected a URL with {{}} where the page's title stands.")
        self.name = name
        self._site, self._endpoint, self._client, self._api = site, endpoint, client, api

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        """The pages that the wiki's own search ranks first; queries are cut to 300 characters.

        Raises:
            ProviderError: see `SearchProvider`.
        """
        text = shortened(query, LONGEST_QUERY)
        if not text or limit < 1:
            return ()
        found = self._by_rest if self._api == "rest" else self._by_action
        return links(await found(text, min(limit, 50)), limit)

    async def _by_action(self, query: str, limit: int) -> list[FoundLink]:
        parameters = {
            "action": "query",
            "list": "search",
            "srsearch": query,
            "srlimit": str(limit),
            "srprop": "snippet",
            "format": "json",
            "formatversion": "2",
        }
        answer = await self._client.json(self.name, self._endpoint, parameters)
        hits = checked(self.name, MediaWikiAnswer, answer).query.search
        return [FoundLink(url=self._page(hit.title), title=hit.title, snippet=hit.snippet) for hit in hits]

    async def _by_rest(self, query: str, limit: int) -> list[FoundLink]:
        address = f"{self._endpoint.rstrip('/')}/search/page"
        answer = await self._client.json(self.name, address, {"q": query, "limit": str(limit)})
        pages = checked(self.name, MediaWikiRestAnswer, answer).pages
        return [
            FoundLink(url=self._page(page.key), title=page.title, snippet=page.excerpt or "") for page in pages
        ]

    def _page(self, title: str) -> str:
        return self._site.replace("{}", quote(title.replace(" ", "_"), safe="/:@!$()*,;~'"))
