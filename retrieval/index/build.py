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

from ..corpora import Corpus, Document, open_corpus, passages
from ..errors import IndexCorruptError, IndexFolderError
from ..passage import Passage
from .check import SPARSE, Parts
from .dense import VectorFile, write_ids
from .encoder import Encoder
from .manifest import (
    FORMAT,
    CorpusRecord,
    Counts,
    EncoderRecord,
    IndexInfo,
    Manifest,
    Settings,
    check_files,
    describe_files,
    flush_folder,
    read_manifest,
    write_manifest,
)
from .sparse import SparseIndex
from .store import PassageStore, PassageWriter
from .workplace import Work, only_builder, sweep, workplace

MAX_WORDS = 150
"""Longest chunk of an article. MiniLM reads 256 tokens: 0.3 % of Wikipedia passages of 120 to 140 words are
longer, 2 % of those of 140 to 160 words, 39 % of those of 180 to 200 words."""
WHOLE_WORDS = 400
"""Records of a JSONL corpus up to this length stay whole, so that passages of a benchmark keep their identity."""
_BLOCK = 512
"""Passages between two points from which a killed build goes on: some ten seconds of encoding on two cores."""
_READ = "read.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a build is."""

    phase: Literal["reading", "words", "vectors"]
    """Reading the corpus, indexing words, encoding; in this order."""
    done: int
    total: int
    unit: Literal["bytes", "passages"]


def build_index(
    corpus_path: Path | str,
    out: Path | str,
    *,
    encoder: Encoder,
    max_words: int = MAX_WORDS,
    whole_words: int = WHOLE_WORDS,
    progress: Callable[[Progress], None] = lambda _: None,
    force: bool = False,
) -> IndexInfo:
    """Build the index of a corpus in the folder `out`. Blocking, minutes to hours.

    An index in `out` stays usable until the new one takes its place in one step. A build that was killed goes on
    where it stopped if corpus, encoder and settings are the same, otherwise it begins again. An intact index
    of the same corpus, encoder and settings is returned as it is unless `force` is set.

    Args:
        corpus_path: See `retrieval.corpora.open_corpus`. An empty corpus gives an index that finds nothing.
        out: A folder that is empty, missing, or holds an index.
        encoder: Makes the vectors, from heading and text of each passage.
        max_words: Longest chunk of an article, in words.
        whole_words: Longest record of a JSONL corpus that is not cut into chunks, in words.
        progress: Called from this thread, often, with growing `done` in each phase.
        force: Build even if the same index is there.

    Raises:
        CorpusError: the corpus cannot be read.
        IndexBusyError: another process is building in `out`.
        IndexFolderError: `out` holds something else than an index, or cannot be written.
        IndexCorruptError: what was built contradicts itself, or the encoder is broken; nothing is published.
        ValueError: the encoder returned rows that are not of length one, or a setting is below 1.
    """
    out, corpus = Path(out), open_corpus(Path(corpus_path))
    with only_builder(out):
        plan = Plan(
            corpus=CorpusRecord(name=corpus.path.resolve().name, sha256=corpus.sha256()),
            encoder=EncoderRecord(name=encoder.name, fingerprint=encoder.fingerprint, dims=encoder.dims),
            settings=Settings(max_words=max_words, whole_words=whole_words),
        )
        present = None if force else _intact(out, plan)
        if present is not None:
            return present
        work = workplace(out, plan.as_json())
        try:
            counts = _read(corpus, work, plan, progress)
            _index_words(work, progress)
            _encode(work, encoder, progress)
            return _publish(out, work, plan, counts)
        except IndexCorruptError:
            work.discard()  # what a killed build left is damaged: the next one must not go on with it
            raise


def index_info(folder: Path | str) -> IndexInfo:
    """What the manifest of an index says, without opening the index. Raises what `read_manifest` raises."""
    return IndexInfo(folder=Path(folder), manifest=read_manifest(Path(folder)))


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
    try:
        manifest = read_manifest(out)
        check_files(out, manifest)
    except IndexFolderError:
        return None
    present = Plan(corpus=manifest.corpus, encoder=manifest.encoder, settings=manifest.settings)
    return IndexInfo(folder=out, manifest=manifest) if present.as_json() == plan.as_json() else None


