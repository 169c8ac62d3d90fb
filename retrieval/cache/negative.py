"""How long a URL that gave no page is left alone, and what its outcome says about a page that is stored."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from .records import Refusal, Tally

if TYPE_CHECKING:
    from ..web.outcome import Fetched, Kind

_HOUR, _MINUTE = 3600.0, 60.0
LONGEST_PAUSE = 24 * _HOUR
"""The most that a Retry-After is believed."""

LIVES: Mapping[str, float] = MappingProxyType(
    {
        "robots_denied": _HOUR,
        "payment_required": _HOUR,
        "blocked": _HOUR,
        "low_content": _HOUR,
        "garbled": _HOUR,
        "unsupported": _HOUR,
        "too_large": _HOUR,
        "rate_limited": _MINUTE,
        "timeout": _MINUTE,
        "error": _MINUTE,
    }
)
"""Seconds by outcome. The host's own Retry-After counts instead where it gave one."""

REFUSED = frozenset({"robots_denied", "payment_required", "blocked", "rate_limited"})
"""The site said no."""
_FORBIDDEN = frozenset({"robots_denied", "payment_required", "blocked"})
_FAILED_STATUS = frozenset({None, 500, 502, 503, 504})
"""RFC 5861, section 4, and no answer at all."""


def is_ours(outcome: Kind, status: int | None) -> bool:
    """Whether our own guard refused, not the site: what is allowed may change, and asking again costs nobody."""
    return outcome == "blocked" and status is None


def is_failure(outcome: Kind, status: int | None) -> bool:
    """Whether the origin failed, so that a stale page may stand in for it (RFC 5861, section 4)."""
    return outcome in {"timeout", "rate_limited"} or (outcome == "error" and status in _FAILED_STATUS)


def ends(outcome: Kind, status: int | None) -> bool:
    """Whether a stored page has to go: its owner forbids it, or says that it is gone."""
    return status in {404, 410} or (outcome in _FORBIDDEN and not is_ours(outcome, status))


def refusal(fetched: Fetched, outcome: Kind, *, now: float, lives: Mapping[str, float] = LIVES) -> Refusal | None:
    """The note about a URL that gave no page; None if its outcome is one that is not noted, or our own guard's."""
    if is_ours(outcome, fetched.status):
        return None
    life = lives.get(outcome, 0.0)
    if fetched.retry_after is not None:
        life = min(max(life, fetched.retry_after), LONGEST_PAUSE)
    if not life > 0:
        return None
    return Refusal(
        key=fetched.key,
        outcome=outcome,
        detail=fetched.detail,
        status=fetched.status,
        stored_at=now,
        life=life,
    )


def tally(fetched: Fetched, outcome: Kind) -> Tally:
    """What a fetch with this outcome, after extraction, counts for its site."""
    good = outcome in {"ok", "not_modified"} or is_ours(outcome, fetched.status)
    refused = outcome in REFUSED and not good
    return Tally(
        requests=fetched.attempts,
        bytes=fetched.bytes_received,
        revalidations=int(outcome == "not_modified"),
        refusals=int(refused),
        failures=int(not good and not refused),
    )
