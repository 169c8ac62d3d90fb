"""The seam for whatever finds links, and what all of them do with a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLink:
    """A page that a provider names for a query. Its words are the provider's: a hint, never evidence."""

    url: str
    """Absolute, http or https."""
    title: str = ""
    snippet: str = ""
    """Plain text."""


@runtime_checkable
class SearchProvider(Protocol):
    """Finds links for a query.

    Contract: best first, at most `limit`, none twice; "found nothing" is an empty answer; may be cancelled at
    every await; many searches may run at once.
    """

    @property
    def name(self) -> str:
        """For traces."""
        ...

    async def search(self, query: str, limit: int) -> Sequence[FoundLink]:
        """The best links for a query.

        Raises:
            ProviderError: no answer, or one that cannot be used. The next provider is asked then.
        """
        ...


def shortened(query: str, longest: int, *, words: int | None = None) -> str:
    """A query on one line that a provider takes (case F09): cut at the end of a word where it has words.

    Args:
        query: Any text.
        longest: Characters.
        words: Most words; None = any number.

    >>> shortened("which river  runs through the town", 15)
    'which river'
    """
    line = " ".join(query.split()[:words])
    if len(line) <= longest:
        return line
    cut = line[:longest]
    return cut.rpartition(" ")[0] if " " in cut and line[longest] != " " else cut


def site_filter(sites: Sequence[str]) -> str:
    """The operators that keep a web search to some sites.

    >>> site_filter(["example.org", "example.com"])
    ' (site:example.org OR site:example.com)'
    """
    joined = " OR ".join(f"site:{site}" for site in sites)
    return f" ({joined})" if len(sites) > 1 else f" {joined}".rstrip()
