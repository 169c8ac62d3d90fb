"""Search through Brave's Search API, with a key from the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ...errors import ProviderError
from .answers import BraveAnswer, checked, links
from .client import ApiClient
from .seam import FoundLink, shortened, site_filter

KEY_VARIABLE = "SUFFICIT_BRAVE_KEY"
ENDPOINT = "https://api.search.brave.com/res/v1/web/search"
LONGEST_QUERY, MOST_WORDS = 400, 50
"""Limits of the API."""
_MOST_RESULTS = 20


class BraveSearch:
    """A `SearchProvider` on Brave's web search.

    The key is read from `SUFFICIT_BRAVE_KEY` at each search, sent in a header to the endpoint alone, and stands in
    no attribute, message or log.

    Args:
        client: Sends the requests.
        sites: Hosts to keep to; empty = all.
        name: For traces.
        endpoint: Another address with the same API.
        environment: Where the key is looked up.
    """

    def __init__(
        self,
        *,
        client: ApiClient,
        sites: Sequence[str] = (),
        name: str = "brave",
        endpoint: str = ENDPOINT,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.name = name
        self._client, self._filter = client, site_filter(sites)
        self._endpoint, self._environment = endpoint, environment

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        """The first results, at most 20; queries are cut to 400 characters and 50 words.

        Raises:
            ProviderError: see `SearchProvider`; also if there is no key.
        """
        key = self._environment.get(KEY_VARIABLE, "").strip()
        if not (key.isascii() and key.isprintable() and key):
            raise ProviderError(f"{self.name} needs a key of printable ASCII: set {KEY_VARIABLE}.")
        room = LONGEST_QUERY - len(self._filter)
        text = shortened(query, max(room, 1), words=MOST_WORDS - len(self._filter.split()))
        if not text or limit < 1:
            return ()
        answer = await self._client.json(
            self.name,
            self._endpoint,
            {"q": f"{text}{self._filter}", "count": str(min(limit, _MOST_RESULTS)), "text_decorations": "false"},
            {"x-subscription-token": key},
        )
        hits = checked(self.name, BraveAnswer, answer).web.results
        found = (FoundLink(url=hit.url, title=hit.title, snippet=hit.description or "") for hit in hits)
        return links(found, limit)
