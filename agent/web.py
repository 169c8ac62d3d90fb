"""What an agent's tiers hold open: the web's connections, which belong to an event loop, and the cache's files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from retrieval import Request, Retrieved, Retriever
from retrieval.compute import in_worker

from .seams import Connected

if TYPE_CHECKING:
    from retrieval.cache.rooms import Rooms
    from retrieval.cache.store import PageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWeb:
    """What one event loop uses."""

    tier: Retriever
    parts: tuple[Connected, ...]
    """To be closed, in this order: whoever asks before whoever is asked."""


class WebConnection:
    """A `Retriever` that opens the web on first use in an event loop, and closes it with `aclose`.

    Args:
        open_web: Called in the loop that will use what it returns.
    """

    def __init__(self, open_web: Callable[[], OpenWeb]) -> None:
        self._open_web = open_web
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, OpenWeb] = WeakKeyDictionary()

    async def retrieve(self, request: Request) -> Retrieved:
        """See `retrieval.web.tier.WebTier`."""
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            self._opened[loop] = self._open_web()
        return await self._opened[loop].tier.retrieve(request)

    async def aclose(self) -> None:
        """Close what the running event loop opened; a later request opens it anew."""
        opened = self._opened.pop(asyncio.get_running_loop(), None)
        for part in opened.parts if opened else ():
            await part.aclose()


class CacheConnection:
    """The files of a cache. They belong to no event loop: what another one still does opens them again.

    Args:
        store: The pages.
        rooms: Their indexes, if they are searched.
    """

    def __init__(self, store: PageStore, rooms: Rooms | None) -> None:
        self._store, self._rooms = store, rooms

    async def aclose(self) -> None:
        """Let the files go; a later request opens them anew."""
        if self._rooms is not None:
            await in_worker(self._rooms.close)
        await in_worker(self._store.release)
