"""Links for a query: from the first provider that has some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from ..errors import ProviderError, TierUnavailableError
from ..retriever import Event
from .providers.seam import FoundLink, SearchProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkAnswer:
    """Links, and what happened on the way."""

    links: tuple[FoundLink, ...]
    events: tuple[Event, ...]
    """One `provider_failed` for each provider that failed."""


async def find_links(
    providers: Sequence[SearchProvider], query: str, limit: int, *, sites: Sequence[str], tier: str
) -> LinkAnswer:
    """Ask the providers in their order until one has links to the sites that are allowed.

    Raises:
        TierUnavailableError: every provider failed: nobody knows whether there is something to find.
    """
    events: list[Event] = []
    answered = False
    for provider in providers:
        try:
            found = await provider.search(query, limit)
        except ProviderError as error:
            events.append(Event(kind="provider_failed", detail=str(error), where=tier))
            continue
        except Exception as error:  # noqa: BLE001  a provider may be somebody else's code
            detail = f"{provider.name} raised {type(error).__name__}: {error}"
            events.append(Event(kind="provider_failed", detail=detail, where=tier))
            continue
        answered = True
        kept = tuple(link for link in found if is_on_sites(link.url, sites))
        if kept:
            return LinkAnswer(links=kept[:limit], events=tuple(events))
    if not answered:
        reasons = " ".join(event.detail for event in events)
        raise TierUnavailableError(f"{tier}: no search provider answered. {reasons}")
    return LinkAnswer(links=(), events=tuple(events))


def is_on_sites(url: str, sites: Sequence[str]) -> bool:
    """Whether a URL's host is one of the sites or a host below it; with no sites every host is.

    >>> [is_on_sites(url, ["a.org"]) for url in ("https://en.a.org/x", "https://ba.org/x")]
    [True, False]
    """
    try:
        host = (urlsplit(url).hostname or "").removesuffix(".")
    except ValueError:
        return False
    return not sites or any(host == site or host.endswith(f".{site}") for site in sites)


def site_of(text: str) -> str:
    """A site as a user names it, as a host: `https://Example.org/docs` and `*.example.org` are `example.org`.

    Raises:
        ValueError: it names no host.
    """
    host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
    host = host.removeprefix("*.").strip(".")
    if not host or any(sign in host for sign in " *,;"):
        raise ValueError(f"{text!r} names no site: expected a host such as 'example.org'.")
    return host if host.isascii() else host.encode("idna").decode("ascii")
