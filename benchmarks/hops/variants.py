"""Copies of an index for comparison: without titles, or with other text mixed in. Built once and kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from agent.progress import build_progress
from retrieval import Passage
from retrieval.backbones import find_backbone
from retrieval.errors import IndexFolderError
from retrieval.index import IndexInfo, LocalIndex, TransformerEncoder, build_index, index_info

from ..contrasts.searches import corpus_key
from ..corpus import WHOLE_WORDS, cache_folder
from ..errors import BenchmarkError
from .filler import FillerEncoder, write_filler


def without_titles(base: IndexInfo) -> IndexInfo:
    """An index of the same texts without title, section and aliases. Every passage is encoded again: minutes.

    Texts of one source are no longer known to belong together.

    Raises:
        BenchmarkError: a text changed on the way, so that passages would not be the same.
        IndexFolderError, BackboneError: see `build_index`.
    """
    with LocalIndex.open(base.folder) as index:
        info = _built(index, "untitled", (Passage(text=one.text) for one in index), index.encoder)
    return _same_ids(base, info, extra=0)


def with_filler(base: IndexInfo, count: int, *, seed: int) -> IndexInfo:
    """An index of the same passages and `count` invented ones, see `filler`. Vectors of the former are taken over.

    Aliases of documents are not carried over.

    Raises:
        BenchmarkError: a text changed on the way, so that passages would not be the same.
        IndexFolderError, BackboneError: see `build_index`.
    """
    filler = FillerEncoder(find_backbone(base.manifest.encoder.name))
    encoder: TransformerEncoder = filler
    with LocalIndex.open(base.folder, encoder) as index:
        filler.recalled = _vectors(index)
        info = _built(index, f"filler-{count}-{seed}", _mixed(index, count, seed), encoder)
    return _same_ids(base, info, extra=count)


def _mixed(index: Iterable[Passage], count: int, seed: int) -> Iterator[Passage]:
    yield from index
    yield from write_filler(index, count, seed=seed)


def _vectors(index: LocalIndex[TransformerEncoder]) -> dict[str, NDArray[np.float32]]:
    """The vectors of an index by the text that was encoded."""
    with index.view() as view:
        ids = view.ids(view.numbers().tolist())
        passages = view.passages(list(ids.values()))
        return {passage.full_text: view.vector(number) for number, passage in zip(ids, passages, strict=True)}


def _built(
    index: LocalIndex[TransformerEncoder], kind: str, passages: Iterable[Passage], encoder: TransformerEncoder
) -> IndexInfo:
    folder = cache_folder() / "benchmarks" / f"{kind}-{corpus_key(index)[:12]}"
    try:
        return index_info(folder)
    except IndexFolderError:
        folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as temporary, build_progress() as progress:
        source = Path(temporary) / f"{kind}.jsonl"
        with source.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(_record(passage)) + "\n" for passage in passages)
        return build_index(source, folder, encoder=encoder, whole_words=WHOLE_WORDS, progress=progress)


def _record(passage: Passage) -> dict[str, str | None]:
    return {
        "id": passage.source_id,
        "title": passage.title,
        "section": passage.section,
        "url": passage.url,
        "text": passage.text,
    }


def _same_ids(base: IndexInfo, info: IndexInfo, *, extra: int) -> IndexInfo:
    expected, found = base.manifest.counts.passages + extra, info.manifest.counts.passages
    if found != expected:
        raise BenchmarkError(
            f"{info.folder} holds {found} passages instead of {expected}: some texts changed on the way, or "
            "filler repeated itself. Use another --seed or another corpus."
        )
    return info
