"""Which cache `sufficit cache` means: a flag, the environment or `sufficit.toml`, as for `sufficit ask`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .config import Settings, load_settings
from .errors import ConfigError

if TYPE_CHECKING:
    from retrieval.cache.store import PageStore

CacheOption = Annotated[
    Path | None,
    typer.Option(
        "--cache", help="The folder of the cache. Default: SUFFICIT_CACHE_FOLDER, or [cache] of sufficit.toml."
    ),
]
TenantOption = Annotated[
    str | None, typer.Option(help="On whose behalf; tenants share nothing. Default: the nameless tenant.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else there.")]


def cache_settings(folder: Path | None, **flags: object) -> Settings:
    """The settings that a search would have, with these flags before them; None: not given.

    Raises:
        ConfigError: no folder is named, or a setting is refused.
    """
    settings = load_settings({"cache": None if folder is None else {"folder": folder}} | flags)
    if settings.cache.folder is None:
        raise ConfigError(
            "No cache is named. Pass --cache DIR, set SUFFICIT_CACHE_FOLDER, or write folder = "
            '"DIR" under [cache] in sufficit.toml.'
        )
    return settings


def opened(folder: Path | None) -> PageStore:
    """The cache that is there.

    Raises:
        ConfigError: no folder is named, or it holds no cache.
        CacheError: it cannot be used.
    """
    from retrieval.cache.database import PAGES_FILE

    settings = cache_settings(folder)
    place = settings.cache.folder
    if place is None or not (place / PAGES_FILE).is_file():
        raise ConfigError(
            f"There is no cache in {place}. Name another folder, or fill it: "
            f"sufficit cache warm URL --cache {place}"
        )
    return filled(settings)


def filled(settings: Settings) -> PageStore:
    """The cache of the settings, made where it is not there.

    Raises:
        CacheError: it cannot be used.
    """
    from .opening import open_store

    store = open_store(settings.cache)
    assert store is not None  # noqa: S101  `cache_settings` has seen to it
    return store
