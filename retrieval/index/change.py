"""The changes that a command line makes: a corpus added to an index, documents deleted from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..corpora import Corpus, Document, no_documents, open_corpus
from .build import Progress
from .encoder import Encoder
from .info import index_info
from .link_rule import NAME_LINKS
from .links import LinkRule
from .manifest import IndexInfo
from .writer import IndexWriter


def add_to_index(
    source: Path | str | Corpus,
    folder: Path | str,
    *,
    encoder: Encoder,
    links: LinkRule | None = NAME_LINKS,
    progress: Callable[[Progress], None] = lambda _: None,
    allow_empty: bool = True,
) -> IndexInfo:
    """Add the documents of a corpus to an index; those whose id is known are replaced. Blocking.

    Batches are committed as they go. If it is interrupted, the same call goes on: what is in the index already is
    neither encoded nor written again.

    Args:
        source: A corpus, or where it lies (see `retrieval.corpora.open_corpus`).
        folder: The index.
        encoder: The one that built it.
        links: The rule with which it was built; None if there was none.
        progress: Called from this thread, often; `vectors` is about one batch after the other.
        allow_empty: Whether a corpus without any document changes nothing, and is no error.

    Raises:
        CorpusError: the corpus cannot be read, or it has no document and `allow_empty` is not set.
        IndexBusyError, IndexFolderError, EncoderMismatchError, ValueError: see `IndexWriter`.
    """
    corpus = source if isinstance(source, Corpus) else open_corpus(source)
    done = 0

    def encoded(now: int, total: int) -> None:
        nonlocal done
        progress(Progress(phase="vectors", done=done + now, total=done + total, unit="passages"))
        done += total if now == total else 0

    with IndexWriter.open(folder, encoder, links=links) as writer:
        documents = _told(corpus, progress, allow_empty=allow_empty)
        writer.add(documents, whole=corpus.format == "jsonl", progress=encoded)
        writer.commit(progress=encoded)
    return index_info(folder)  # only a closed writer leaves nothing but the index itself


def delete_from_index(
    ids: Iterable[str],
    folder: Path | str,
    *,
    encoder: Encoder,
    links: LinkRule | None = NAME_LINKS,
    missing_ok: bool = False,
) -> IndexInfo:
    """Delete documents from an index, all or none.

    The encoder is needed where a text lives on under the heading of another document.

    Raises:
        DocumentUnknownError: an id is unknown and `missing_ok` is not set.
        IndexBusyError, IndexFolderError, EncoderMismatchError, ValueError: see `IndexWriter`.
    """
    with IndexWriter.open(folder, encoder, links=links) as writer:
        writer.delete(ids, missing_ok=missing_ok)
        writer.commit()
    return index_info(folder)


def compact_index(folder: Path | str, *, encoder: Encoder, links: LinkRule | None = NAME_LINKS) -> IndexInfo:
    """Give back the space of what was deleted and replaced.

    Raises:
        IndexBusyError, IndexFolderError, EncoderMismatchError: see `IndexWriter`.
    """
    with IndexWriter.open(folder, encoder, links=links) as writer:
        writer.compact()
    return index_info(folder)


def _told(corpus: Corpus, progress: Callable[[Progress], None], *, allow_empty: bool) -> Iterator[Document]:
    empty = True
    for document in corpus:
        empty = False
        yield document
        read = corpus.progress
        progress(Progress(phase="reading", done=read.done, total=read.total, unit="bytes"))
    if empty and not allow_empty:
        raise no_documents(corpus, corpus.problems)
