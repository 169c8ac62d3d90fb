"""Whether a stored page may be used: RFC 9111 and RFC 5861 as functions of values and a given moment.

The cache is a *shared* one in the sense of RFC 9111: within a tenant it serves many users. So `s-maxage` counts
and `private` pages are never stored. Requests carry no credentials and no cookies. A field list in
`no-cache="..."` or `private="..."` is read as if the directive stood alone, which is the careful reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from .directives import Directives, cache_directives, delta_seconds, http_date, varying_names
from .rules import Rules

_HEURISTIC_STATUS = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""RFC 9110, section 15.1: heuristically cacheable."""
_KEPT = frozenset({"content-encoding", "content-type", "content-range", "content-length"})
"""Describe the stored body; a 304 does not change it (RFC 9111, section 3.2)."""

Use = Literal["serve", "serve_and_validate", "validate"]
Reason = Literal["fresh", "stale_while_revalidate", "expired", "too_old", "no_cache", "vary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What freshness depends on in a request and its response."""

    status: int
    headers: Mapping[str, str]
    """Of the response, names lower-cased."""
    request_headers: Mapping[str, str]
    """Of the request, names lower-cased; those that Vary may name."""
    requested_at: float
    """Seconds since the epoch, by our clock."""
    received_at: float
    """Seconds since the epoch, by our clock; of the last validation if there was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What may be done with a stored page now."""

    use: Use
    reason: Reason
    age: float
    """Seconds, at least 0."""
    lifetime: float
    """Seconds, at least 0."""
    on_error: bool
    """Whether the page may be served if the origin cannot be reached or fails."""

    @property
    def stale(self) -> bool:
        """Whether the page has outlived its freshness."""
        return self.age >= self.lifetime


def storable(exchange: Exchange) -> bool:
    """Whether a shared cache may store the response (RFC 9111, section 3) and could find it again (`Vary: *`)."""
    directives = _directives(exchange)
    forbidden = directives.keys() & {"no-store", "private"}
    return exchange.status in {200, 203} and not forbidden and "*" not in _varying(exchange)


def current_age(exchange: Exchange, now: float) -> float:
    """Seconds since the origin generated or validated the response (RFC 9111, section 4.2.3); at least 0.

    Where our clock was set back behind the moment of receipt the RFC has no answer. The distance to that moment
    then counts as time in the cache, in whichever direction: a page is never younger than 0, and one from a far
    future is old instead of fresh for ever (case C02).
    """
    generated = http_date(exchange.headers.get("date"))
    apparent = 0.0 if generated is None else max(0.0, exchange.received_at - generated)
    stated = delta_seconds(exchange.headers.get("age", "").split(",")[0]) or 0
    delay = max(0.0, exchange.received_at - exchange.requested_at)
    return max(apparent, stated + delay) + abs(now - exchange.received_at)


def lifetime(exchange: Exchange, rules: Rules, *, host: str = "", content_type: str = "") -> float:
    """Seconds for which the response is fresh, from its generation on (RFC 9111, section 4.2.1); at least 0.

    In this order: `s-maxage`, `max-age`, `Expires` less `Date`, the heuristic; then the operator's bounds. What
    is stated but cannot be read is a lifetime of 0, as the RFC recommends.
    """
    stated = _stated(exchange)
    seconds = _heuristic(exchange, rules) if stated is None else stated
    return rules.bounded(seconds, host=host, content_type=content_type)


def decide(
    exchange: Exchange,
    *,
    now: float,
    rules: Rules,
    host: str = "",
    content_type: str = "",
    max_age: float | None = None,
    request_headers: Mapping[str, str] | None = None,
) -> Verdict:
    """What may be done with a stored response.

    Args:
        exchange: How it was received.
        now: Seconds since the epoch.
        rules: The operator's.
        host: Of the page, for the rules' overrides.
        content_type: Of the page, likewise.
        max_age: The oldest content in seconds that the request accepts; None = any that is fresh.
        request_headers: What would be sent now, for Vary; None = the same as then.
    """
    directives = _directives(exchange)
    age = current_age(exchange, now)
    life = lifetime(exchange, rules, host=host, content_type=content_type)
    beyond = age - life
    too_old = max_age is not None and not age <= max_age
    use: Use
    reason: Reason
    if not _same_variant(exchange, request_headers):
        use, reason = "validate", "vary"
    elif "no-cache" in directives:
        use, reason = "validate", "no_cache"
    elif too_old:
        use, reason = "validate", "too_old"
    elif beyond < 0:
        use, reason = "serve", "fresh"
    elif _may_be_stale(directives) and beyond < _window(directives, "stale-while-revalidate"):
        use, reason = "serve_and_validate", "stale_while_revalidate"
    else:
        use, reason = "validate", "expired"
    window = max(_window(directives, "stale-if-error"), rules.stale_on_error)
    usable = reason not in {"vary", "no_cache", "too_old"}
    on_error = usable and (beyond < 0 or (_may_be_stale(directives) and beyond < window))
    return Verdict(use=use, reason=reason, age=age, lifetime=life, on_error=on_error)


def validators(exchange: Exchange) -> dict[str, str]:
    """The conditional request fields that ask whether the response still holds (RFC 9111, section 4.3.1)."""
    pairs = {"if-none-match": "etag", "if-modified-since": "last-modified"}
    return {asked: exchange.headers[name] for asked, name in pairs.items() if exchange.headers.get(name)}


def freshened(stored: Exchange, answer: Exchange) -> Exchange | None:
    """The stored exchange after a 304 (RFC 9111, section 4.3.4), or None if the 304 speaks of another content.

    Tags are compared weakly (RFC 9110, section 8.8.3.2), as the origin had to compare them to answer 304 to
    If-None-Match (section 13.1.2). To the letter, RFC 9111 lets a strong tag in a 304 update only a stored
    response of that strong tag: it is to select among all that the request named. Ours named exactly one, as the
    cache holds one response a key and sends its tag alone, so the 304 can be about no other. Servers that compress
    rely on this: the tag of their 200 is weak, that of their 304 strong; to the letter each validation of such a
    page costs two requests.

    The fields of the answer replace the stored ones, but for those that describe the body, and the tag: a weak one
    says less about our body than the strong one would. `age` and `date` are replaced or gone: they belonged to the
    old answer.
    """
    old, new = stored.headers.get("etag"), answer.headers.get("etag")
    if old and new and _opaque(old) != _opaque(new):
        return None
    kept = {name: value for name, value in stored.headers.items() if name not in {"age", "date"}}
    fresh = {name: value for name, value in answer.headers.items() if name not in _KEPT}
    if old:
        fresh["etag"] = old
    return replace(
        stored,
        headers=kept | fresh,
        request_headers=answer.request_headers,
        requested_at=answer.requested_at,
        received_at=answer.received_at,
    )


def _opaque(tag: str) -> str:
    """An entity tag without its mark of weakness, which is case-sensitive (RFC 9110, section 8.8.3)."""
    return tag.removeprefix("W/")


def _directives(exchange: Exchange) -> Directives:
    return cache_directives(exchange.headers.get("cache-control", ""))


def _varying(exchange: Exchange) -> tuple[str, ...]:
    return varying_names(exchange.headers.get("vary", ""))


def _same_variant(exchange: Exchange, request_headers: Mapping[str, str] | None) -> bool:
    """RFC 9111, section 4.1: every field that Vary names is as it was."""
    names = _varying(exchange)
    if "*" in names:
        return False
    if request_headers is None:
        return True
    return all(_folded(exchange.request_headers.get(name)) == _folded(request_headers.get(name)) for name in names)


def _folded(value: str | None) -> str | None:
    return None if value is None else " ".join(value.split())


def _stated(exchange: Exchange) -> float | None:
    """The lifetime that the origin states, 0 if it cannot be read; None if it states none."""
    directives = _directives(exchange)
    for name in ("s-maxage", "max-age"):
        if name in directives:
            return float(delta_seconds(directives[name]) or 0)
    if "expires" not in exchange.headers:
        return None
    expires = http_date(exchange.headers["expires"])
    generated = http_date(exchange.headers.get("date"))
    if expires is None:
        return 0.0
    return max(0.0, expires - (exchange.received_at if generated is None else generated))


def _heuristic(exchange: Exchange, rules: Rules) -> float:
    if exchange.status not in _HEURISTIC_STATUS:
        return 0.0
    modified = http_date(exchange.headers.get("last-modified"))
    if modified is None:
        return rules.unstated_lifetime
    generated = http_date(exchange.headers.get("date"))
    since = (exchange.received_at if generated is None else generated) - modified
    return min(max(0.0, since * rules.heuristic_share), rules.heuristic_cap)


def _may_be_stale(directives: Directives) -> bool:
    """Sections 4.2.4 and 5.2.2.10: `s-maxage` says what `proxy-revalidate` says."""
    return not directives.keys() & {"must-revalidate", "proxy-revalidate", "s-maxage", "no-cache"}


def _window(directives: Directives, name: str) -> float:
    return float(delta_seconds(directives.get(name)) or 0)
