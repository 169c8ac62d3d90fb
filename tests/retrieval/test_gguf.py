"""A GGUF file becomes a model folder once, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.backbones import KNOWN, find_backbone
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError
from retrieval.gguf import NEEDED, model_folder

HASH = "a" * 64


def test_it_is_converted_once(tmp_path: Path) -> None:
    """The second call finds the folder of the first; another content has a folder of its own."""
    calls: list[Path] = []

    def convert(file: Path, folder: Path) -> None:
        calls.append(file)
        (folder / "config.json").write_text("{}")

    file = tmp_path / "x.gguf"
    first = model_folder(file, sha256=HASH, cache=tmp_path / "cache", convert=convert)
    assert model_folder(file, sha256=HASH, cache=tmp_path / "cache", convert=convert) == first
    assert model_folder(file, sha256="b" * 64, cache=tmp_path / "cache", convert=convert) != first
    assert calls == [file, file]
    assert (first / "config.json").is_file()


def test_a_failed_conversion_leaves_nothing(tmp_path: Path) -> None:
    """The next call tries again instead of finding half a model."""

    def fails(_: Path, folder: Path) -> None:
        (folder / "half").write_text("x")
        raise BackboneCorruptError("half")

    with pytest.raises(BackboneCorruptError):
        model_folder(tmp_path / "x.gguf", sha256=HASH, cache=tmp_path / "cache", convert=fails)
    assert [path.suffix for path in (tmp_path / "cache").iterdir()] in ([".lock"], [])


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the extra that brings it."""
    monkeypatch.setattr("retrieval.gguf.find_spec", lambda name: None if name in NEEDED else object())
    with pytest.raises(BackboneNotFoundError, match=r"gguf and accelerate.*sufficit\[generation\]"):
        model_folder(tmp_path / "x.gguf", sha256=HASH, cache=tmp_path)


def test_another_file_in_the_package_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything of it is read."""
    known = KNOWN["SmolLM2-135M-Instruct"]
    folder = tmp_path / known.package_folder
    folder.mkdir()
    (folder / str(known.gguf)).write_bytes(b"GGUF and nothing else")

    class Installed:
        def locate_file(self, name: str) -> Path:
            return tmp_path / name

    monkeypatch.setattr("retrieval.backbones.metadata.distribution", lambda _: Installed())
    with pytest.raises(BackboneCorruptError, match=known.gguf_sha256):
        find_backbone("SmolLM2-135M-Instruct", allow_hub=False)
