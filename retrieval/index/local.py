"""The local index: words and vectors over one corpus, joined by reciprocal rank fusion."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ..backbones import KNOWN, find_backbone
from ..compute import in_worker
from ..errors import IndexCorruptError, IndexFolderError, TierTimeoutError, TierUnavailableError
from ..fusion import reciprocal_rank_fusion
from ..passage import Passage
from ..retriever import Event, Hit, Request, Retrieved
from ..text import tokenise
from .check import Parts
from .encoder import Encoder, TransformerEncoder
from .manifest import IndexInfo, Manifest, check_encoder, check_files, read_manifest
from .workplace import claim

E = TypeVar("E", bound=Encoder)
E_co = TypeVar("E_co", bound=Encoder, covariant=True)

RRF_CONSTANT = 8.0
"""How far down a ranking still counts (docs/decisions/003-fusion.md)."""
DEPTH = 100
"""Fewest candidates that each half gives to the fusion."""
COSINE_FLOOR = 0.5
"""Where no passage shares a word with the query, the least cosine that is evidence (same note)."""
_QUERIES_KEPT = 1024
_BATCH = 1000

Ranking = list[tuple[str, float]]


class LocalIndex(Generic[E_co]):
    """An opened index folder. Threads may share it; nothing in it changes.

    Made by `open`. Searching finds passages by their words (BM25) and by their vectors and joins the two rankings.
    """

    def __init__(self, *, folder: Path, manifest: Manifest, parts: Parts, handle: int, encoder: E_co) -> None:
        self._folder, self._manifest, self._parts, self._encoder = folder, manifest, parts, encoder
        self._release = weakref.finalize(self, os.close, handle)
        self._vector: Callable[[str], NDArray[np.float32]] = lru_cache(_QUERIES_KEPT)(self._encode)

    @overload
    @classmethod
    def open(cls, folder: Path | str) -> LocalIndex[TransformerEncoder]: ...
    @overload
    @classmethod
    def open(cls, folder: Path | str, encoder: E) -> LocalIndex[E]: ...
    @classmethod
    def open(cls, folder: Path | str, encoder: Encoder | None = None) -> LocalIndex[Encoder]:
        """Open an index and check it (files, counts, a sample of vectors, two searches), in well under a second.

        Args:
            folder: What `build_index` wrote.
            encoder: The encoder that built it; None = found by the name in the manifest.

        Raises:
            IndexNotFoundError: no finished index there.
            IndexVersionError: another version of the layout.
            IndexCorruptError: files are missing or changed, or the parts contradict each other.
            EncoderMismatchError: not the encoder that built it.
            BackboneError: the encoder that the manifest names is not installed or is damaged.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        if encoder is None:
            name = manifest.encoder.name
            # a file from outside may name a model, but only one that we know may be downloaded for it
            encoder = TransformerEncoder(find_backbone(name, allow_hub=name in KNOWN))
        check_encoder(folder, manifest, encoder)
        try:
            parts, handle = _open_parts(folder, manifest)
        except IndexFolderError:
            if read_manifest(folder).data == manifest.data:
                raise
            return LocalIndex.open(folder, encoder)  # a builder replaced the data while they were opened
        return LocalIndex(folder=folder, manifest=manifest, parts=parts, handle=handle, encoder=encoder)

    @property
    def encoder(self) -> E_co:
        """The encoder that built the index."""
        return self._encoder

    @property
    def info(self) -> IndexInfo:
        """What the manifest says."""
        return IndexInfo(folder=self._folder, manifest=self._manifest)

    def __len__(self) -> int:
        """Number of passages."""
        return len(self._parts.store)

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of these ids, in their order.

        Raises:
            IndexCorruptError: an id is not in the index.
        """
        return self._parts.store.get(ids)

    def __iter__(self) -> Iterator[Passage]:
        """All passages, in the order in which they were indexed; a thousand in memory at once."""
        for start in range(0, len(self), _BATCH):
            yield from self._parts.store.rows(start, _BATCH)

    def warm(self) -> None:
        """Load the model, and check that it still makes the vector that is stored. A few seconds, once.

        Without it the first search loads the model.

        Raises:
            IndexCorruptError: a stored text has another vector now.
        """
        if not len(self):
            self._vector("warm up")
            return
        _, stored = self._parts.dense.row(0)
        made = self._encoder.encode([self._parts.store.rows(0, 1)[0].full_text])[0]
        if not float(stored @ made) > 0.999:  # also true of NaN
            raise IndexCorruptError(
                f"The encoder {self._encoder.name} no longer makes the vectors of the index in {self._folder} "
                f"(cosine {float(stored @ made):.3f} to the stored one). Build the index again."
            )

    def close(self) -> None:
        """Release the files. What was found stays usable."""
        self._parts.close()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(self, query: str, k: int = 5, *, exclude: frozenset[str] = frozenset()) -> Retrieved:
        """The best `k` passages for a query. Blocking; `LocalTier` is the same for an event loop.

        A query without a word finds nothing. If words or vectors cannot be searched the other half serves alone,
        and the answer says that it is degraded.

        Raises:
            TierUnavailableError: neither half could be searched.
        """
        halves = [_outcome(half, query, k, exclude) for half in (self.by_words, self.by_vectors)]
        return self.join(query, k, *halves)

    def by_words(self, query: str, k: int, exclude: frozenset[str] = frozenset()) -> Ranking:
        """Candidates for `k` hits by BM25: `(id, score)`, best first, scores above zero."""
        query = _clean(query)
        if k < 1 or not tokenise(query):
            return []
        return self._parts.sparse.search(query, max(DEPTH, 4 * k), exclude=exclude)

    def by_vectors(self, query: str, k: int, exclude: frozenset[str] = frozenset()) -> Ranking:
        """Candidates for `k` hits by the cosine of their vectors: `(id, score)`, best first."""
        query = _clean(query)
        if k < 1 or not tokenise(query):
            return []
        return self._parts.dense.search(self._vector(query), max(DEPTH, 4 * k), exclude)

    def join(
        self, query: str, k: int, words: Ranking | Exception, vectors: Ranking | Exception, *, tier: str = "local"
    ) -> Retrieved:
        """Fuse what the halves found, or what was found by the half that did not fail, and fetch the passages.

        Raises:
            TierUnavailableError: both failed.
            IndexCorruptError: a passage is missing in the store.
        """
        events = tuple(
            Event(kind=kind, detail=str(half) or repr(half), where=tier)
            for kind, half in (("words_failed", words), ("vectors_failed", vectors))
            if isinstance(half, Exception)
        )
        if len(events) == 2:
            raise TierUnavailableError(
                f"The index in {self._folder} cannot be searched: {events[0].detail}"
            ) from (words if isinstance(words, Exception) else None)
        by_words = [] if isinstance(words, Exception) else words
        by_vectors = [] if isinstance(vectors, Exception) else vectors
        if not by_words:
            by_vectors = [hit for hit in by_vectors if hit[1] >= COSINE_FLOOR]
        fused = reciprocal_rank_fusion(
            [[key for key, _ in ranking] for ranking in (by_words, by_vectors)], constant=RRF_CONSTANT
        )[: max(k, 0)]
        passages = self._parts.store.get([key for key, _ in fused])
        now = time.time()
        hits = tuple(
            Hit(passage=passage, score=score, rank=rank, tier=tier, query=query, retrieved_at=now)
            for rank, (passage, (_, score)) in enumerate(zip(passages, fused, strict=True), start=1)
        )
        return Retrieved(hits=hits, events=events, degraded=bool(events))

    def _encode(self, query: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encoder.encode([query])[0]
        vector.setflags(write=False)
        return vector


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
        halves = await asyncio.gather(
            *(
                in_worker(_outcome, half, request.query, request.k, request.exclude)
                for half in (self._index.by_words, self._index.by_vectors)
            )
        )
        return await in_worker(self._index.join, request.query, request.k, *halves, tier=self._name)


def _outcome(
    half: Callable[[str, int, frozenset[str]], Ranking], query: str, k: int, exclude: frozenset[str]
) -> Ranking | Exception:
    """What one half found, or why it failed: the other half may still serve."""
    try:
        return half(query, k, exclude)
    except Exception as error:  # noqa: BLE001 - whatever a model or an engine raises, the other half still works
        return error


def _clean(query: str) -> str:
    """Without lone surrogates, which no tokenizer and no database takes."""
    return query.encode("utf-8", "replace").decode("utf-8")


def _open_parts(folder: Path, manifest: Manifest) -> tuple[Parts, int]:
    """The opened and checked parts, and the claim that keeps them from being removed."""
    check_files(folder, manifest)
    with contextlib.ExitStack() as undo:
        handle = claim(folder / manifest.data)
        undo.callback(os.close, handle)
        parts = Parts.open(folder / manifest.data)
        undo.callback(parts.close)
        parts.check(passages=manifest.counts.passages, dims=manifest.encoder.dims)
        undo.pop_all()
    return parts, handle
