"""The web tier of an agent, whose connections belong to the event loop that opened them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from retrieval import Request, Retrieved, Retriever

from .seams import Connected


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
