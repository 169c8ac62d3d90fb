"""What an index folder says about itself.

DIR/manifest.json       names the data folder; replacing this one file publishes a new index at once
DIR/data-0123456789ab/  index.sqlite with texts, words and links; vectors-0123456789ab.f32, which the former names
DIR/building/           the unfinished work of a builder, if one runs or was killed
DIR/lock                held by whoever builds or changes the index
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import EncoderMismatchError, IndexCorruptError, IndexNotFoundError, IndexVersionError
from .encoder import Encoder

FORMAT = 2
"""Raised when the layout changes, or how texts are cut or split into words: an old index must be built again."""
MANIFEST = "manifest.json"
DATA_NAME = r"^data-[0-9a-f]{12}$"
"""What a data folder is called; anything else in a file from outside is no name of one."""
_LARGEST_MANIFEST = 1 << 20

Count = Annotated[int, Field(ge=0, le=2**53)]
Name = Annotated[str, Field(max_length=4096)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class CorpusRecord(_Strict):
    """The corpus that was indexed."""

    name: Name
    """File or folder name, without its path."""
    sha256: Sha256
    """Of the content."""


class EncoderRecord(_Strict):
    """The encoder that made the vectors."""

    name: Name
    fingerprint: Name
    dims: Annotated[int, Field(ge=1, le=65536)]


class Settings(_Strict):
    """How texts were cut and split into words."""

    max_words: Annotated[int, Field(ge=1)]
    """Longest chunk of an article."""
    whole_words: Annotated[int, Field(ge=1)]
    """Longest record of a JSONL corpus that stays whole."""
    overlap: Annotated[int, Field(ge=0)]
    """Sentences that a chunk shares with the one before."""
    links: Name | None
    """Name of the rule that linked the passages."""


class Counts(_Strict):
    """What went in when the index was built."""

    documents: Count
    passages: Count
    """Distinct texts."""
    problems: dict[Name, Count]
    """Records that could not be used, by kind."""


class Manifest(_Strict):
    """The content of `manifest.json`."""

    format: Annotated[int, Field(ge=1)]
    """Version of the folder's layout."""
    sufficit: Name
    """Version of the program that wrote it."""
    created: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?\+00:00$")]
    """UTC, ISO 8601."""
    data: Annotated[str, Field(pattern=DATA_NAME)]
    """Name of the data folder."""
    corpus: CorpusRecord
    encoder: EncoderRecord
    settings: Settings
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexInfo:
    """An index folder at a glance."""

    folder: Path
    manifest: Manifest
    documents: int
    """That it holds now; `manifest.counts` says what it was built with."""
    passages: int
    """Distinct texts that it holds now."""
    changes: int
    """Commits of additions and deletions since it was built."""
    updated: str | None
    """When the last of them was: UTC, ISO 8601."""
    bytes: int
    """Size of the data on the disk."""

    def as_json(self) -> dict[str, Any]:
        """Flat JSON values for people and programs."""
        manifest = self.manifest
        return {
            "folder": str(self.folder),
            "documents": self.documents,
            "passages": self.passages,
            "problems": dict(manifest.counts.problems),
            "bytes": self.bytes,
            "corpus": manifest.corpus.name,
            "corpus_sha256": manifest.corpus.sha256,
            "encoder": manifest.encoder.name,
            "encoder_fingerprint": manifest.encoder.fingerprint,
            "dims": manifest.encoder.dims,
            "max_words": manifest.settings.max_words,
            "whole_words": manifest.settings.whole_words,
            "overlap": manifest.settings.overlap,
            "links": manifest.settings.links,
            "format": manifest.format,
            "sufficit": manifest.sufficit,
            "created": manifest.created,
            "changes": self.changes,
            "updated": self.updated,
        }


def read_manifest(folder: Path) -> Manifest:
    """Read `manifest.json`.

    Raises:
        IndexNotFoundError: there is none.
        IndexVersionError: it belongs to another version of the layout.
        IndexCorruptError: it is too large, no JSON, or has a field missing, unknown or out of range.
    """
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_MANIFEST + 1)
    except OSError as error:
        raise IndexNotFoundError(
            f"There is no finished index in {folder} ({error.strerror}). Build one: {how_to_build(folder)}"
        ) from error
    if len(content) > _LARGEST_MANIFEST:
        raise _damaged(path, f"it is larger than {_LARGEST_MANIFEST} bytes", folder)
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"it is no JSON ({error})", folder) from error
    _check_format(fields, path, folder)
    try:
        return Manifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(path, f"{where}: {first['msg']}", folder) from error


def _check_format(fields: Any, path: Path, folder: Path) -> None:  # noqa: ANN401 - whatever the JSON holds
    found = fields.get("format") if isinstance(fields, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise _damaged(path, f"format must be a number, it is {found!r}", folder)
    if found != FORMAT:
        raise IndexVersionError(
            f"The index in {folder} has format {found}, this version of sufficit reads format {FORMAT}. "
            f"Build it again: {how_to_build(folder)}"
        )


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Put a manifest in place of the present one in one step, so that a reader sees the old or the new index."""
    fresh = folder / f"{MANIFEST}.new"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(manifest.model_dump_json(indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / MANIFEST)
    flush_folder(folder)


def flush_folder(folder: Path) -> None:
    """Make new names in a folder survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_encoder(folder: Path, manifest: Manifest, encoder: Encoder) -> None:
    """Refuse an encoder that is not the one of the index; where its files lie does not matter (cases R05, R06).

    Raises:
        EncoderMismatchError: another width or another fingerprint.
    """
    built = manifest.encoder
    if (built.dims, built.fingerprint) != (encoder.dims, encoder.fingerprint):
        raise EncoderMismatchError(
            f"The index in {folder} was built with {built.name} ({built.dims} dims, {_short(built.fingerprint)}), "
            f"the encoder is {encoder.name} ({encoder.dims} dims, {_short(encoder.fingerprint)}). "
            f"Open it with the encoder that built it, or build it again: {how_to_build(folder)}"
        )


def how_to_build(folder: Path) -> str:
    """The command that builds the index of a folder."""
    return f"sufficit index build CORPUS --out {folder}"


def _short(fingerprint: str) -> str:
    """The beginning of the hash and whatever settings follow it: `53aa51172d14:mean:256`."""
    content, colon, settings = fingerprint.partition(":")
    return f"{content[:12]}{colon}{settings}"


def _damaged(path: Path, what: str, folder: Path) -> IndexCorruptError:
    return IndexCorruptError(f"{path} is damaged: {what}. Build the index again: {how_to_build(folder)}")
