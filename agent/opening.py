"""From settings to tiers: the local index, the cache, the live web."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from retrieval import Tier
from retrieval.index import LocalIndex, LocalTier, TransformerEncoder

from .config import Settings
from .config_tiers import KEY_VARIABLE, CacheSection, WebSection
from .errors import ConfigError
from .seams import Connected

if TYPE_CHECKING:
    from retrieval.cache.rooms import Rooms
    from retrieval.cache.rules import Rules
    from retrieval.cache.store import PageStore
    from retrieval.web.providers import ApiClient, SearchProvider
    from retrieval.web.settings import FetchSettings

    from .web import CacheConnection, OpenWeb, WebConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTiers:
    """Where an agent searches, and what else of its parts depends on that."""

    tiers: tuple[Tier, ...]
    """In the order of the settings."""
    encoder: TransformerEncoder
    """The index's own; without an index the default one."""
    index: LocalIndex[TransformerEncoder] | None
    connections: tuple[Connected, ...]
    """Of the web and of the cache, as far as they are used; to be closed in this order."""


def open_tiers(settings: Settings, folder: Path | None) -> OpenedTiers:
    """Open what `Settings.tiers` names. Blocking; httpx and SQLite are loaded only where they are used.

    With a cache folder, what the web tier fetches goes through the cache, also where `cache` is no tier.

    Args:
        settings: Of the search.
        folder: Of the local index, if one is named.

    Raises:
        ConfigError: a tier lacks what it needs: a folder, or a search provider.
        RetrievalError: the index, the backbone or the cache cannot be opened.
    """
    _check(settings, folder)
    index: LocalIndex[TransformerEncoder] | None = None
    if "local" in settings.tiers and folder is not None:
        index = LocalIndex.open(folder)
        index.warm()
    encoder = TransformerEncoder.named() if index is None else index.encoder
    store = open_store(settings.cache) if {"cache", "web"} & set(settings.tiers) else None
    tiers: dict[str, Tier] = {}
    connections: list[Connected] = []
    if index is not None:
        tiers["local"] = Tier(name="local", retriever=LocalTier(index), k=settings.k)
    rooms: Rooms | None = None
    if "cache" in settings.tiers and store is not None:
        rooms = _rooms(store, encoder)
        tiers["cache"] = _cache_tier(settings, store, rooms)
    if "web" in settings.tiers:
        web = _web(settings, store, encoder)
        connections.append(web)
        tiers["web"] = _web_tier(settings, web)
    if store is not None:
        connections.append(_cache_connection(store, rooms))
    return OpenedTiers(
        tiers=tuple(tiers[name] for name in settings.tiers),
        encoder=encoder,
        index=index,
        connections=tuple(connections),
    )


def fetch_settings(web: WebSection) -> FetchSettings:
    """How pages are fetched.

    Raises:
        FetchSettingsError: the contact cannot stand in a header.
    """
    from retrieval.web.settings import FetchSettings

    return FetchSettings(
        contact=web.contact, allow_private=frozenset(web.allow_private), per_host_interval=web.host_interval
    )


def _check(settings: Settings, folder: Path | None) -> None:
    """Whatever can be said before anything is loaded."""
    if "local" in settings.tiers and folder is None:
        raise ConfigError(
            'No index is named. Pass --index DIR, set SUFFICIT_INDEX, or write index = "DIR" into sufficit.toml; '
            "build one with: sufficit index build CORPUS --out DIR"
        )
    if "cache" in settings.tiers and settings.cache.folder is None:
        raise ConfigError(
            "The tier 'cache' has no folder. Pass --cache DIR, set SUFFICIT_CACHE_FOLDER, or write folder = "
            '"DIR" under [cache] in sufficit.toml; a folder that is not there is made.'
        )
    if "web" in settings.tiers:
        _check_web(settings.web)


def _check_web(web: WebSection) -> None:
    from retrieval.web.links import site_of

    if not (web.seeds or web.sitemaps or web.mediawiki or web.searxng or web.brave):
        raise ConfigError(
            "The tier 'web' has nothing to find links with. Under [web] in sufficit.toml write one or more of: "
            'seeds = ["https://..."], sitemaps = ["https://..."], mediawiki = "https://wiki.example/w/api.php", '
            'searxng = "http://127.0.0.1:8888", brave = true.'
        )
    if web.brave and not os.environ.get(KEY_VARIABLE, "").strip():
        raise ConfigError(f"[web] brave needs a key, and {KEY_VARIABLE} is not set in the environment. Set it.")
    if "{}" not in (web.mediawiki_pages or "{}"):
        raise ConfigError(
            f"[web] mediawiki_pages is {web.mediawiki_pages!r}: expected a URL with {{}} where the title stands."
        )
    for site in web.sites:
        try:
            site_of(site)
        except ValueError as error:
            raise ConfigError(f"[web] sites: {error}") from error


