"""Why a fetch went no further. Inside the fetcher this is an exception; outside it is `Fetched.outcome`."""

from __future__ import annotations

from .outcome import Kind


class Stop(Exception):  # noqa: N818  # not always an error: a site may simply say no
    """The fetch ends with this outcome, unless it may be tried again."""

    def __init__(self, outcome: Kind, detail: str, *, again: bool = False, status: int | None = None) -> None:
        super().__init__(outcome, detail)
        self.outcome = outcome
        self.detail = detail
        self.again = again
        """Whether the same request may succeed a moment later."""
        self.status = status
