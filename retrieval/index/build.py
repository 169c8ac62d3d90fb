"""From a corpus to an index folder: resumable, published in one step, one builder at a time."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Literal

from ..corpora import Corpus, no_documents, open_corpus
from ..errors import CorpusError, IndexCorruptError, IndexFolderError
from ..passage import Passage
from ..text import plain_name
from . import store
from .check import check
from .cut import MAX_WORDS, OVERLAP, WHOLE_WORDS, cut
from .dense import VectorFile, whole_rows
from .encoder import Encoder
from .info import index_info
from .layout import INDEX_FILE, create_database, open_database, read_facts, vectors_files
from .link_rule import NAME_LINKS
from .links import LinkRule
from .manifest import (
    FORMAT,
    CorpusRecord,
    Counts,
    EncoderRecord,
    IndexInfo,
    Manifest,
    Settings,
    flush_folder,
    read_manifest,
    write_manifest,
)
from .postings import begin_generation, ids_of
from .sparse import SparseIndex
from .sqlite import Database
from .view import Data
from .words import index_words
from .workplace import Work, only_builder, sweep, workplace

_BLOCK = 512
"""Passages between two points from which a killed build goes on: some ten seconds of encoding on two cores."""
_READ = "read.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a build or an addition is."""

    phase: Literal["reading", "words", "vectors"]
    """Reading the corpus, indexing words, encoding. A build goes through them in this order; an addition reads and
    encodes by turns."""
    done: int
    total: int
    unit: Literal["bytes", "passages"]


