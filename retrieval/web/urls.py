"""URLs: one normal form, so that what is checked, what is requested and what is stored are the same.

The normal form is that of RFC 3986, sec. 6.2.2, with what browsers do to hosts (WHATWG URL: `0x7f.1` is
`127.0.0.1`), without fragment, without user information, and without the parameters that only tell a site where a
click came from. The order of the other parameters and their values stay: they may name another page.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from .stop import Stop

PORTS = {"http": 80, "https": 443}
LONGEST = 8_000
"""Characters of a URL. Servers take 8,000 octets of a request line (RFC 9112, sec. 3)."""

# Names that mean a click's origin everywhere. `ref`, `source`, `cid`, `uid`, `session` mean it on some sites and
# name the page on others; a list with them (courlan's) would merge pages that differ (case F08).
_TRACKING = re.compile(
    r"(?:utm_|pk_|mtm_|_hs|__hs|hsa_|oly_).*|(?:fb|g|d|tw|tt|y)clid|gclsrc|[gw]braid|gad_source|"
    r"gad_campaignid|msclkid|ysclid|srsltid|igshid|igsh|li_fat_id|mc_[ce]id|mkt_tok|epik|rb_clickid|s_kwcid|wickedid|"
    r"vero_id|_ga|_gl|_openstat|hsctatracking"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_NUMERIC = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebURL:
    """A URL of http or https in normal form."""

    scheme: str
    host: str
    """Lower case, ASCII (IDNA); an address without brackets."""
    port: int
    target: str
    """Path and query, as sent."""

    @property
    def netloc(self) -> str:
        """Host and port, the port only if it is not the scheme's own; the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a robots.txt speaks for."""
        return f"{self.scheme}://{self.netloc}"

    def __str__(self) -> str:
        return self.origin + self.target


def fetch_key(url: str) -> str:
    """The normal form of a URL: what counts as one fetch. What is no URL of the web stays as it is.

    >>> fetch_key("HTTP://Example.org:80/a/../b?utm_source=x&id=1#part")
    'http://example.org/b?id=1'
    """
    try:
        return str(parse_url(url))
    except Stop:
        return url


def parse_url(url: str, *, tracking: bool = False) -> WebURL:
    """The URL in normal form; `tracking`: with the parameters of a click's origin.

    Raises:
        Stop: `blocked` for another scheme and for credentials, `error` for what cannot be read.
    """
    text = url.strip()
    if len(text) > LONGEST:
        raise Stop("error", f"The URL has {len(text)} characters: at most {LONGEST} are requested.")
    if _CONTROL.search(text) or "\\" in text.partition("?")[0]:
        raise Stop("error", f"The URL {text[:200]!r} contains control characters or backslashes; escape them.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise Stop("error", f"The URL {text[:200]!r} cannot be read: {error}.") from error
    _refuse(parts, text)
    host = _host(parts.hostname or "")
    return WebURL(
        scheme=parts.scheme,
        host=host,
        port=PORTS[parts.scheme] if port is None else port,
        target=_path(parts.path) + _query(parts.query, tracking=tracking),
    )


def join_url(base: WebURL, location: str) -> WebURL:
    """Where a Location header points, as it says: without its parameters a site might redirect in a circle.

    Raises:
        Stop: As `parse_url`.
    """
    try:
        joined = urljoin(str(base), location.strip())
    except ValueError as error:
        raise Stop("error", f"{base} redirects to {location[:200]!r}, which cannot be read: {error}.") from error
    return parse_url(joined, tracking=True)


def _refuse(parts: SplitResult, text: str) -> None:
    if parts.scheme not in PORTS:
        found = f"scheme {parts.scheme!r}" if parts.scheme else "no scheme"
        raise Stop("blocked", f"The URL {text[:200]!r} has {found}: only http and https are fetched.")
    if "@" in parts.netloc:
        raise Stop("blocked", "The URL carries credentials (the part before @): remove them.")
    if parts.port == 0 or not parts.hostname:
        raise Stop("error", f"The URL {text[:200]!r} names no host or port 0.")


def _host(host: str) -> str:
    if ":" in host:
        return _ipv6(host)
    name = host if host.isascii() else _idna(host)
    name = name.removesuffix(".")
    if _NUMERIC.fullmatch(name):
        return _ipv4(name)
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise Stop("error", f"The host {host[:200]!r} is no name of the Internet.")
    return name


def _ipv6(host: str) -> str:
    try:
        if "%" in host:
            raise ValueError("a zone means an interface of this machine")  # noqa: TRY301
        return str(ipaddress.IPv6Address(host))
    except ValueError as error:
        raise Stop("error", f"The host [{host[:200]}] is no IPv6 address: {error}.") from error


def _ipv4(host: str) -> str:
    """An IPv4 address in any form that resolvers take: decimal, octal, hexadecimal, fewer than four parts."""
    try:
        return socket.inet_ntoa(socket.inet_aton(host))
    except OSError as error:
        raise Stop("error", f"The host {host[:200]!r} ends in a number, but is no IPv4 address.") from error


def _idna(host: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except UnicodeError as error:
        raise Stop("error", f"The host {host[:200]!r} is no name of the Internet: {error}.") from error


def _path(path: str) -> str:
    return _dots_removed(_escaped(path, safe="/%:@!$&'()*+,;=~[]|")) or "/"


def _query(query: str, *, tracking: bool) -> str:
    kept = [part for part in query.split("&") if tracking or not _tracks(part)]
    cleaned = _escaped("&".join(kept), safe="/%:@!$&'()*+,;=~?[]|{}^`\\")
    return f"?{cleaned}" if cleaned else ""


def _tracks(part: str) -> bool:
    return _TRACKING.fullmatch(part.partition("=")[0].lower()) is not None


def _escaped(text: str, *, safe: str) -> str:
    """Escapes in upper case, none for letters, digits, and `-._~`; what cannot stand in a URL is escaped."""

    def shortest(found: re.Match[str]) -> str:
        sign = chr(int(found[1], 16))
        return sign if sign in _UNRESERVED else found[0].upper()

    escaped = quote(text, safe=safe, errors="replace")
    return _ESCAPE.sub(shortest, escaped)


def _dots_removed(path: str) -> str:
    """`.` and `..` are taken out (RFC 3986, sec. 5.2.4); other empty segments stay."""
    if not any(part in {".", ".."} for part in path.split("/")):
        return path
    kept: list[str] = []
    parts = path.split("/")
    for part in parts[1:]:
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if parts[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)
