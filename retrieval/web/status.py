"""What a status of HTTP means for us."""

from __future__ import annotations

from collections.abc import Mapping

from .outcome import Kind

REDIRECTS = frozenset({301, 302, 303, 307, 308})
PASSING = frozenset({429, 502, 503, 504})
"""May be another one in a moment: the request is sent again, if there is time."""
WHOLE = frozenset({200, 203})
"""The body is the page."""

_NAMED: dict[int, tuple[Kind, str]] = {
    204: ("low_content", "The site answers without content."),
    205: ("low_content", "The site answers without content."),
    206: ("error", "The site sends a part of the page, though all of it was asked for."),
    401: ("blocked", "The site wants a login."),
    402: ("payment_required", "The site wants to be paid for this page."),
    403: ("blocked", "The site refuses this page to us."),
    404: ("error", "The site has no such page."),
    407: ("blocked", "A proxy in front of the site wants a login."),
    410: ("error", "The page is gone for good."),
    429: ("rate_limited", "The site asks for fewer requests."),
    451: ("blocked", "The site may not show this page, for legal reasons."),
}


def is_challenge(headers: Mapping[str, str]) -> bool:
    """Whether the site wants a proof that a person asks: no retry helps."""
    return headers.get("cf-mitigated", "").strip().lower() == "challenge"


def is_passing(status: int, headers: Mapping[str, str]) -> bool:
    """Whether the same request may have another answer in a moment."""
    return status in PASSING and not is_challenge(headers)


def meaning(status: int, headers: Mapping[str, str], *, conditional: bool) -> tuple[Kind, str]:
    """Outcome and detail of a response that is the last of its fetch.

    Args:
        status: The code.
        headers: Names in lower case.
        conditional: Whether validators were sent: only then a 304 means something.
    """
    if status in WHOLE:
        return "ok", ""
    if status == 304 and conditional:
        return "not_modified", ""
    if is_challenge(headers):
        return "blocked", f"The site wants a proof that a person asks (status {status})."
    outcome, detail = _NAMED.get(status) or _of_class(status)
    return outcome, f"{detail[:-1]} (status {status})."


def _of_class(status: int) -> tuple[Kind, str]:
    if status in REDIRECTS:
        return "error", "The site redirects, but does not say where to."
    if status >= 500:
        return "error", "The site has trouble; try again later."
    return "error", "The site's answer is no page."
