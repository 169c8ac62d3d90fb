"""What became of one fetch. Never an exception, and never mistaken for "no evidence"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "ok",
    "not_modified",
    "blocked",
    "robots_denied",
    "rate_limited",
    "payment_required",
    "too_large",
    "timeout",
    "low_content",
    "garbled",
    "unsupported",
    "error",
]
"""How a fetch ended.

- `ok`: a page came, whole.
- `not_modified`: 304 to the validators that were sent.
- `blocked`: access is refused; by our guard (`status` is None: a private address, another scheme, credentials in
  the URL) or by the site (401, 403, 407, 451, a challenge).
- `robots_denied`: robots.txt says no, or could not be had (RFC 9309, sec. 2.3.1).
- `rate_limited`: 429, or the host asked for a pause that is longer than the time left.
- `payment_required`: 402.
- `too_large`: more than the cap, before or after decompression.
- `timeout`: the time of one exchange, of the fetch or the caller's deadline was over.
- `low_content`, `garbled`: nothing to read; said by the extraction, and of an empty body by the fetcher.
- `unsupported`: bytes that no extraction reads (images, archives), or a content coding that we did not offer.
- `error`: everything else; `detail` and `status` say what (404, 410, 5xx, a reset, a redirect loop, no such name).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """One fetch: its outcome, and the page if it is `ok`."""

    url: str
    """As asked for; kept for the citation."""
    key: str
    """`fetch_key(url)`: what counts as one fetch, and what was requested (case F08)."""
    outcome: Kind
    detail: str = ""
    """For people: what was wrong, what was expected, what helps; and what robots.txt said."""
    final_url: str = ""
    """After redirects; empty if nothing was requested."""
    status: int | None = None
    """Of the response to the last request; None: none came."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of the last response, names in lower case; only those that caching and extraction need."""
    request_headers: Mapping[str, str] = field(default_factory=dict)
    """Those of our headers that a Vary may name."""
    body: bytes = b""
    """Content coding undone, whole, at most `FetchSettings.max_bytes`; empty unless `ok`."""
    content_type: str = ""
    """By the bytes, not by the header (case F07), e.g. `text/html`; empty unless `ok` or `unsupported`."""
    requested_at: float
    """Just before the last request was sent; seconds since the epoch by the fetcher's clock (RFC 9111, 4.2.3)."""
    received_at: float
    """When the last response's head came; the same clock."""
    bytes_received: int = 0
    """Of bodies of this fetch as they came, redirects and retries included, robots.txt not."""
    attempts: int = 0
    """Requests sent for this page, redirects and retries included, robots.txt not; 0: no connection was made."""
    seconds: float = 0.0
    """Wall-clock, waiting for a turn included."""
    redirects: tuple[str, ...] = ()
    """URLs that answered with a redirect, in order."""
    retry_after: float | None = None
    """Seconds that the host asked to wait, counted from the last response; None: it did not ask."""
