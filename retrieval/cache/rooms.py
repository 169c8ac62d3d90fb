"""The rooms of the cache: a living index for each tenant, which follows the store and never leads it.

The store is the truth. Each change of it leaves an entry in its journal, in the same transaction; whoever holds
the index's lock takes the entries over, commits, and then removes them. A process that dies in between leaves
entries that are taken over once more, which changes nothing. While another process holds the lock, the entries
wait for it; meanwhile the store is asked about each hit, so that what was replaced or removed is never served. A
room that is missing, or was removed because it was damaged, is filled again from the store.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
import threading
import time
from pathlib import Path

from ..errors import IndexBusyError, IndexNotFoundError, TierUnavailableError
from ..index import Encoder, IndexWriter, LocalIndex, build_index
from ..index.manifest import MANIFEST
from ..retriever import Retrieved
from .journal import WHOLE, documents, pending, settle, start_again
from .records import tenant_name
from .store import PageStore

ROOMS = "rooms"
BATCH = 32
"""Journal entries between two commits of the index; a crash repeats no more."""
_CORPUS = "cache.jsonl"


def room_of(folder: Path, tenant: str | None) -> Path:
    """The folder of a tenant's index. Names of tenants are hashed: they may hold anything."""
    return folder / ROOMS / hashlib.sha256(tenant_name(tenant).encode()).hexdigest()[:24]


class Rooms:
    """The indexes of a cache. Blocking; threads may share it.

    Args:
        store: The truth.
        encoder: Makes the vectors; the same one for all tenants and processes.
    """

    def __init__(self, store: PageStore, encoder: Encoder) -> None:
        self._store, self._encoder = store, encoder
        self._open: dict[str | None, LocalIndex[Encoder]] = {}
        self._guard = threading.Lock()

    def catch_up(self, tenant: str | None, *, seconds: float = math.inf) -> bool:
        """Take the journal over; whether the index now knows all that the store held when this began.

        False means that another process or thread is at it, or that the time was over: the rest waits in the
        journal.

        Args:
            tenant: Whose.
            seconds: After so many no further batch of pages is begun.

        Raises:
            CacheError: the store cannot be read.
            IndexFolderError: the index is damaged or cannot be written.
            EncoderMismatchError: it was built with another encoder.
        """
        built = (room_of(self._store.folder, tenant) / MANIFEST).exists()
        if built and pending(self._store, tenant, limit=1) is None:
            return True
        try:
            return self._take_over(tenant, time.monotonic() + seconds)
        except IndexBusyError:
            return False

    def search(self, tenant: str | None, query: str, k: int, exclude: frozenset[str] = frozenset()) -> Retrieved:
        """The `k` passages of a tenant that are most similar to a query, as its index knows them.

        Raises:
            TierUnavailableError: the index cannot be searched.
            IndexFolderError, EncoderMismatchError: it cannot be opened.
        """
        index = self._index(tenant)
        if index is None:
            return Retrieved()
        try:
            return index.search(query, k, exclude=exclude)
        except TierUnavailableError:
            if self._open.get(tenant) is index:
                raise
            return self.search(tenant, query, k, exclude)  # another thread has closed it meanwhile

    def close(self) -> None:
        """Release the files; a later search opens them again. May be called twice."""
        with self._guard:
            while self._open:
                self._open.popitem()[1].close()

    def _take_over(self, tenant: str | None, until: float) -> bool:
        folder = room_of(self._store.folder, tenant)
        self._build(folder, tenant)
        with IndexWriter.open(folder, self._encoder, links=None) as writer:
            while (part := pending(self._store, tenant, limit=BATCH)) is not None:
                if time.monotonic() > until:
                    return False
                for key, document in documents(self._store, tenant, part):
                    if document is None or not document.sections:
                        writer.delete([key], missing_ok=True)
                    else:
                        writer.add([document])
                writer.commit()
                settle(self._store, tenant, part)
        return True

    def _build(self, folder: Path, tenant: str | None) -> None:
        """Make an empty index where there is none, after putting all pages of the tenant into the journal."""
        if (folder / MANIFEST).exists():
            return
        start_again(self._store, tenant)
        with tempfile.TemporaryDirectory() as place:
            corpus = Path(place) / _CORPUS
            corpus.touch()
            build_index(corpus, folder, encoder=self._encoder, max_words=WHOLE, overlap=0, links=None)

    def _index(self, tenant: str | None) -> LocalIndex[Encoder] | None:
        with self._guard:
            if tenant not in self._open:
                try:
                    self._open[tenant] = LocalIndex.open(room_of(self._store.folder, tenant), self._encoder)
                except IndexNotFoundError:
                    return None
            return self._open[tenant]
