"""How the fetcher behaves."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import metadata

from ..errors import FetchSettingsError

PRODUCT = "Sufficit"
"""Our name: in the User-Agent, and the group of robots.txt that we obey."""

_VISIBLE = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchSettings:
    """Limits and manners of a `Fetcher`.

    Raises:
        FetchSettingsError: A number is out of its range, or a text cannot stand in a header.
    """

    contact: str = ""
    """Where a site's owner reaches you: a URL or a mail address. It goes into the User-Agent."""
    allow_private: frozenset[str] = frozenset()
    """Hosts, as they stand in URLs, that may have private addresses. An allowed address does not allow names that
    resolve to it."""
    max_bytes: int = 5_000_000
    """Of a body, before and after decompression."""
    timeout_seconds: float = 20.0
    """Of one exchange, from the connection to the last byte."""
    total_seconds: float = 60.0
    """Of one fetch: turns, robots.txt, redirects, retries and pauses included. A deadline can only shorten it."""
    per_host_concurrency: int = 2
    per_host_interval: float = 1.0
    """Seconds between two requests to a host at least; robots.txt may ask for more."""
    total_concurrency: int = 16
    """Exchanges at once, over all hosts."""
    retries: int = 2
    """After the first request, in one fetch; of what may pass: dropped connections, 429, 502, 503, 504."""
    max_redirects: int = 5
    seed: int = 0
    """Of the jitter between retries."""
    robots: bool = True
    """Obey robots.txt. False only for sites that are yours."""
    accept_language: str = "en, *;q=0.5"

    def __post_init__(self) -> None:
        for name in ("max_bytes", "per_host_concurrency", "total_concurrency"):
            _at_least(name, getattr(self, name), 1)
        for name in ("retries", "max_redirects", "per_host_interval"):
            _at_least(name, getattr(self, name), 0)
        for name in ("timeout_seconds", "total_seconds"):
            _at_least(name, getattr(self, name), 0.001)
        for name in ("contact", "accept_language"):
            if not _VISIBLE.fullmatch(getattr(self, name)):
                raise FetchSettingsError(
                    f"{name} is {getattr(self, name)!r}: expected printable ASCII on one line."
                )

    @property
    def user_agent(self) -> str:
        """Our name, version and contact: `Sufficit/0.1.0 (+https://example.org/bot)`."""
        about = f"{PRODUCT}/{metadata.version('sufficit')}"
        return f"{about} (+{self.contact})" if self.contact else about


def _at_least(name: str, value: float, least: float) -> None:
    if not (math.isfinite(value) and value >= least):
        raise FetchSettingsError(f"{name} is {value}: expected a number of at least {least}.")
