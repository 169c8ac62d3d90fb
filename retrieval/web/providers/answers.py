"""What the answers of search APIs look like: checked once, at the door (case F09)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from ...errors import ProviderError
from ..urls import fetch_key
from ..visible import one_line
from .seam import FoundLink

Model = TypeVar("Model", bound=BaseModel)

_TAG = re.compile(r"<[^<>]*>")
_SNIPPET = 500


class MediaWikiHit(BaseModel):
    """One page of `list=search`."""

    title: str
    snippet: str = ""


class MediaWikiQuery(BaseModel):
    """The part `query` of an answer."""

    search: list[MediaWikiHit]


class MediaWikiAnswer(BaseModel):
    """An answer of `action=query&list=search`."""

    query: MediaWikiQuery


class MediaWikiRestPage(BaseModel):
    """One page of `/search/page`."""

    key: str
    title: str
    excerpt: str | None = ""


class MediaWikiRestAnswer(BaseModel):
    """An answer of the REST API's `/search/page`."""

    pages: list[MediaWikiRestPage]


class SearxngHit(BaseModel):
    """One result."""

    url: str
    title: str = ""
    content: str | None = ""


class SearxngAnswer(BaseModel):
    """An answer of SearXNG with `format=json`."""

    results: list[SearxngHit]


class BraveHit(BaseModel):
    """One result."""

    url: str
    title: str = ""
    description: str | None = ""


class BraveResults(BaseModel):
    """The part `web` of an answer."""

    results: list[BraveHit] = []


class BraveAnswer(BaseModel):
    """An answer of Brave's web search. `web` is left out where nothing was found."""

    type: str
    web: BraveResults = BraveResults()


def checked(provider: str, model: type[Model], answer: Any) -> Model:  # noqa: ANN401  JSON of any shape
    """The answer as a model.

    Raises:
        ProviderError: it has another shape; an error that the provider reports is quoted.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        raise ProviderError(
            f"{provider} answers JSON of another shape: {where}: {first['msg'].lower()}.{_reported(answer)}"
        ) from error


def links(found: Iterable[FoundLink], limit: int) -> Sequence[FoundLink]:
    """The first links that are pages of the web, each once, their words in plain text."""
    kept: dict[str, FoundLink] = {}
    for link in found:
        if len(kept) >= limit:
            break
        if _is_page(link.url):
            plain = FoundLink(url=link.url, title=_plain(link.title), snippet=_plain(link.snippet))
            kept.setdefault(fetch_key(link.url), plain)
    return tuple(kept.values())


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def _plain(markup: str) -> str:
    return one_line(html.unescape(_TAG.sub("", markup[: 4 * _SNIPPET])))[0]


def _reported(answer: Any) -> str:  # noqa: ANN401
    error = answer.get("error") if isinstance(answer, dict) else None
    words = error.get("info") or error.get("detail") or error.get("message") if isinstance(error, dict) else error
    return f" It reports: {_plain(str(words))}" if words else ""
