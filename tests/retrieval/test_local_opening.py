"""An index opens with its own encoder and whole files only, and checks itself (R05, R06, R09)."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.backbones import find_backbone
from retrieval.errors import (
    BackboneNotFoundError,
    EncoderMismatchError,
    IndexCorruptError,
    IndexFolderError,
    IndexNotFoundError,
    IndexVersionError,
)
from retrieval.index import LocalIndex, TransformerEncoder, index_info
from retrieval.index.layout import INDEX_FILE, vectors_files
from retrieval.index.manifest import MANIFEST, read_manifest
from tests.retrieval.indexes import TEXTS, Changed, made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: TransformerEncoder) -> Path:
    """An index of a few texts in several scripts."""
    return made(tmp_path_factory.mktemp("local"), tiny_encoder, TEXTS.values())


def test_another_width_is_refused_before_any_search(
    folder: Path, make_backbone: Callable[[int, int], Path]
) -> None:
    """R05: names both models and widths and says how to rebuild."""
    wide = TransformerEncoder.named(str(make_backbone(64, 1)))
    with pytest.raises(EncoderMismatchError, match=r"32 dims.*bert-64-1 \(64 dims.*sufficit index build"):
        LocalIndex.open(folder, wide)


def test_another_model_of_that_width_is_refused(folder: Path, make_backbone: Callable[[int, int], Path]) -> None:
    """R06."""
    with pytest.raises(EncoderMismatchError):
        LocalIndex.open(folder, TransformerEncoder.named(str(make_backbone(32, 2))))


def test_the_model_under_another_path_is_accepted(folder: Path, tiny_backbone: Path, tmp_path: Path) -> None:
    """R06: content counts, not place."""
    copy = Path(shutil.copytree(tiny_backbone, tmp_path / "elsewhere"))
    with LocalIndex.open(folder, TransformerEncoder(find_backbone("x", folder=copy))) as index:
        index.warm()
        assert len(index.search("bridge", 2).hits) == 2


def test_the_encoder_is_found_by_the_name_in_the_manifest(
    folder: Path, tiny_backbone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model built from a folder has the folder's name; where that leads nowhere the error says what to pass."""
    monkeypatch.chdir(tiny_backbone.parent)
    with LocalIndex.open(folder) as index:
        assert index.encoder.fingerprint == index_info(folder).manifest.encoder.fingerprint
    monkeypatch.chdir(folder)
    with pytest.raises(BackboneNotFoundError, match="Pass a folder"):
        LocalIndex.open(folder)


