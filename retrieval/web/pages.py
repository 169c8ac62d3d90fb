"""Where web pages come from: one Protocol for the plain fetcher and for the coverage cache in front of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .extract import Page
    from .outcome import Fetched, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class PageResult:
    """What asking for one URL gave, and what it cost the origin.

    Anything but `ok` is an outcome to record, not an absence of evidence.
    """

    page: Page | None
    """The extracted page; None unless something readable was found."""
    fetched: Fetched | None
    """The exchange with the origin behind `page` or behind the failure. From a cache: None with a page; without
    one the failure that it remembers; what went wrong just now, where a stale page stands in for it."""
    outcome: Kind
    """`ok` if `page` may be used, fresh or (see `stale`) knowingly stale."""
    age: float | None
    """Seconds since the origin last vouched for the content (RFC 9111, section 4.2.3), at least 0."""
    stale: bool
    """The content outlived its freshness and is served only because the rules for stale content allow it."""
    origin_fetches: int
    """Requests to the origin that this call caused: 0 from a cache or behind another task's flight."""
    from_cache: bool
    """The content was stored before this call, even if the origin was asked whether it still holds."""


class PageSource(Protocol):
    """Gives the page behind a URL.

    Never raises for what a server, a URL or a page's content does: that is an outcome. `CancelledError` passes.
    `TierError`s are for a source that cannot work at all.
    """

    async def page(
        self, url: str, *, deadline: float | None, max_age: float | None, tenant: str | None
    ) -> PageResult:
        """The page behind `url`.

        Args:
            url: absolute, http or https.
            deadline: on `time.monotonic()`; None means the source's own time-out only.
            max_age: the oldest content that is of use, in seconds; None means as old as freshness allows.
            tenant: whose cache may be read and filled; None is the nameless tenant, which is a tenant as well.
        """
        ...
