"""When a page was written and in which language, as it says itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from .outcome import Fetched

_LANGUAGE = re.compile(r"([A-Za-z]{2,3})(?:[-_][A-Za-z]{4})?(?:[-_](?:[A-Za-z]{2}|\d{3}))?")
_OLDEST = datetime(1990, 1, 1, tzinfo=UTC)


def stated_date(tree: HtmlElement, url: str, *, now: float) -> str | None:
    """The date of the last change, else of publication, that metadata, markup or the URL state; `YYYY-MM-DD`.

    By htmldate, without its search for dates in running text, which are as often those of other things.

    Args:
        tree: The page; not changed.
        url: Its address.
        now: Seconds since the epoch; a later date is not believed.
    """
    from htmldate import find_date

    try:
        found = find_date(
            tree,
            extensive_search=False,
            original_date=False,
            url=url,
            min_date=_OLDEST,
            max_date=datetime.fromtimestamp(now + 86_400, tz=UTC),
        )
    except (ValueError, OverflowError, TypeError, AttributeError):  # odd dates in somebody's markup
        return None
    return str(found) if found else None


def stated_language(tree: HtmlElement | None, fetched: Fetched) -> str | None:
    """The language that the page's root, its metadata or the header `Content-Language` declares; never guessed."""
    stated = [fetched.headers.get("content-language", "").partition(",")[0]]
    if tree is not None:
        root = [tree.get("lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"), tree.get("xml:lang")]
        metas = {
            (meta.get("property") or meta.get("http-equiv") or "").lower(): meta.get("content")
            for meta in tree.iter("meta")
        }
        stated = [
            *(tag or "" for tag in root),
            metas.get("content-language") or "",
            metas.get("og:locale") or "",
            *stated,
        ]
    for tag in stated:
        match = _LANGUAGE.fullmatch(tag.strip())
        if match:
            language, *others = re.split(r"[-_]", match[0])
            return "-".join([language.lower(), *(part.upper() if len(part) == 2 else part for part in others)])
    return None
