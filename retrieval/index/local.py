"""The local index: words and vectors over one corpus, joined by reciprocal rank fusion."""

from __future__ import annotations

import contextlib
import math
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import IndexCorruptError, IndexFolderError, TierUnavailableError
from ..passage import Passage
from ..retriever import Retrieved
from ..text import tokenise
from .check import check
from .encoder import Encoder, TransformerEncoder
from .hop import linked
from .info import encoder_of, info_of
from .join import Ranking, join, outcome
from .manifest import IndexInfo, Manifest, check_encoder, read_manifest
from .view import Data, View
from .workplace import claim

E = TypeVar("E", bound=Encoder)
E_co = TypeVar("E_co", bound=Encoder, covariant=True)

DEPTH = 100
"""Fewest candidates that words, vectors and links each give to the fusion."""
LINK_WEIGHT = 0.3
"""What a link of strength 1 is worth beside a cosine (docs/decisions/010-ranking.md)."""
_QUERIES_KEPT = 1024
_BATCH = 1000


class LocalIndex(Generic[E_co]):
    """An opened index folder. Threads may share it.

    Made by `open`. Searching finds passages by their words (BM25) and by their vectors and joins the two rankings.
    Each call sees what is committed when it begins, words, vectors and texts of the same moment; what another
    process commits meanwhile is seen by the next call. After a new build it goes on with the data it opened.
    """

    def __init__(self, *, folder: Path, manifest: Manifest, data: Data, handle: int, encoder: E_co) -> None:
        self._folder, self._manifest, self._data, self._encoder = folder, manifest, data, encoder
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
        """Open an index and check it (counts, some vectors and texts, two searches), in well under a second.

        Args:
            folder: What `build_index` wrote.
            encoder: The encoder that built it; None = found by the name in the manifest.

        Raises:
            IndexNotFoundError: no finished index there.
            IndexVersionError: another version of the layout.
            IndexCorruptError: files are missing, cut off or damaged, or contradict each other.
            EncoderMismatchError: not the encoder that built it.
            BackboneError: the encoder that the manifest names is not installed or is damaged.
        """
        folder = Path(folder)
        manifest = read_manifest(folder)
        if encoder is None:
            encoder = encoder_of(folder)
        check_encoder(folder, manifest, encoder)
        try:
            data, handle = _opened(folder, manifest)
        except IndexFolderError:
            if read_manifest(folder).data == manifest.data:
                raise
            return LocalIndex.open(folder, encoder)  # a builder replaced the data while they were opened
        return LocalIndex(folder=folder, manifest=manifest, data=data, handle=handle, encoder=encoder)

    @property
    def encoder(self) -> E_co:
        """The encoder that built the index."""
        return self._encoder

    @property
    def info(self) -> IndexInfo:
        """What the index holds now, and with what it was built."""
        with self.view() as view:
            return info_of(self._folder, self._manifest, view)

    def __len__(self) -> int:
        """Number of passages that are committed now."""
        with self.view() as view:
            return len(view)

    def view(self) -> View:
        """What is committed now, for several reads that belong together; to be closed soon.

        Raises:
            IndexFolderError: the index was closed, is damaged, or cannot be read now.
        """
        return self._data.view()

    def passages(self, ids: Sequence[str]) -> list[Passage]:
        """The passages of these ids, in their order.

        Raises:
            IndexCorruptError: an id is not in the index.
        """
        with self.view() as view:
            return view.passages(ids)

    def __iter__(self) -> Iterator[Passage]:
        """All passages of one committed state, in the order in which they came; a thousand in memory at once."""
        with self.view() as view:
            row = 0
            while block := view.after(row, _BATCH):
                yield from block.values()
                row = max(block)

    def warm(self) -> None:
        """Load the model, and check that it still makes the vector that is stored. A few seconds, once.

        Without it the first search loads the model.

        Raises:
            IndexCorruptError: a stored text has another vector now.
        """
        with self.view() as view:
            some = view.ids(view.numbers()[:1].tolist())
            if not some:
                self._vector("warm up")
                return
            ((number, key),) = some.items()
            stored, text = view.vector(number), view.passages([key])[0].full_text
        made = self._encoder.encode([text])[0]
        if not float(stored @ made) > 0.999:  # also true of NaN
            raise IndexCorruptError(
                f"The encoder {self._encoder.name} no longer makes the vectors of the index in {self._folder} "
                f"(cosine {float(stored @ made):.3f} to the stored one). Build the index again."
            )

    def close(self) -> None:
        """Release the files. What was found stays usable."""
        self._data.close()
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
        try:
            view = self.view()
        except IndexFolderError as error:
            raise TierUnavailableError(f"The index in {self._folder} cannot be searched: {error}") from error
        with view:
            words, vectors = (
                outcome(partial(half, query, k, exclude, view)) for half in (self.by_words, self.by_vectors)
            )
            return join(view, query, k, words, vectors, links=[])

    def by_words(
        self, query: str, k: int, exclude: frozenset[str] = frozenset(), view: View | None = None
    ) -> Ranking:
        """Candidates for `k` hits by BM25: `(id, score)`, best first, scores above zero.

        Args:
            query: Any text.
            k: Hits wanted.
            exclude: Ids that must not be among them.
            view: The state that is searched; None = what is committed now.
        """
        query = _clean(query)
        if k < 1 or not tokenise(query):
            return []
        with _or_own(view, self.view) as seen:
            return seen.words(query, max(DEPTH, 4 * k), exclude)

    def by_vectors(
        self, query: str, k: int, exclude: frozenset[str] = frozenset(), view: View | None = None
    ) -> Ranking:
        """Candidates for `k` hits by the cosine of their vectors: `(id, score)`, best first. See `by_words`."""
        query = _clean(query)
        if k < 1 or not tokenise(query):
            return []
        vector = self._vector(query)
        with _or_own(view, self.view) as seen:
            return seen.nearest(vector, max(DEPTH, 4 * k), exclude)

    def by_links(
        self,
        seeds: Sequence[str],
        question: str,
        k: int,
        exclude: frozenset[str] = frozenset(),
        view: View | None = None,
    ) -> Ranking:
        """Candidates for `k` hits that the seeds are linked with: `(id, score)`, best first.

        They are ordered by the cosine of their vectors and the question's, and by the strength of their links.

        Args:
            seeds: Ids of passages to go on from; unknown ones are ignored.
            question: The user's question; what it names itself links nothing.
            k: Hits wanted.
            exclude: Ids that must not be among them.
            view: The state that is searched; None = what is committed now.
        """
        question = _clean(question)
        if k < 1 or not seeds or not tokenise(question):
            return []
        vector = self._vector(question)
        with _or_own(view, self.view) as seen:
            with seen.links() as links:
                found = linked(links, seeds, question)
            ids = sorted(found.keys() - exclude - set(seeds))
            scores = {
                key: LINK_WEIGHT * found[key] + float(own @ vector) for key, own in seen.vectors(ids).items()
            }
        usable = [item for item in scores.items() if math.isfinite(item[1])]
        return sorted(usable, key=lambda item: (-item[1], item[0]))[: max(DEPTH, 4 * k)]

    def _encode(self, query: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._encoder.encode([query])[0]
        vector.setflags(write=False)
        return vector


@contextlib.contextmanager
def _or_own(view: View | None, take: Callable[[], View]) -> Iterator[View]:
    """The view that was given, or one that is taken for the block."""
    if view is not None:
        yield view
        return
    with take() as own:
        yield own


def _clean(query: str) -> str:
    """Without lone surrogates, which no tokenizer and no database takes."""
    return query.encode("utf-8", "replace").decode("utf-8")


def _opened(folder: Path, manifest: Manifest) -> tuple[Data, int]:
    """The opened and checked data, and the claim that keeps them from being removed."""
    with contextlib.ExitStack() as undo:
        handle = claim(folder / manifest.data)
        undo.callback(os.close, handle)
        data = Data(folder / manifest.data)
        undo.callback(data.close)
        with data.view() as view:
            check(view, dims=manifest.encoder.dims)
        undo.pop_all()
    return data, handle
