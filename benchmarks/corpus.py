"""Indexes of the corpora that benchmarks search, built once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from agent.progress import build_progress
from retrieval.corpora import open_corpus
from retrieval.index import IndexInfo, TransformerEncoder, build_index, index_info
from retrieval.index.manifest import MANIFEST

from .datasets.demo import fetch_corpus
from .environment import CHECKOUT
from .errors import SettingsError

WHOLE_WORDS = 10_000
"""Records of a benchmark's corpus are never cut: a gold passage in two halves could not be found."""


def cache_folder() -> Path:
    """`.cache` of the checkout, or the user's cache where the packages were installed without one."""
    return CHECKOUT / ".cache" if (CHECKOUT / "pyproject.toml").is_file() else user_cache_path("sufficit")


def cached_index(corpus: Path) -> IndexInfo:
    """The index of this corpus in the cache, built with progress on stderr if it is missing or unfinished.

    Raises:
        CorpusError, IndexFolderError, BackboneError: see `build_index`.
    """
    name = f"{corpus.name.partition('.')[0]}-{open_corpus(corpus).sha256()[:12]}"
    with build_progress() as progress:
        return build_index(
            corpus,
            cache_folder() / "benchmarks" / name,
            encoder=TransformerEncoder.named(),
            whole_words=WHOLE_WORDS,
            progress=progress,
        )


def demo_index() -> IndexInfo:
    """The index that `make demo` builds; fetched and built with progress on stderr if it is missing.

    Raises:
        DatasetError: the excerpt cannot be fetched.
        CorpusError, IndexFolderError, BackboneError: see `build_index`.
    """
    folder = cache_folder() / "demo"
    index, corpus = folder / "wiki.index", folder / "enwiki-excerpt.xml.bz2"
    if (index / MANIFEST).is_file():
        return index_info(index)
    if not corpus.is_file():
        fetch_corpus(corpus)
    with build_progress() as progress:
        return build_index(corpus, index, encoder=TransformerEncoder.named(), progress=progress)


def require_one_source(questions: Sequence[Path], corpus: Path | None, index: Path | None) -> None:
    """One's own questions go with one corpus or one index, the demo's with neither.

    Raises:
        SettingsError: two sources, or questions and source that do not go together.
    """
    if corpus and index:
        raise SettingsError("--corpus and --index both say what to search. Give one of them.")
    if questions and not (corpus or index):
        raise SettingsError("--questions need a corpus to be searched in. Add --corpus FILE or --index DIR.")
    if corpus and not questions:
        raise SettingsError("The demo's questions are about the demo's corpus. Add --questions FILE.")
