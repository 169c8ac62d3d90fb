"""The live web: a polite fetcher that cannot be led into the private network.

`retrieval.web.fetch.Fetcher` fetches; it is imported from there, because it brings the HTTP libraries with it.
"""

from __future__ import annotations

from .outcome import Fetched, Kind
from .settings import FetchSettings
from .urls import fetch_key

__all__ = ["FetchSettings", "Fetched", "Kind", "fetch_key"]
