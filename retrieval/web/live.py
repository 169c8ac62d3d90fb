"""Pages straight from the origin: the plain `PageSource`."""

from __future__ import annotations

from ..compute import in_worker
from .extract import extract
from .fetch import Fetcher
from .pages import PageResult


class LivePages:
    """A `PageSource` without a memory: each page is fetched when it is asked for.

    Args:
        fetcher: Whoever made it closes it.
    """

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher

    async def page(
        self,
        url: str,
        *,
        deadline: float | None,
        max_age: float | None,
        tenant: str | None,
    ) -> PageResult:
        """The page as its origin serves it now; see `PageSource`."""
        fetched = await self._fetcher.fetch(url, deadline=deadline)
        page = await in_worker(extract, fetched) if fetched.outcome == "ok" else None
        age = fetched.headers.get("age", "")
        return PageResult(
            page=page,
            fetched=fetched,
            outcome=fetched.outcome if page is None else page.outcome,
            age=float(age) if age.isascii() and age.isdigit() and len(age) < 12 else 0.0,
            stale=False,
            origin_fetches=int(fetched.attempts > 0),
            from_cache=False,
        )