def _read(corpus: Corpus, work: Work, plan: Plan, progress: Callable[[Progress], None]) -> Counts:
    """Fill the store from the corpus. The counts are written last: they mark the phase as done."""
    marker = work.folder / _READ
    if marker.exists():
        with contextlib.suppress(ValueError):  # not what we wrote: read again
            return Counts.model_validate_json(marker.read_bytes())
    documents = distinct = 0
    with PassageWriter(work.data) as writer:
        for document in corpus:
            documents += 1
            for alias in document.aliases:
                writer.add_alias(alias, source_id=document.id, title=document.title)
            found = _passages(document, plan.settings, whole=corpus.format == "jsonl")
            distinct += sum(writer.add(passage) for passage in found)
            progress(_reading(corpus))
    progress(_reading(corpus))
    counts = Counts(documents=documents, passages=distinct, problems=dict(corpus.problems))
    write_ids(work.data, PassageStore(work.data).ids())
    flush_folder(work.data)
    unfinished = marker.with_suffix(".new")
    unfinished.write_text(counts.model_dump_json(), encoding="utf-8")
    unfinished.replace(marker)
    return counts


def _reading(corpus: Corpus) -> Progress:
    return Progress(phase="reading", done=corpus.progress.done, total=corpus.progress.total, unit="bytes")


def _passages(document: Document, settings: Settings, *, whole: bool) -> list[Passage]:
    """The document's passages; a record of a JSONL corpus stays whole if it is short enough."""
    if whole:
        found = list(passages(document, max_words=settings.whole_words))
        if len(found) <= 1:
            return found
    return list(passages(document, max_words=settings.max_words))


def _index_words(work: Work, progress: Callable[[Progress], None]) -> None:
    """Build the sparse index. It is made under another name, so that its name marks the phase as done."""
    data, store = work.data, PassageStore(work.data)
    total = len(store)
    if not (data / SPARSE).exists():
        unfinished = work.folder / SPARSE
        shutil.rmtree(unfinished, ignore_errors=True)
        words = SparseIndex.create(unfinished)
        words.add((passage.id, passage.full_text) for passage in _all(store, progress))
        words.commit()
        words.close()
        unfinished.rename(data / SPARSE)
    progress(Progress(phase="words", done=total, total=total, unit="passages"))
    store.close()


def _all(store: PassageStore, progress: Callable[[Progress], None]) -> Iterator[Passage]:
    for start in range(0, len(store), _BLOCK):
        yield from store.rows(start, _BLOCK)
        progress(Progress(phase="words", done=min(start + _BLOCK, len(store)), total=len(store), unit="passages"))


def _encode(work: Work, encoder: Encoder, progress: Callable[[Progress], None]) -> None:
    """Encode the passages block by block, from the first block that is not on the disk yet."""
    store = PassageStore(work.data)
    total = len(store)
    with VectorFile(work.data, rows=total, dims=encoder.dims, block=_BLOCK) as file:
        progress(Progress(phase="vectors", done=file.done, total=total, unit="passages"))
        while file.done < total:
            file.append(encoder.encode([passage.full_text for passage in store.rows(file.done, _BLOCK)]))
            progress(Progress(phase="vectors", done=file.done, total=total, unit="passages"))
    store.close()


def _publish(out: Path, work: Work, plan: Plan, counts: Counts) -> IndexInfo:
    """Check the new data, give it its place, and let the manifest point to it: the moment of the change."""
    parts = Parts.open(work.data)
    parts.check(passages=counts.passages, dims=plan.encoder.dims)
    parts.close()
    manifest = Manifest(
        format=FORMAT,
        sufficit=metadata.version("sufficit"),
        created=datetime.now(UTC).isoformat(),
        data=work.data.name,
        corpus=plan.corpus,
        encoder=plan.encoder,
        settings=plan.settings,
        counts=counts,
        files=describe_files(work.data),
    )
    flush_folder(work.data)
    write_manifest(out, manifest)
    shutil.rmtree(work.folder, ignore_errors=True)
    sweep(out, keep=manifest.data)
    return IndexInfo(folder=out, manifest=manifest)
