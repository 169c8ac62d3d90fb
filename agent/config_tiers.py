"""Settings of the tiers beyond the local index: `[web]` and `[cache]`."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_settings import NoDecode

KEY_VARIABLE = "SUFFICIT_BRAVE_KEY"
"""Where Brave's key is read from (`retrieval.web.providers.brave`, which the command line loads only in use)."""


def listed(value: object) -> object:
    """A list in the environment or a flag: by comma, or in JSON."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError("no list; expected e.g. seed,temperature") from error


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or len(set(names)) < len(names):
        raise ValueError("expected one tier at least and each at most once, e.g. local,cache,web")
    return names


TierName: TypeAlias = Literal["local", "cache", "web"]
TierNames: TypeAlias = Annotated[
    tuple[TierName, ...], NoDecode, BeforeValidator(listed), AfterValidator(_each_once)
]
Names: TypeAlias = Annotated[tuple[str, ...], NoDecode, BeforeValidator(listed)]


def _addresses(urls: tuple[str, ...]) -> tuple[str, ...]:
    """Each with its scheme: what cannot be asked for would be no page, silently."""
    wrong = [url for url in urls if not re.match(r"https?://[^/]", url, re.IGNORECASE)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no address of a page; expected one like https://example.org/handbook")
    return urls


Addresses: TypeAlias = Annotated[Names, AfterValidator(_addresses)]


class WebSection(BaseModel):
    """The live web: who asks, where links come from, which sites are visited. `[web]`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    contact: str = Field(default="", description="Where a site's owner reaches you; goes into the User-Agent.")
    seeds: Addresses = Field(default=(), description="Pages of your own choice, always looked at.")
    sitemaps: Addresses = Field(default=(), description="Sitemaps of your own sites.")
    mediawiki: str | None = Field(
        default=None, description="API of a MediaWiki: https://en.wikipedia.org/w/api.php, or .../w/rest.php/v1."
    )
    mediawiki_pages: str | None = Field(
        default=None, description="Where its pages are, {} for the title; default: /wiki/{} on the same host."
    )
    searxng: str | None = Field(default=None, description="A SearXNG, e.g. http://127.0.0.1:8888.")
    brave: bool = Field(default=False, description="Ask Brave; its key is read from SUFFICIT_BRAVE_KEY.")
    sites: Names = Field(default=(), description="Keep to these hosts and those below them; none: all.")
    allow_private: Names = Field(default=(), description="Hosts of yours that may have a private address.")
    k: int | None = Field(default=None, ge=1, le=1000, description="Passages of one call; default: k.")
    pages: int = Field(
        default=1, ge=1, le=50, description="Pages that one call reads, those it knows not counted."
    )
    price: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="Of one call, in your own unit.")
    timeout_seconds: float = Field(default=30.0, gt=0, allow_inf_nan=False, description="Longest call.")
    host_interval: float = Field(
        default=1.0, ge=0, allow_inf_nan=False, description="Seconds between two requests to one host, at least."
    )


class OverrideSection(BaseModel):
    """Bounds on how long pages of a class are fresh. `[[cache.overrides]]`; the first that fits counts."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    host: str = Field(default="*", description="Shell pattern on the host.")
    content_type: str = Field(default="*", description="Shell pattern on the content type.")
    min_lifetime: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="Seconds.")
    max_lifetime: float = Field(default=math.inf, ge=0, description="Seconds.")


class CacheSection(BaseModel):
    """The coverage cache. `[cache]`; with a folder, what the web tier fetches is stored in it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    folder: Path | None = Field(default=None, description="The folder; made where needed.")
    max_bytes: int = Field(default=1_000_000_000, ge=0, description="Cap of each tenant's text, in bytes.")
    k: int = Field(default=10, ge=1, le=1000, description="Passages of one call.")
    unstated_lifetime: float = Field(
        default=3600.0, ge=0, allow_inf_nan=False, description="Seconds, where an origin states nothing."
    )
    stale_on_error: float = Field(
        default=0.0,
        ge=0,
        allow_inf_nan=False,
        description="Seconds for which stale pages stand in for a failing origin.",
    )
    overrides: tuple[OverrideSection, ...] = Field(default=(), description="Bounds by class of page.")
