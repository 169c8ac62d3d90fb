"""Why a fetch went no further. Inside the fetcher this is an exception; outside it is `Fetched.outcome`."""

from __future__ import annotations

from .outcome import Kind


class Stop(Exception):  # noqa: N818  # not always an error: a site may simply say no
    """The fetch ends with this outcome, unless it may be tried again.

    Args:
        outcome: As in `Fetched`.
        detail: For people.
        again: Whether the same request may succeed a moment later.
        retry_after: Seconds that the host still asks to wait.
    """

    def __init__(
        self, outcome: Kind, detail: str, *, again: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(outcome, detail)
        self.outcome = outcome
        self.detail = detail
        self.again = again
        self.retry_after = retry_after
