"""What the cache remembers: pages, refusals, and what an origin was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..passage import Passage
from ..text import plain_name
from .freshness import Exchange

if TYPE_CHECKING:
    from ..web.extract import Page
    from ..web.outcome import Kind


def tenant_name(tenant: str | None) -> str:
    """How a tenant is called in the database: empty for the nameless one, else `=` and its name.

    >>> tenant_name(None), tenant_name(""), tenant_name("acme")
    ('', '=', '=acme')
    """
    return "" if tenant is None else f"={plain_name(tenant)}"


def tenant_of(name: str) -> str | None:
    """The tenant that `tenant_name` called so."""
    return name[1:] if name else None


def site_of(key: str) -> str:
    """The host, with its port where it has one, of a URL in normal form; empty if it is no URL."""
    try:
        return urlsplit(key).netloc
    except ValueError:
        return ""


def host_of(key: str) -> str:
    """The host alone, as the overrides of `Rules` match it."""
    try:
        return urlsplit(key).hostname or ""
    except ValueError:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """A page in the cache, with all that reuse, citation and audit need."""

    tenant: str | None
    key: str
    """`retrieval.web.urls.fetch_key` of its URL; one page a tenant and key."""
    final_url: str
    """After redirects."""
    page: Page
    passages: tuple[Passage, ...]
    """In reading order, none blank; `source_id` is the key."""
    exchange: Exchange
    content_type: str
    content: str
    """sha256 (hex) of the decoded body: tells one state of the page from another."""
    seconds: float
    """What the last whole fetch took; the refetch cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A short-lived note that a URL gave no page, so that it is not asked again at once."""

    key: str
    outcome: Kind
    """Never `ok`."""
    detail: str
    status: int | None
    stored_at: float
    """Seconds since the epoch."""
    life: float
    """Seconds for which the note counts."""

    def age(self, now: float) -> float:
        """Seconds since it was noted, at least 0; a clock that was set back makes it older, as it does pages."""
        return abs(now - self.stored_at)

    def holds(self, now: float) -> bool:
        """Whether the note still counts."""
        return self.age(now) < self.life


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one access did to a site, for the counters that its owner could audit."""

    requests: int = 0
    """Requests sent for pages, retries and redirects included."""
    bytes: int = 0
    """Received in bodies, as they came."""
    revalidations: int = 0
    """Conditional requests that were answered with 304."""
    refusals: int = 0
    """Times the site said no: robots.txt, 401, 402, 403, 429, 451."""
    failures: int = 0
    """Times it gave nothing usable for another reason."""
    hits: int = 0
    """Times a stored page served instead of a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a stored passage stands, and what decides whether it may be used."""

    key: str
    passage: Passage
    exchange: Exchange
    content_type: str
