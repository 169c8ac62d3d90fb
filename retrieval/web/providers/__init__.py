"""Search providers: where links for a query come from."""

from .brave import BraveSearch
from .client import ApiClient
from .mediawiki import MediaWikiSearch
from .seam import FoundLink, SearchProvider
from .searxng import SearxngSearch
from .seeds import Seeds

__all__ = [
    "ApiClient",
    "BraveSearch",
    "FoundLink",
    "MediaWikiSearch",
    "SearchProvider",
    "SearxngSearch",
    "Seeds",
]
