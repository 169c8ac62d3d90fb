"""Search through a SearXNG, a metasearch engine that one runs oneself; its `search.formats` must hold `json`."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import SearxngAnswer, checked, links
from .client import ApiClient
from .seam import FoundLink, shortened, site_filter

LONGEST_QUERY = 400
"""Characters. SearXNG has no limit of its own; the engines behind it take between 256 and 2,048."""


class SearxngSearch:
    """A `SearchProvider` on a SearXNG instance.

    Args:
        url: Of the instance, e.g. `http://127.0.0.1:8888`. The client's settings must allow a private address.
        client: Sends the requests.
        sites: Hosts to keep to; empty = all.
        name: For traces.
    """

    def __init__(self, url: str, *, client: ApiClient, sites: Sequence[str] = (), name: str = "searxng") -> None:
        self.name = name
        self._endpoint, self._client, self._filter = f"{url.rstrip('/')}/search", client, site_filter(sites)

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        """The first page of results; queries are cut to 400 characters.

        Raises:
            ProviderError: see `SearchProvider`.
        """
        text = shortened(query, LONGEST_QUERY)
        if not text or limit < 1:
            return ()
        answer = await self._client.json(
            self.name, self._endpoint, {"q": f"{text}{self._filter}", "format": "json"}
        )
        hits = checked(self.name, SearxngAnswer, answer).results
        return links((FoundLink(url=hit.url, title=hit.title, snippet=hit.content or "") for hit in hits), limit)
