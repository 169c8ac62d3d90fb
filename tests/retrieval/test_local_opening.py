"""An index opens with its own encoder and whole files only, and checks itself (R05, R06, R09)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval.backbones import find_backbone
from retrieval.errors import BackboneNotFoundError, EncoderMismatchError, IndexCorruptError, IndexNotFoundError
from retrieval.index import LocalIndex, TransformerEncoder, index_info
from retrieval.index.manifest import MANIFEST
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


def test_parts_that_contradict_each_other_are_refused(
    tmp_path: Path, folder: Path, tiny_encoder: TransformerEncoder
) -> None:
    """R09: files of another index with the right sizes and hashes on paper."""
    out = Path(shutil.copytree(folder, tmp_path / "copy"))
    other = made(tmp_path, tiny_encoder, [f"The song of {text}" for text in TEXTS.values()])
    for name in ("vectors.npy", "ids.npy", "passages.sqlite"):
        copy = Path(shutil.copytree(out, tmp_path / name))
        data = copy / index_info(copy).manifest.data
        shutil.copy(other / index_info(other).manifest.data / name, data / name)
        _forget_files(copy)
        if name == "vectors.npy":
            index = LocalIndex.open(copy, tiny_encoder)
            with pytest.raises(IndexCorruptError, match="no longer makes"):
                index.warm()
            continue
        with pytest.raises(IndexCorruptError, match="another text"):
            LocalIndex.open(copy, tiny_encoder)


def _forget_files(folder: Path) -> None:
    fields = json.loads((folder / MANIFEST).read_text()) | {"files": {}}
    (folder / MANIFEST).write_text(json.dumps(fields))
