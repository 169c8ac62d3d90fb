"""Changing an index: documents come, go and are replaced, and only what is new is encoded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..corpora import Document
from ..errors import DocumentUnknownError, IndexCorruptError, IndexFolderError
from ..passage import Passage
from ..text import plain_name
from . import postings, store
from .cut import cut
from .dense import DenseIndex, VectorFile
from .encoder import Encoder
from .info import index_info
from .layout import new_vectors_name, open_database, read_facts, vectors_files
from .link_rule import NAME_LINKS
from .links import LinkRule, remove_links
from .manifest import IndexInfo, Manifest, check_encoder, flush_folder, how_to_build, read_manifest
from .sparse import SparseIndex, is_wasteful
from .words import index_words, link
from .workplace import only_builder

BATCH = 2_048
"""Passages after which `add` commits by itself: some forty seconds of encoding on two cores."""
_BLOCK = 512


class IndexWriter:
    """An index opened to be changed, by one process at a time; searches go on beside it.

    Changes become visible, all at once and durably, at `commit`: readers see the state before or after it.
    Whatever is raised by a method drops the changes since the last commit, and so does closing without a commit; a
    process that dies, at whatever moment, leaves the last committed state. Made by `open`; for one thread.

        with IndexWriter.open("wiki.index", encoder) as writer:
            writer.add([Document(id="7", title="Moor", sections=(Section(text="A moor is wet."),))])
            writer.delete(["12"])
            writer.commit()
    """

    def __init__(
        self, *, folder: Path, manifest: Manifest, encoder: Encoder, links: LinkRule | None, held: ExitStack
    ) -> None:
        self._folder, self._manifest, self._encoder, self._links = folder, manifest, encoder, links
        self._data, self._held = folder / manifest.data, held
        self._database = held.enter_context(contextlib.closing(open_database(self._data, read_only=False)))
        self._sparse = SparseIndex(self._database)
        with self._database.writing() as connection:  # not later: whoever reads for long is told of now
            facts, rows = read_facts(connection), postings.size(connection)
            self._known_changes = connection.total_changes  # counted by SQLite, in rows
        for path in vectors_files(self._data):
            if path.name != facts.vectors:  # a writer was killed around its compaction
                path.unlink()
        self._vectors = self._opened(facts.vectors, rows)
        self._touched: set[int] = set()

    @classmethod
    def open(cls, folder: Path | str, encoder: Encoder, *, links: LinkRule | None = NAME_LINKS) -> Self:
        """Open an index for changes.

        Args:
            folder: What `build_index` wrote.
            encoder: The encoder that built it.
            links: The rule with which it was built; None if there was none.

        Raises:
            IndexBusyError: another process builds or changes it.
            IndexFolderError: no index there, a damaged one, one of another version or with other links.
            EncoderMismatchError: not the encoder that built it.
        """
        folder = Path(folder)
        read_manifest(folder)  # an empty folder is no index to change, and must not become the beginning of one
        held = ExitStack()
        with ExitStack() as undo:
            undo.callback(held.close)
            held.enter_context(only_builder(folder))
            manifest = read_manifest(folder)
            check_encoder(folder, manifest, encoder)
            _check_links(folder, manifest, links)
            writer = cls(folder=folder, manifest=manifest, encoder=encoder, links=links, held=held)
            undo.pop_all()
        return writer

    @property
    def info(self) -> IndexInfo:
        """What is committed."""
        return index_info(self._folder)

    def add(
        self,
        documents: Iterable[Document],
        *,
        whole: bool = False,
        progress: Callable[[int, int], None] = lambda *_: None,
    ) -> None:
        """Add documents; one whose id is known takes the place of the documents that had it.

        Of documents in one call that share an id all are kept, as a build does. A text that the index has already,
        under the same heading, is not encoded again. Commits by itself after each `BATCH` passages, and never in
        the middle of a document; the rest waits for `commit`.

        Args:
            documents: In the order in which a build would read them.
            whole: Whether they are records that stay whole up to the index's `whole_words`.
            progress: Called with the passages that were encoded and those that the commit encodes in all.

        Raises:
            IndexFolderError: the disk is full or cannot be written, or the index is damaged.
            ValueError: the encoder returned rows that are not of length one.
        """
        seen: set[str] = set()
        with self._undone_on_error():
            for document in documents:
                pieces = cut(document, self._manifest.settings, whole=whole)
                with self._database.writing() as connection:
                    self._touched |= store.put(connection, document, pieces, beside=document.id in seen)
                seen.add(document.id)
                if len(self._touched) >= BATCH:
                    self.commit(progress=progress)

    def delete(self, ids: Iterable[str], *, missing_ok: bool = False) -> int:
        """Delete the documents with these ids, and the texts that stand in no other; how many ids were known.

        Raises:
            DocumentUnknownError: there is no document with one of the ids, and `missing_ok` is not set.
            IndexFolderError: the disk cannot be written, or the index is damaged.
        """
        known = 0
        with self._undone_on_error():
            for key in dict.fromkeys(map(plain_name, ids)):
                with self._database.writing() as connection:
                    rows = store.remove(connection, key)
                if rows is None and not missing_ok:
                    raise DocumentUnknownError(
                        f"The index in {self._folder} holds no document with the id {key!r}; nothing was deleted. "
                        "Check the id, or pass --missing-ok (missing_ok=True) to skip ids that are unknown."
                    )
                known += rows is not None
                self._touched |= rows or set()
        return known

    def commit(self, *, progress: Callable[[int, int], None] = lambda *_: None) -> None:
        """Encode what is new, and make all changes since the last commit durable and visible at once.

        Raises:
            IndexFolderError: the disk is full or cannot be written, or the index is damaged.
            ValueError: the encoder returned rows that are not of length one.
        """
        if self._apply(progress):
            self._compact()

    def compact(self) -> None:
        """Throw away what deleted and replaced passages left behind. Commits; `commit` does it now and then.

        Raises:
            IndexFolderError: the disk is full or cannot be written, or the index is damaged.
        """
        self._apply(lambda *_: None)
        self._compact()

    def close(self) -> None:
        """Drop what was not committed and release the index. May be called twice."""
        self._vectors.close()
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _apply(self, progress: Callable[[int, int], None]) -> bool:
        """Commit what has changed, if anything has; whether it is time to compact."""
        with self._undone_on_error(), self._database.writing() as connection:
            if connection.total_changes == self._known_changes:
                return False
            index_words(self._database, self._sparse, self._encoded(self._settle(), progress), self._links)
            self._vectors.sync()  # before the database names them
            if postings.size(connection) != self._vectors.done:
                raise IndexCorruptError(
                    f"Words and vectors in {self._data} are out of step. Build the index again."
                )
            wasteful = is_wasteful(connection)
            self._commit(connection)
            return wasteful

    def _compact(self) -> None:
        old = self._vectors.path
        with self._undone_on_error(), self._database.writing() as connection:
            order = postings.compact(connection)
            name = new_vectors_name()
            with contextlib.closing(VectorFile(self._data / name, dims=self._encoder.dims)) as fresh:
                self._copy(order, fresh)
            connection.execute("UPDATE facts SET vectors = ?", (name,))
            self._commit(connection)
        with contextlib.suppress(OSError):  # the next writer tries again
            old.unlink()
        with contextlib.suppress(IndexFolderError):  # it only gives back space
            self._database.vacuum()

    def _settle(self) -> list[int]:
        """Take away texts that stand nowhere any more, link the others anew; the rows that are to be encoded."""
        fresh: list[int] = []
        for block in _blocks(sorted(self._touched)):
            with self._database.writing() as connection:
                gone = store.forget_orphans(connection, block)
                postings.remove(connection, gone.values())
                remove_links(connection, gone)
                passages = store.read_rows(connection, block)
                changed = store.changed(connection, passages)
                link(connection, {row: passages[row] for row in passages if row not in changed}, self._links)
                fresh.extend(changed)
        return fresh

    def _encoded(self, rows: list[int], progress: Callable[[int, int], None]) -> Iterator[dict[int, Passage]]:
        """The passages of these rows, block by block, after their vectors were written in the same order."""
        progress(0, len(rows))
        for start, block in enumerate(_blocks(rows)):
            with self._database.writing() as connection:
                passages = store.read_rows(connection, block)
            self._vectors.append(self._encoder.encode([passage.full_text for passage in passages.values()]))
            progress(start * _BLOCK + len(block), len(rows))
            yield passages

    def _copy(self, order: NDArray[np.int64], fresh: VectorFile) -> None:
        """Write the vectors with these numbers, in this order, into another file."""
        rows = DenseIndex.open(self._vectors.path, rows=self._vectors.done, dims=self._encoder.dims)
        for start in range(0, len(order), _BLOCK):
            fresh.append(rows.rows(order[start : start + _BLOCK]))
        fresh.sync()
        flush_folder(self._data)

    def _commit(self, connection: Connection) -> None:
        postings.begin_generation(connection)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute("UPDATE facts SET changes = changes + 1, updated = ?", (now,))
        self._database.commit()
        self._restore()

    def _restore(self) -> None:
        """Begin again from what is committed."""
        self._touched.clear()
        with self._database.writing() as connection:
            facts, rows = read_facts(connection), postings.size(connection)
            self._known_changes = connection.total_changes
        self._database.rollback()  # an open transaction would keep the space from being given back
        self._vectors.close()
        self._vectors = self._opened(facts.vectors, rows)

    def _opened(self, name: str, rows: int) -> VectorFile:
        try:
            return VectorFile(self._data / name, dims=self._encoder.dims, done=rows)
        except FileNotFoundError as error:
            raise IndexCorruptError(
                f"{self._data} lacks its vectors, {name}. Build the index again: {how_to_build(self._folder)}"
            ) from error

    @contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            try:
                self._database.rollback()
                self._restore()
            except IndexFolderError:  # nothing is known of the files any more
                self.close()
            raise


def _check_links(folder: Path, manifest: Manifest, links: LinkRule | None) -> None:
    given, built = None if links is None else links.name, manifest.settings.links
    if given != built:
        raise IndexFolderError(
            f"The passages of the index in {folder} were linked by {built or 'no rule'}, the writer was given "
            f"{given or 'none'}. Pass the same rule, or build the index again: {how_to_build(folder)}"
        )


def _blocks(rows: list[int]) -> Iterator[list[int]]:
    remaining = iter(rows)
    while block := list(islice(remaining, _BLOCK)):
        yield block
