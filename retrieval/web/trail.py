"""How far a fetch has come, and the record of it when it ends, wherever that is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .outcome import Fetched, Kind
from .pace import asked_pause
from .urls import fetch_key
from .wire import Tally

VALIDATORS = frozenset({"if-none-match", "if-modified-since"})
KEPT_HEADERS = frozenset(
    {
        "age",
        "cache-control",
        "content-language",
        "content-type",
        "date",
        "etag",
        "expires",
        "last-modified",
        "link",
        "retry-after",
        "vary",
    }
)


@dataclass(slots=True, kw_only=True)
class Trail:
    """One fetch on its way."""

    asked_for: str
    until: float
    """Moment of `time.monotonic`."""
    retries_left: int
    validators: Mapping[str, str]
    request_headers: Mapping[str, str]
    now: Callable[[], float]
    """Seconds since the epoch."""
    began: float = field(default_factory=time.monotonic)
    url: str = ""
    """Of the last hop."""
    redirects: list[str] = field(default_factory=list)
    robots: str = ""
    """What the last robots.txt said."""
    tally: Tally = field(default_factory=Tally)

    @property
    def seconds_left(self) -> float:
        """Until the fetch must end; negative afterwards."""
        return self.until - time.monotonic()

    def ended(self, outcome: Kind, detail: str, retry_after: float | None = None) -> Fetched:
        """The record of the fetch, which ends here."""
        tally, now = self.tally, self.now()
        answer = tally.answer
        headers = answer.headers if answer else {}
        if answer is not None and retry_after is None:
            retry_after = asked_pause(headers.get("retry-after"), answer.received_at)
        return Fetched(
            url=self.asked_for,
            key=fetch_key(self.asked_for),
            outcome=outcome,
            detail=detail,
            final_url=self.url,
            status=answer.status if answer else None,
            headers={name: value for name, value in headers.items() if name in KEPT_HEADERS},
            request_headers=self.request_headers,
            body=answer.body if answer and outcome == "ok" else b"",
            content_type=answer.content_type if answer else "",
            requested_at=now if tally.requested_at is None else tally.requested_at,
            received_at=answer.received_at if answer else now,
            bytes_received=tally.bytes_received,
            attempts=tally.attempts,
            seconds=time.monotonic() - self.began,
            redirects=tuple(self.redirects),
            retry_after=retry_after,
        )


def usable_validators(validators: Mapping[str, str]) -> dict[str, str]:
    """Those that may stand in a request, names in lower case; they come from a server, by way of a cache."""
    named = {name.lower(): value for name, value in validators.items() if value}
    return {
        name: value
        for name, value in named.items()
        if name in VALIDATORS and value.isprintable() and value.isascii()
    }
