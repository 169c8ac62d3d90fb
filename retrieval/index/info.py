"""What an index holds, at a glance, and which encoder belongs to it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ..backbones import KNOWN, find_backbone
from ..errors import IndexFolderError
from .encoder import TransformerEncoder
from .manifest import IndexInfo, Manifest, read_manifest
from .view import Data, View


def index_info(folder: Path | str) -> IndexInfo:
    """What manifest and database of an index say, without its encoder and without checking it.

    Raises:
        IndexFolderError: no index there, one of another version, or a damaged one; see `LocalIndex.open`.
    """
    folder = Path(folder)
    manifest = read_manifest(folder)
    try:
        with contextlib.closing(Data(folder / manifest.data)) as data, data.view() as view:
            return info_of(folder, manifest, view)
    except IndexFolderError:
        if read_manifest(folder).data == manifest.data:
            raise
        return index_info(folder)  # a builder replaced the data while they were opened


def info_of(folder: Path, manifest: Manifest, view: View) -> IndexInfo:
    """What manifest and database say in the state that a view sees."""
    documents, passages = view.counts()
    sizes = [path.stat().st_size for path in (folder / manifest.data).iterdir()]
    return IndexInfo(
        folder=folder,
        manifest=manifest,
        documents=documents,
        passages=passages,
        changes=view.facts.changes,
        updated=view.facts.updated or None,
        bytes=sum(sizes),
    )


def encoder_of(folder: Path | str) -> TransformerEncoder:
    """The encoder that the manifest of an index names; opening the index checks that it is the right one.

    Raises:
        IndexFolderError: see `read_manifest`.
        BackboneError: it is not installed or is damaged.
    """
    name = read_manifest(Path(folder)).encoder.name
    # a file from outside may name a model, but only one that we know may be downloaded for it
    return TransformerEncoder(find_backbone(name, allow_hub=name in KNOWN))