def open_store(cache: CacheSection) -> PageStore | None:
    """The pages of the cache, made where needed; None without a folder.

    Raises:
        CacheError: it cannot be used.
    """
    if cache.folder is None:
        return None
    from retrieval.cache.store import PageStore

    return PageStore(cache.folder, max_bytes=cache.max_bytes)


def cache_rules(cache: CacheSection) -> Rules:
    """How long pages are fresh.

    Raises:
        ConfigError: an override contradicts itself.
    """
    from retrieval.cache.rules import Override, Rules

    try:
        return Rules(
            overrides=tuple(Override(**one.model_dump()) for one in cache.overrides),
            unstated_lifetime=cache.unstated_lifetime,
            stale_on_error=cache.stale_on_error,
        )
    except ValueError as error:
        raise ConfigError(f"[cache] overrides: {error}") from error


def _rooms(store: PageStore, encoder: TransformerEncoder) -> Rooms:
    from retrieval.cache.rooms import Rooms

    return Rooms(store, encoder)


def _cache_connection(store: PageStore, rooms: Rooms | None) -> CacheConnection:
    from .web import CacheConnection

    return CacheConnection(store, rooms)


def _cache_tier(settings: Settings, store: PageStore, rooms: Rooms) -> Tier:
    from retrieval.cache.tier import CacheTier

    tier = CacheTier(store, rooms, rules=cache_rules(settings.cache))
    return Tier(name="cache", retriever=tier, k=settings.cache.k)


def _web_tier(settings: Settings, web: WebConnection) -> Tier:
    section = settings.web
    return Tier(
        name="web",
        retriever=web,
        k=section.k or settings.k,
        price=section.price,
        fetches=True,
        timeout_seconds=section.timeout_seconds,
    )


def _web(settings: Settings, store: PageStore | None, encoder: TransformerEncoder) -> WebConnection:
    from retrieval.web.tier import WebSettings, WebTier
    from retrieval.web.wire import usual_authorities

    from .web import OpenWeb, WebConnection

    manners, tls = fetch_settings(settings.web), usual_authorities()
    rules = cache_rules(settings.cache)

    def open_web() -> OpenWeb:
        from retrieval.cache.cached import CachedPages
        from retrieval.web.fetch import Fetcher
        from retrieval.web.live import LivePages
        from retrieval.web.providers import ApiClient

        fetcher, client = Fetcher(manners, tls=tls), ApiClient(manners, tls=tls)
        cached = None if store is None else CachedPages(fetcher, store, rules=rules)
        tier = WebTier(
            _providers(settings.web, client),
            cached or LivePages(fetcher),
            sites=settings.web.sites,
            encoder=encoder,
            settings=WebSettings(pages=settings.web.pages),
        )
        return OpenWeb(tier=tier, parts=(*([cached] if cached else []), fetcher, client))

    return WebConnection(open_web)


def _providers(web: WebSection, client: ApiClient) -> Sequence[SearchProvider]:
    """One's own pages first, then what needs no key, then what costs."""
    from retrieval.web.providers import BraveSearch, MediaWikiSearch, SearxngSearch, Seeds

    providers: list[SearchProvider] = []
    if web.seeds or web.sitemaps:
        providers.append(Seeds(web.seeds, sitemaps=web.sitemaps, client=client))
    if web.mediawiki:
        parts = urlsplit(web.mediawiki)
        site = web.mediawiki_pages or f"{parts.scheme}://{parts.netloc}/wiki/{{}}"
        providers.append(
            MediaWikiSearch(
                site=site,
                endpoint=web.mediawiki,
                client=client,
                api="action" if parts.path.endswith("api.php") else "rest",
            )
        )
    if web.searxng:
        providers.append(SearxngSearch(web.searxng, client=client, sites=web.sites))
    if web.brave:
        providers.append(BraveSearch(client=client, sites=web.sites))
    return providers
