"""A local index as a tier of a search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial

from ..compute import in_worker
from ..errors import IndexFolderError, TierTimeoutError, TierUnavailableError
from ..retriever import Request, Retrieved
from .encoder import Encoder
from .join import Ranking, join, outcome
from .local import LocalIndex
from .view import View


class LocalTier:
    """A local index as a tier. See `retrieval.Retriever`; one object serves many searches at once."""

    def __init__(self, index: LocalIndex[Encoder], *, name: str = "local") -> None:
        self._index, self._name = index, name

    async def retrieve(self, request: Request) -> Retrieved:
        """The best passages for `request.query`; words, vectors and, given seeds, links are searched side by side.

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
            words, vectors, links = await asyncio.gather(
                *(in_worker(outcome, search) for search in self._searches(request, view))
            )
            found = partial(join, view, request.query, request.k, words, vectors, links=links, tier=self._name)
            return await in_worker(found)

    def _searches(self, request: Request, view: View) -> tuple[Callable[[], Ranking], ...]:
        """By words, by vectors, and by the links of the seeds if there are any."""
        index, query, k, exclude = self._index, request.query, request.k, request.exclude
        return (
            partial(index.by_words, query, k, exclude, view),
            partial(index.by_vectors, query, k, exclude, view),
            partial(index.by_links, request.seeds, request.question or query, k, exclude, view),
        )
