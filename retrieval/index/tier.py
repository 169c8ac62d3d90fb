"""A local index as a tier of a search."""

from __future__ import annotations

import asyncio
import time

from ..compute import in_worker
from ..errors import IndexFolderError, TierTimeoutError, TierUnavailableError
from ..retriever import Request, Retrieved
from .encoder import Encoder
from .join import join, outcome
from .local import LocalIndex


class LocalTier:
    """A local index as a tier. See `retrieval.Retriever`; one object serves many searches at once."""

    def __init__(self, index: LocalIndex[Encoder], *, name: str = "local") -> None:
        self._index, self._name = index, name

    async def retrieve(self, request: Request) -> Retrieved:
        """The best passages for `request.query`; words and vectors are searched side by side in worker threads.

        Raises:
            TierTimeoutError: `request.deadline` passed.
            TierUnavailableError: neither words nor vectors could be searched.
        """
        left = None if request.deadline is None else request.deadline - time.monotonic()
        limit = asyncio.timeout(left)
        try:
            async with limit:
                return await self._search(request)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise TierTimeoutError(f"{self._name}: no answer before the deadline of the request.") from error

    async def _search(self, request: Request) -> Retrieved:
        try:
            view = await in_worker(self._index.view)
        except IndexFolderError as error:
            raise TierUnavailableError(f"{self._name}: the index cannot be searched: {error}") from error
        with view:
            halves = await asyncio.gather(
                *(
                    in_worker(outcome, half, request.query, request.k, request.exclude, view)
                    for half in (self._index.by_words, self._index.by_vectors)
                )
            )
            return await in_worker(join, view, request.query, request.k, *halves, tier=self._name)
