"""Reading the header fields that caching depends on (RFC 9110 and 9111), from servers that may send anything."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

_DIRECTIVE = re.compile(r'([\w!#$%&\'*+.^`|~-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*)))?')
_SECONDS = re.compile(r"[0-9]+")
_MOST_SECONDS = 2**31
"""RFC 9111, section 1.2.2: what cannot be represented counts as this."""

Directives = Mapping[str, str | None]


def cache_directives(value: str) -> Directives:
    """The directives of a Cache-Control field by lower-cased name; of a repeated one the first counts (4.2.1).

    >>> cache_directives('public, max-age="60", no-cache="set-cookie, x"')
    {'public': None, 'max-age': '60', 'no-cache': 'set-cookie, x'}
    """
    found: dict[str, str | None] = {}
    for name, quoted, plain in _DIRECTIVE.findall(value):
        found.setdefault(name.lower(), quoted or plain or None)
    return found


def delta_seconds(text: str | None) -> int | None:
    """A count of seconds, or None if it is none: negative, fractional, empty or a word.

    >>> delta_seconds("60"), delta_seconds("-1"), delta_seconds("9" * 40) == 2**31
    (60, None, True)
    """
    if text is None or not _SECONDS.fullmatch(text.strip()):
        return None
    digits = text.strip().lstrip("0") or "0"
    return _MOST_SECONDS if len(digits) > 10 else min(int(digits), _MOST_SECONDS)


def http_date(text: str | None) -> float | None:
    """Seconds since the epoch of a date in any of the three forms of RFC 9110, section 5.6.7, or None.

    >>> http_date("Sun, 06 Nov 1994 08:49:37 GMT") == http_date("Sunday, 06-Nov-94 08:49:37 GMT") == 784111777
    True
    """
    try:
        moment = parsedate_to_datetime(text or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def varying_names(value: str) -> tuple[str, ...]:
    """The lower-cased field names in a Vary field, `*` among them, without `accept-encoding`.

    Bodies are stored decoded, so all content codings of a page are one to this cache (RFC 9111, sec. 4.1, allows
    to normalise what does not change the meaning).
    """
    names = (part.strip().lower() for part in value.split(","))
    return tuple(dict.fromkeys(name for name in names if name and name != "accept-encoding"))
