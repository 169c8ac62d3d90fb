"""A manifest is text from outside: it is right, harmless, or refused with a typed error."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import (
    EncoderMismatchError,
    IndexCorruptError,
    IndexFolderError,
    IndexNotFoundError,
    IndexVersionError,
)
from retrieval.index.encoder import TransformerEncoder
from retrieval.index.manifest import (
    DATA_NAME,
    FORMAT,
    MANIFEST,
    CorpusRecord,
    Counts,
    EncoderRecord,
    Manifest,
    Settings,
    check_encoder,
    read_manifest,
    write_manifest,
)

DATA = "data-0123456789ab"


def manifest_of(folder: Path, *, dims: int = 32, fingerprint: str = "f" * 64, name: str = "small") -> Manifest:
    (folder / DATA).mkdir(exist_ok=True)
    return Manifest(
        format=FORMAT,
        sufficit="0.1.0",
        created="2026-01-02T03:04:05.678901+00:00",
        data=DATA,
        corpus=CorpusRecord(name="corpus.jsonl", sha256="a" * 64),
        encoder=EncoderRecord(name=name, fingerprint=fingerprint, dims=dims),
        settings=Settings(max_words=150, whole_words=400, overlap=1, links=None),
        counts=Counts(documents=3, passages=4, problems={"blank": 1}),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_manifest(tmp_path, manifest_of(tmp_path))
    return tmp_path


def test_it_reads_what_it_wrote(folder: Path) -> None:
    manifest = read_manifest(folder)
    assert manifest == manifest_of(folder)


def test_it_is_replaced_in_one_step(folder: Path) -> None:
    write_manifest(folder, manifest_of(folder, name="other"))
    assert read_manifest(folder).encoder.name == "other"
    assert sorted(path.name for path in folder.iterdir()) == [DATA, MANIFEST]


@settings(max_examples=300)
@given(data=st.data())
def test_any_changed_byte_is_harmless_or_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = _shared(tmp_path_factory)
    whole = (folder / "whole").read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:place] + data.draw(st.binary(max_size=2)) + whole[place + 1 :]
    (folder / MANIFEST).write_bytes(damaged)
    _read_and_use(folder)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("../../etc"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300)
@given(data=st.data())
def test_any_changed_field_is_harmless_or_a_typed_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = _shared(tmp_path_factory)
    fields = json.loads((folder / "whole").read_bytes())
    place: Any = fields
    while True:
        key = data.draw(st.sampled_from([*place, "unknown"]))
        if isinstance(place.get(key), dict) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        change = data.draw(st.sampled_from(["drop", "set"]))
        if change == "drop":
            place.pop(key, None)
        else:
            place[key] = data.draw(JSON)
        break
    (folder / MANIFEST).write_text(json.dumps(fields))
    _read_and_use(folder)


def _shared(factory: pytest.TempPathFactory) -> Path:
    folder = factory.getbasetemp() / "manifest-fuzz"
    if not folder.exists():
        folder.mkdir()
        write_manifest(folder, manifest_of(folder))
        (folder / "whole").write_bytes((folder / MANIFEST).read_bytes())
    return folder


def _read_and_use(folder: Path) -> None:
    """Either a typed error that says what to do, or a data folder that lies inside the folder."""
    try:
        manifest = read_manifest(folder)
    except IndexFolderError as error:
        _says_what_to_do(error)
        return
    assert re.fullmatch(DATA_NAME, manifest.data)
    assert (folder / manifest.data).resolve().parent == folder.resolve()


def _says_what_to_do(error: IndexFolderError) -> None:
    assert "sufficit index build" in str(error)


def test_no_manifest_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError, match="sufficit index build CORPUS --out"):
        read_manifest(tmp_path)
    with pytest.raises(IndexNotFoundError):
        read_manifest(tmp_path / "missing")


@pytest.mark.parametrize("version", [0, FORMAT + 1, 10**30])
def test_another_version_names_both(folder: Path, version: int) -> None:
    fields = json.loads((folder / MANIFEST).read_text()) | {"format": version, "unknown": 1}
    (folder / MANIFEST).write_text(json.dumps(fields))
    with pytest.raises(IndexVersionError, match=f"format {version}.*format {FORMAT}"):
        read_manifest(folder)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"1", b"{}", b'{"format": true}', b"[" * 99_999, b" " * 2_000_000]
)
def test_what_is_no_manifest_is_a_typed_error(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(IndexCorruptError, match=MANIFEST):
        read_manifest(folder)


def test_another_width_names_both_models_and_the_remedy(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """R05."""
    manifest = manifest_of(tmp_path, dims=768, fingerprint="e" * 64 + ":mean:256", name="wide-model")
    with pytest.raises(EncoderMismatchError) as caught:
        check_encoder(tmp_path, manifest, tiny_encoder)
    message = str(caught.value)
    for part in ("wide-model (768 dims, eeeeeeeeeeee:mean:256)", f"{tiny_encoder.name} (32 dims", "--out"):
        assert part in message


def test_the_same_width_of_another_model_is_refused(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """R06."""
    with pytest.raises(EncoderMismatchError):
        check_encoder(tmp_path, manifest_of(tmp_path, dims=32), tiny_encoder)


def test_the_same_content_under_another_name_is_accepted(tmp_path: Path, tiny_encoder: TransformerEncoder) -> None:
    """R06."""
    check_encoder(
        tmp_path, manifest_of(tmp_path, fingerprint=tiny_encoder.fingerprint, name="elsewhere"), tiny_encoder
    )