def test_a_manifest_cannot_make_us_download_a_model(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file from outside may name only models that this package knows."""

    def download(*_: object, **__: object) -> str:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    fields = json.loads((out / MANIFEST).read_text())
    fields["encoder"]["name"] = "stranger/model"
    (out / MANIFEST).write_text(json.dumps(fields))
    with pytest.raises(BackboneNotFoundError):
        LocalIndex.open(out)


def test_an_encoder_that_changed_is_noticed_when_it_is_warmed(
    folder: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R09: the fingerprint is right, yet the vectors are not those of the index."""

    def wrong(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.roll(tiny_encoder.encode(texts), 1, axis=1)

    index = LocalIndex.open(folder, Changed(tiny_encoder, encode=wrong))
    with pytest.raises(IndexCorruptError, match="no longer makes the vectors"):
        index.warm()


def test_no_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="sufficit index build"):
        LocalIndex.open(tmp_path)


def test_vectors_of_another_index_are_noticed_when_it_is_warmed(
    tmp_path: Path, folder: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R09: a file of the right size under the right name."""
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    other = made(tmp_path, tiny_encoder, [f"The song of {text}" for text in TEXTS.values()])
    shutil.copy(_vectors(other), _vectors(out))
    index = LocalIndex.open(out, tiny_encoder)
    with pytest.raises(IndexCorruptError, match="no longer makes"):
        index.warm()


def _data(folder: Path) -> Path:
    return folder / read_manifest(folder).data


def _vectors(folder: Path) -> Path:
    (file,) = vectors_files(_data(folder))
    return file


def _lose_vectors(folder: Path) -> None:
    _vectors(folder).unlink()


def _cut_vectors(folder: Path) -> None:
    _vectors(folder).write_bytes(_vectors(folder).read_bytes()[:-1])


def _spoil_vectors(folder: Path) -> None:
    content = np.frombuffer(_vectors(folder).read_bytes(), np.float32).copy()
    content[3] = np.nan
    _vectors(folder).write_bytes(content.tobytes())


def _lose_data(folder: Path) -> None:
    shutil.rmtree(_data(folder))


def _lose_database(folder: Path) -> None:
    (_data(folder) / INDEX_FILE).unlink()


def _cut_database(folder: Path) -> None:
    path = _data(folder) / INDEX_FILE
    path.write_bytes(path.read_bytes()[:-4096])


def _replace_database(folder: Path) -> None:
    path = _data(folder) / INDEX_FILE
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE photos (name TEXT)")


def _sql(statement: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        with contextlib.closing(sqlite3.connect(_data(folder) / INDEX_FILE)) as connection:
            connection.execute(statement)
            connection.commit()

    return change


def _old_format(folder: Path) -> None:
    fields = json.loads((folder / MANIFEST).read_text()) | {"format": 1, "files": {}}
    (folder / MANIFEST).write_text(json.dumps(fields))


@pytest.mark.parametrize(
    ("damage", "kind", "message"),
    [
        (_old_format, IndexVersionError, "format 1, this version of sufficit reads format 2"),
        (_lose_data, IndexCorruptError, "data-.* is missing"),
        (_lose_database, IndexNotFoundError, "no index.sqlite"),
        (_cut_database, IndexCorruptError, "index.sqlite is damaged"),
        (_replace_database, IndexCorruptError, "no index file of this kind"),
        (_sql("PRAGMA user_version = 99"), IndexVersionError, "version 99"),
        (_lose_vectors, IndexCorruptError, "vectors of the index are missing"),
        (_cut_vectors, IndexCorruptError, "vectors of 32 dims"),
        (_spoil_vectors, IndexCorruptError, "not finite"),
        (_sql("UPDATE facts SET vectors = '../../secret'"), IndexCorruptError, "names no vectors"),
        (_sql("UPDATE facts SET dims = 31"), IndexCorruptError, "31 dims, expected 32"),
        (_sql("DELETE FROM facts"), IndexCorruptError, "names no vectors"),
        (_sql("UPDATE passages SET text = 'forged'"), IndexCorruptError, "not the one it was"),
        (_sql("DELETE FROM places"), IndexCorruptError, "lacks 8 passages"),
        (_sql("DELETE FROM documents WHERE number = 2"), IndexCorruptError, "8 texts of which 7 are indexed"),
        (_sql("UPDATE state SET next_number = 3"), IndexCorruptError, "beyond its 3 numbers"),
        (_sql("DROP TABLE passages"), IndexCorruptError, "damaged"),
        (_sql("DROP TABLE mentions"), IndexCorruptError, "damaged"),
        (_sql("DELETE FROM topics"), IndexCorruptError, "links lead from a passage of the index but not to it"),
        (_sql("UPDATE links SET topics = x'0102'"), IndexCorruptError, "list of links is cut off"),
    ],
)
def test_each_way_to_be_wrong_has_its_error(  # noqa: PLR0917 - pytest passes them by name
    tmp_path: Path,
    folder: Path,
    tiny_encoder: TransformerEncoder,
    damage: Callable[[Path], None],
    kind: type[IndexFolderError],
    message: str,
) -> None:
    """R09: told when the index opens, by a type, with what was found and that it must be built again."""
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    damage(out)
    with pytest.raises(kind, match=message) as caught:
        LocalIndex.open(out, tiny_encoder)
    assert re.search("uild .*(again|first)|is missing", str(caught.value))