def build_index(
    source: Path | str | Corpus,
    out: Path | str,
    *,
    encoder: Encoder,
    max_words: int = MAX_WORDS,
    whole_words: int = WHOLE_WORDS,
    overlap: int = OVERLAP,
    links: LinkRule | None = NAME_LINKS,
    progress: Callable[[Progress], None] = lambda _: None,
    force: bool = False,
    allow_empty: bool = True,
) -> IndexInfo:
    """Build the index of a corpus in the folder `out`. Blocking, minutes to hours.

    An index in `out` stays usable until the new one takes its place in one step. A build that was killed goes on
    where it stopped if corpus, encoder and settings are the same, otherwise it begins again. An intact index
    of the same corpus, encoder and settings is returned as it is unless `force` is set.

    Args:
        source: A corpus, or where it lies (see `retrieval.corpora.open_corpus`).
        out: A folder that is empty, missing, or holds an index.
        encoder: Makes the vectors, from heading and text of each passage.
        max_words: Longest chunk of an article, in words.
        whole_words: Longest record of a JSONL corpus that is not cut into chunks, in words.
        overlap: Sentences that a chunk shares with the one before; a record that stays whole has none.
        links: Finds what each passage is about and what it mentions; None = the passages are not linked.
        progress: Called from this thread, often, with growing `done` in each phase.
        force: Build even if the same index is there.
        allow_empty: Whether a corpus without any document gives an index that finds nothing.

    Raises:
        CorpusError: the corpus cannot be read, or has no document and `allow_empty` is not set; what was in `out`
            stays.
        IndexBusyError: another process is building or changing the index in `out`.
        IndexFolderError: `out` holds something else than an index, or cannot be written.
        IndexCorruptError: what was built contradicts itself, or the encoder is broken; nothing is published.
        ValueError: the encoder returned rows that are not of length one, or a setting is out of range.
    """
    out, corpus = Path(out), source if isinstance(source, Corpus) else open_corpus(source)
    with only_builder(out):
        plan = Plan(
            corpus=CorpusRecord(name=plain_name(corpus.path.resolve().name), sha256=corpus.sha256()),
            encoder=EncoderRecord(name=encoder.name, fingerprint=encoder.fingerprint, dims=encoder.dims),
            settings=Settings(
                max_words=max_words,
                whole_words=whole_words,
                overlap=overlap,
                links=None if links is None else links.name,
            ),
        )
        present = None if force else _intact(out, plan)
        if present is not None:
            _require_documents(corpus, present.manifest.counts, allow_empty=allow_empty)
            return present
        work = workplace(out, plan.as_json())
        try:
            counts = _read(corpus, work, plan, progress)
            _require_documents(corpus, counts, allow_empty=allow_empty)
            _index_words(work, links, progress)
            _encode(work, encoder, progress)
            return _publish(out, work, plan, counts)
        except (IndexCorruptError, CorpusError):
            work.discard()  # what is there is damaged or refused: the next build must not go on with it
            raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What must be the same for one build to go on where another stopped."""

    corpus: CorpusRecord
    encoder: EncoderRecord
    settings: Settings

    def as_json(self) -> dict[str, object]:
        """What is compared: contents, never names or places."""
        return {
            "format": FORMAT,
            "corpus": self.corpus.sha256,
            "encoder": self.encoder.fingerprint,
            "settings": self.settings.model_dump(),
        }


def _intact(out: Path, plan: Plan) -> IndexInfo | None:
    """The index that is there, if it is what the plan would make and nothing was added or deleted since."""
    try:
        manifest = read_manifest(out)
        present = Plan(corpus=manifest.corpus, encoder=manifest.encoder, settings=manifest.settings)
        if present.as_json() != plan.as_json():
            return None
        with contextlib.closing(Data(out / manifest.data)) as data, data.view() as view:
            check(view, dims=plan.encoder.dims)
            return None if view.facts.changes else index_info(out)
    except IndexFolderError:
        return None


def _read(corpus: Corpus, work: Work, plan: Plan, progress: Callable[[Progress], None]) -> Counts:
    """Store the texts of the corpus. The counts are written last: they mark the phase as done."""
    marker = work.folder / _READ
    if marker.exists():
        with contextlib.suppress(ValueError):  # not what we wrote: read again
            return Counts.model_validate_json(marker.read_bytes())
    for old in (*work.data.glob(f"{INDEX_FILE}*"), *vectors_files(work.data)):
        old.unlink()
    documents, whole = 0, corpus.format == "jsonl"
    with (
        contextlib.closing(create_database(work.data, dims=plan.encoder.dims)) as database,
        database.writing() as connection,
    ):
        for document in corpus:
            documents += 1
            store.put(connection, document, cut(document, plan.settings, whole=whole), beside=True)
            progress(_reading(corpus))
        _, texts = store.counts(connection)
        database.commit()
    progress(_reading(corpus))
    counts = Counts(documents=documents, passages=texts, problems=dict(corpus.problems))
    flush_folder(work.data)
    unfinished = marker.with_suffix(".new")
    unfinished.write_text(counts.model_dump_json(), encoding="utf-8")
    unfinished.replace(marker)
    return counts


def _require_documents(corpus: Corpus, counts: Counts, *, allow_empty: bool) -> None:
    if not counts.documents and not allow_empty:
        raise no_documents(corpus, counts.problems)


def _reading(corpus: Corpus) -> Progress:
    return Progress(phase="reading", done=corpus.progress.done, total=corpus.progress.total, unit="bytes")


def _index_words(work: Work, links: LinkRule | None, progress: Callable[[Progress], None]) -> None:
    """Index words and links in one transaction: either all are there or none is."""
    with contextlib.closing(open_database(work.data, read_only=False)) as database:
        sparse = SparseIndex(database)
        with database.reading() as connection:
            _, total = store.counts(connection)
        if not len(sparse):
            index_words(database, sparse, _all(database, total, progress), links)
            with database.writing() as connection:
                begin_generation(connection)
                database.commit()
    progress(Progress(phase="words", done=total, total=total, unit="passages"))


def _all(database: Database, total: int, progress: Callable[[Progress], None]) -> Iterator[dict[int, Passage]]:
    row = done = 0
    while True:
        with database.reading() as connection:
            block = store.read_after(connection, row, _BLOCK)
        if not block:
            return
        yield block
        row, done = max(block), done + len(block)
        progress(Progress(phase="words", done=done, total=total, unit="passages"))


def _encode(work: Work, encoder: Encoder, progress: Callable[[Progress], None]) -> None:
    """Encode the passages block by block, from the first block that is not on the disk yet."""
    with contextlib.closing(open_database(work.data)) as database:
        with database.reading() as connection:
            path = work.data / read_facts(connection).vectors
            _, total = store.counts(connection)
        done = whole_rows(path, rows=total, dims=encoder.dims, block=_BLOCK)
        with contextlib.closing(VectorFile(path, dims=encoder.dims, done=done)) as file:
            progress(Progress(phase="vectors", done=file.done, total=total, unit="passages"))
            while file.done < total:
                with database.reading() as connection:
                    ids = ids_of(connection, range(file.done, min(file.done + _BLOCK, total)))
                    block = store.get(connection, [ids[number] for number in sorted(ids)], database.path)
                file.append(encoder.encode([passage.full_text for passage in block]))
                file.sync()
                progress(Progress(phase="vectors", done=file.done, total=total, unit="passages"))


def _publish(out: Path, work: Work, plan: Plan, counts: Counts) -> IndexInfo:
    """Check the new data, give it its place, and let the manifest point to it: the moment of the change."""
    with contextlib.closing(Data(work.data)) as data, data.view() as view:
        check(view, dims=plan.encoder.dims)
    manifest = Manifest(
        format=FORMAT,
        sufficit=metadata.version("sufficit"),
        created=datetime.now(UTC).isoformat(),
        data=work.data.name,
        corpus=plan.corpus,
        encoder=plan.encoder,
        settings=plan.settings,
        counts=counts,
    )
    flush_folder(work.data)
    write_manifest(out, manifest)
    shutil.rmtree(work.folder, ignore_errors=True)
    sweep(out, keep=manifest.data)
    return index_info(out)
